"""Labels from files are stored as if everybody had submitted them one by one."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from annotation.core.errors import Denied, ImportRefused, Invalid, StaleState
from annotation.core.vocabulary import AssignmentState, ExposureKind, ImportState
from annotation.models import (
    Assignment,
    AuditEvent,
    Consensus,
    Dispute,
    ImportFile,
    Label,
    OutcomeConsensus,
    OutcomeLabel,
    PairedLabels,
    Project,
    Trajectory,
    User,
)
from annotation.policies import OPERATOR
from annotation.services import assign, claim_expiry, exposures, ingest, label, pairing, projects
from annotation.services.label import import_file, import_rows, uploads
from tests import people
from tests.people import Cast
from tests.services.long_writes import import_labels, lines

OF_TRAJECTORY = ("value", "kind", "reason", "note", "resolved_by")
OF_LABEL = ("value", "unsure", "flagged", "note", "reason", "version", "blind_value", "exposed_at")
COMPARED: Mapping[type[Model], tuple[str, ...]] = {
    Trajectory: ("record_id", "state", "free_slots", "agreement"),
    Assignment: (
        *("trajectory__record_id", "annotator__username", "slot", "recheck", "state", "guideline_version"),
        *("claim_key", "return_reason", "expiry_reason", "needs_discussion", "broken"),
    ),
    Label: (
        *("assignment__trajectory__record_id", "assignment__annotator__username", "step__message_index"),
        *("source", "root__message_index", "root_pinned", "closes", *OF_LABEL),
    ),
    OutcomeLabel: ("assignment__trajectory__record_id", "assignment__annotator__username", *OF_LABEL),
    PairedLabels: (
        *("trajectory__record_id", "first__username", "second__username", "first_guideline"),
        *("second_guideline", "policy_model", "task__key", "subset__name", "week", "n", "outcome", "steps"),
    ),
    Dispute: (
        *("trajectory__record_id", "subset__name", "disputed_steps", "sign_flips", "neutral_boundaries"),
        *("first_error", "outcome"),
    ),
    Consensus: ("trajectory__record_id", "step__message_index", "root__message_index", *OF_TRAJECTORY),
    OutcomeConsensus: ("trajectory__record_id", *OF_TRAJECTORY),
}
LABELLED = [f"tiny:{query}:0" for query in range(5)]
Labels = dict[str, tuple[list[int], int]]
"""A person's labels of each record: of its steps, and of the outcome."""


def rows_of(project: Project) -> dict[str, list[tuple[Any, ...]]]:
    """All rows that labels have made in a project, told apart by names instead of numbers."""
    found = {}
    for model, columns in COMPARED.items():
        path = "" if "project" in {field.name for field in model._meta.fields} else columns[0].split("__")[0]
        if model in (Label, OutcomeLabel):
            path = "assignment"
        rows = model._base_manager.filter(**{f"{path}__project".removeprefix("__"): project})
        plain = (tuple(map(_plain, row)) for row in rows.values_list(*columns))
        found[model.__name__] = sorted(plain, key=repr)
    return found


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


def labels_of(seed: int) -> Labels:
    """One person's labels of all records. All agree on the steps of 1 to 3, and in 3 on an error and its
    consequence; not on the outcome of 2."""
    chance = random.Random(seed)
    made = {
        name: (chance.choices((1, 0, -1), (6, 1, 2), k=steps_of(name)), chance.choice((1, 1, -1)))
        for name in LABELLED
    }
    made[LABELLED[1]] = ([1, 1], 1)
    made[LABELLED[2]] = ([1, 1, 1], 1 if seed % 2 else -1)
    made[LABELLED[3]] = ([1, -1, -1, 0], -1)
    return made


def steps_of(name: str) -> int:
    """The number of steps of a record."""
    return int(name.split(":")[1]) % 4 + 1


def prepared(slug: str, cast: Cast, wanted: int) -> Project:
    """A project with a half-labelled first trajectory, and a sibling of the last of which ann has seen
    something."""
    project = people.make_project(slug, annotators_per_trajectory=wanted)
    for user in (cast.ann, cast.ben, cast.cleo):
        people.make_member(project, user, "annotator")
    records = [people.make_record(query, steps=steps_of(name)) for query, name in enumerate(LABELLED)]
    rows = people.import_records(project, [*records, people.make_record(4, 1)])
    one_by_one(cast.cleo, project, {LABELLED[0]: labels_of(3)[LABELLED[0]]})
    exposures.expose(user=cast.ann, trajectory=rows[-1], kind=ExposureKind.SUGGESTION)
    return project


