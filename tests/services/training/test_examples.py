"""The training examples in a project: keyed, in nobody's queue, in nothing that is counted or released."""

from __future__ import annotations

import json

import pytest

from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.kinds import DECISIONS
from annotation.models import ImportFile, KeyLabel, Subset, Trajectory
from annotation.policies import OPERATOR, visible
from annotation.reports.agreement import report
from annotation.reports.work import progress
from annotation.services import ingest, projects, release
from annotation.services.ingest.examples import example_lines
from tests import people
from tests.people import Cast


def add(cast: Cast, language: str = "") -> ImportFile:
    source = ingest.add_examples(actor=cast.admin, project=cast.project, language=language, enqueue=False)
    return ingest.run_import(source_id=source.pk)


Keys = dict[str, dict[str, tuple[int, str, str]]]
"""Record → message index or "final" → label, note and code of the reason."""


def keys() -> Keys:
    """What is stored."""
    found: Keys = {}
    columns = ("trajectory__record_id", "step__message_index", "value", "note", "reason")
    for record, index, *label in KeyLabel.objects.values_list(*columns):
        found.setdefault(record, {})["final" if index is None else str(index)] = tuple(label)
    return found


def meant(language: str) -> Keys:
    """The same, as the files have it."""
    said = {}
    for one in map(json.loads, example_lines(language)):
        texts = {**one["explanations"]["steps"], "final": one["explanations"]["final"]}
        labels = {**one["step_labels"], "final": one["final_label"]}
        record = f"{one['data_source']}:{one['query_index']}:{one['sample_index']}"
        reasons = one["step_reasons"]
        said[record] = {
            index: (value, texts[index], reasons.get(index, "")) for index, value in labels.items()
        }
    return said


@pytest.mark.postgres
def test_examples_come_once_with_their_keys_in_the_language_asked_for(cast: Cast) -> None:
    source = add(cast, "zh-CN")
    rows = Trajectory.objects.filter(project=cast.project)
    assert (source.state, source.created_count) == ("published", 12)
    assert set(rows.values_list("live", "training", "subset__name")) == {(False, True, "training")}
    assert keys() == meant("zh-hans")

    again = add(cast, "en")
    assert (again.created_count, again.unchanged_count, rows.count()) == (0, 12, 12)
    assert keys() == meant("zh-hans")


def test_examples_are_explained_in_the_language_of_who_asks(cast: Cast) -> None:
    cast.admin.language = "zh-hans"
    add(cast)
    assert keys() == meant("zh-hans")


def test_examples_are_in_no_queue_figure_or_release(resolved: Cast) -> None:
    def figures() -> bytes:
        found = report.as_json(report.agreement(viewer=OPERATOR, project=resolved.project))
        counts = progress.progress(actor=OPERATOR, project=resolved.project).all.by_state
        return canonical_json([found, counts])

    before = figures()
    digest = release.freeze(actor=resolved.admin, project=resolved.project, version="1.0").digest
    add(resolved)
    assert figures() == before
    assert release.freeze(actor=resolved.admin, project=resolved.project, version="1.1").digest == digest
    assert not visible(resolved.ann, Trajectory.objects.filter(training=True)).exists()
    people.claim(resolved.cleo, resolved.project)
    with pytest.raises(Conflict, match="nothing"):
        people.claim(resolved.cleo, resolved.project)


def test_examples_leave_a_subset_of_that_name_alone_that_is_labelled(cast: Cast) -> None:
    people.import_records(cast.project, 1, subset="training")
    with pytest.raises(Conflict, match="there to be labelled"):
        add(cast)
    assert Trajectory.objects.get().live and not Subset.objects.get().training


def test_examples_are_for_admins_of_projects_of_steps(cast: Cast) -> None:
    with pytest.raises(Denied):
        ingest.add_examples(actor=cast.ann, project=cast.project)
    other = projects.create_project(actor=cast.root, name="Other", kind=DECISIONS.name)
    with pytest.raises(Invalid):
        ingest.add_examples(actor=cast.root, project=other)
    assert not Subset.objects.exists()


def test_project_begins_with_examples_only_where_they_are_asked_for(cast: Cast) -> None:
    projects.start_project(actor=cast.root, name="Without", settings={})
    assert not ImportFile.objects.exists()
    project, _none = ingest.start_with_examples(actor=cast.root, name="With", settings={})
    assert ImportFile.objects.get().project == project