def one_by_one(user: User, project: Project, labels: Labels) -> None:
    """Claim, label and submit each trajectory as people do."""
    for name, (values, outcome) in labels.items():
        row = Trajectory.objects.get(project=project, record_id=name)
        assignment = assign.claim_this(actor=user, trajectory=row)
        people.label_all(assignment, values, outcome=outcome)
        label.submit(actor=user, assignment=assignment)


def from_file(user: User, project: Project, labels: Labels) -> label.LabelImport:
    """The same from a file."""
    file = "".join(
        json.dumps({"record_id": name, "step_labels": by_index(values), "final_label": outcome}) + "\n"
        for name, (values, outcome) in labels.items()
    )
    return label.import_labels(
        actor=OPERATOR,
        project=project,
        annotator=user.username,
        stream=io.BytesIO(file.encode()),
        filename="labels.jsonl",
    )


def by_index(values: Sequence[int]) -> dict[str, int]:
    """The labels of a record's steps, which stand at 2, 4, 6 …"""
    return {str(2 * (place + 1)): value for place, value in enumerate(values)}


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table but the audit log."""
    return {
        model.__name__: list(model._base_manager.order_by("pk").values_list())
        for model in apps.get_app_config("annotation").get_models()
        if model is not AuditEvent
    }


@pytest.mark.parametrize("wanted", [2, 3])
def test_import_labels_makes_the_rows_that_submitting_one_by_one_makes(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, wanted: int
) -> None:
    monkeypatch.setattr(import_rows, "MOST_AT_ONCE", 12)
    by_file, by_hand = (prepared(slug, cast, wanted) for slug in ("file", "hand"))
    ann, ben = labels_of(1), labels_of(2)
    # with two annotators the first trajectory is ann's and cleo's
    turns = [(cast.ann, ann), (cast.ben, ben if wanted == 3 else {name: ben[name] for name in LABELLED[1:]})]
    if wanted == 3:
        turns.append((cast.cleo, labels_of(3)))

    imported = [from_file(user, by_file, labels) for user, labels in turns]
    for user, labels in turns:
        mine = {name: said for name, said in labels.items() if user != cast.cleo or name != LABELLED[0]}
        one_by_one(user, by_hand, mine)

    assert [one.created for one in imported] == ([5, 5, 4] if wanted == 3 else [5, 4])
    assert [one.unchanged for one in imported] == ([0, 0, 1] if wanted == 3 else [0, 0])
    found, expected = rows_of(by_file), rows_of(by_hand)
    for table, rows in expected.items():
        assert found[table] == rows, table
        assert rows, table
    settled = Trajectory.objects.filter(project=by_file).exclude(state="labelling")
    assert {"unanimous", "disputed"} == set(settled.values_list("state", flat=True))
    assert Dispute.objects.filter(project=by_file, disputed_steps=0).exists()
    assert Consensus.objects.filter(trajectory__project=by_file, root__isnull=False).count() > 1
    assert not [row.pk for row in settled if pairing.differing(row.pk)]
    before = everything()
    again = [from_file(user, by_file, labels) for user, labels in turns]
    assert {one.created + one.labels for one in again} == {0}
    assert everything() == before


def test_import_labels_takes_as_many_statements_for_many_as_for_a_few(cast: Cast) -> None:
    people.import_records(cast.project, 34)
    everybody = {f"tiny:{query}:0": ([1, -1], -1) for query in range(34)}
    few, many = dict(list(everybody.items())[:6]), dict(list(everybody.items())[6:])
    counts = []
    for labels in (few, many):
        for user in (cast.ann, cast.ben):
            with CaptureQueriesContext(connection) as asked:
                from_file(user, cast.project, labels)
            counts.append(len(asked))

    assert counts[2] <= counts[0] and counts[3] <= counts[1], counts


@pytest.mark.postgres
@pytest.mark.parametrize("way", ["removed", "closed"])
def test_import_labels_is_not_cut_in_two_when_its_annotator_leaves_meanwhile(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    rows = people.import_records(cast.project, 3)
    submit_all = import_file.submit_all

    def meanwhile(opened: Sequence[Any], beat: Any) -> None:
        human = User.objects.get(username="humans")
        if way == "removed":
            people.leave(cast.project, human)
        else:
            User.objects.filter(pk=human.pk).update(is_active=False)
            claim_expiry.sweep()
        submit_all(opened, beat=beat)

    monkeypatch.setattr(import_file, "submit_all", meanwhile)
    assert import_labels(cast, rows).created == 3
    assert set(Assignment.objects.values_list("state", flat=True)) == {"submitted"}


# ── Received, looked at, imported in the background ──
def received(cast: Cast, data: bytes, **whose: str) -> ImportFile:
    return label.receive_labels(
        actor=cast.admin, project=cast.project, filename="labels.jsonl", chunks=[data], enqueue=False, **whose
    )


@pytest.mark.postgres
def test_import_labels_is_looked_at_first_and_stores_nothing_until_it_is_started(cast: Cast) -> None:
    rows = people.import_records(cast.project, people.make_records(3, steps=2))
    source = received(cast, lines(rows).read(), annotator="ann")
    preview = label.look_at_labels(actor=cast.admin, source=source)
    assert (preview.records, preview.steps, preview.whole, preview.errors) == (3, 6, True, [])
    assert not Assignment.objects.exists()
    ingest.start(actor=cast.admin, source=source)
    done = label.run_import(source_id=source.pk)
    assert (done.state, done.created_count, done.step_count) == (ImportState.PUBLISHED, 3, 6)
    mine = Assignment.objects.filter(annotator=cast.ann, imported=True, state=AssignmentState.SUBMITTED)
    assert mine.count() == 3


def test_import_labels_of_somebody_new_makes_one_account_that_nobody_can_sign_in_to(cast: Cast) -> None:
    rows = people.import_records(cast.project, people.make_records(4, steps=2))
    for part in (rows[:2], rows[2:]):
        label.run_import(source_id=received(cast, lines(part).read(), name=" Ann  the first ").pk)
    (user,) = User.objects.filter(display_name="Ann the first")
    assert not user.has_usable_password() and user.username == "ann-the-first-imported"
    assert user.assignments.filter(state=AssignmentState.SUBMITTED).count() == 4


def test_import_labels_with_an_error_is_refused_by_line_and_leaves_nothing(cast: Cast) -> None:
    rows = people.import_records(cast.project, people.make_records(2, steps=2))
    bad = lines(rows).read() + b'{"record_id": "nowhere", "step_labels": {"2": 1}, "final_label": 1}\n'
    source, users = received(cast, bad, name="Somebody"), User.objects.count()
    (error,) = label.look_at_labels(actor=cast.admin, source=source).errors
    assert (error.line, error.reason) == (3, '"nowhere" is not in this project')
    with pytest.raises(ImportRefused):
        label.run_import(source_id=source.pk)
    source.refresh_from_db()
    assert (source.state, source.error_count, source.errors[0]["line"]) == (ImportState.FAILED, 1, 3)
    assert not Assignment.objects.exists() and User.objects.count() == users


@pytest.mark.parametrize(
    ("whose", "field"),
    [
        ({"annotator": "oscar"}, "annotator"),
        ({"annotator": "nobody"}, "annotator"),
        ({}, "name"),
        ({"name": "\x00"}, "name"),
        ({"name": "x", "subset": "none"}, "subset"),
    ],
)
def test_import_labels_is_refused_for_whoever_does_not_annotate_here(
    cast: Cast, whose: dict[str, str], field: str
) -> None:
    elsewhere = projects.create_project(actor=cast.root, name="Elsewhere")
    people.make_member(elsewhere, cast.oscar, "annotator")
    with pytest.raises(Invalid) as refusal:
        received(cast, b"{}", **whose)
    assert list(refusal.value.fields) == [field]
    with pytest.raises(Denied):
        label.receive_labels(actor=cast.ann, project=cast.project, filename="x", chunks=[b"{}"], name="x")
    assert not ImportFile.objects.exists()


def test_import_labels_that_is_stopped_before_submitting_leaves_nothing(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = people.import_records(cast.project, people.make_records(2, steps=2))
    source = received(cast, lines(rows).read(), annotator="ann")
    monkeypatch.setattr(uploads, "HEARTBEAT_SECONDS", 0)
    monkeypatch.setattr(uploads, "annotator_of", lambda row: abandoned(cast, row))
    with pytest.raises(StaleState):
        label.run_import(source_id=source.pk)
    source.refresh_from_db()
    assert source.state == ImportState.ABANDONED and not Assignment.objects.exists()


def abandoned(cast: Cast, row: ImportFile) -> User:
    """What an admin does while the worker begins."""
    ingest.abandon(actor=cast.admin, source=row)
    return cast.ann
