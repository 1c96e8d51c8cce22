"""Suggestions from a file: all of it or nothing, twice is once, what is missing stays missing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, ImportRefused, Invalid
from annotation.models import AuditEvent, Judge, SuggestedLabel, Suggestion
from annotation.policies import OPERATOR
from annotation.reports.judging.judge_figures import as_json, judge_agreement
from annotation.services import label, suggest
from annotation.services.suggest import SuggestionImport
from tests import people
from tests.people import Cast

pytestmark = pytest.mark.django_db


def line(query: int = 0, labels: Any = None, outcome: Any = 1, **more: Any) -> dict[str, Any]:
    return {
        "record_id": f"tiny:{query}:0",
        "step_labels": {"2": 1, "4": -1} if labels is None else labels,
        "final_label": outcome,
        **more,
    }


def bring(cast: Cast, *lines: dict[str, Any], judge: str = "Sage", **options: Any) -> SuggestionImport:
    options = {"actor": cast.admin, "filename": "sage.jsonl", **options}
    data = b"".join(json.dumps(one).encode() + b"\n" for one in lines)
    return suggest.import_suggestions(
        project=cast.project, judge_name=judge, stream=io.BytesIO(data), **options
    )


def labels_of(judge: Judge) -> dict[tuple[str, int], int | None]:
    rows = SuggestedLabel.objects.filter(suggestion__judge=judge)
    return {
        (row.suggestion.trajectory.record_id, row.step.message_index): row.value
        for row in rows.select_related("suggestion__trajectory", "step")
    }


def refused(cast: Cast, *lines: dict[str, Any], **options: Any) -> list[str]:
    with pytest.raises(ImportRefused) as caught:
        bring(cast, *lines, **options)
    assert not Suggestion.objects.exists()
    return [error["reason"] for error in caught.value.report["errors"]]


def test_file_becomes_the_suggestions_of_a_judge_with_reasons(cast: Cast) -> None:
    people.import_records(cast.project, 2)

    reasons = {"steps": {"2": "fine", "4": "wrong\x00"}, "final": "so so"}
    result = bring(cast, line(0, explanations=reasons, comment="slept well"), line(1, outcome=-1))

    assert (result.created, result.unchanged, result.labels) == (2, 0, 4)
    assert (result.missing, result.invalid, result.extra, result.failed) == (0, 0, 0, 0)
    judge = Judge.objects.get()
    assert (judge.name, judge.kind, judge.created_by) == ("Sage", "imported", cast.admin)
    first = Suggestion.objects.get(trajectory__record_id="tiny:0:0")
    assert (first.outcome, first.reason, first.comment, first.source) == (
        1,
        "so so",
        "slept well",
        "sage.jsonl",
    )
    assert [row.reason for row in first.labels.order_by("step__message_index")] == ["fine", "wrong\ufdd00000"]
    assert set(AuditEvent.objects.values_list("verb", flat=True)) >= {"judge.create", "suggestions.import"}


def test_file_that_is_the_same_again_changes_nothing(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    bring(cast, line(0), line(1, labels={"2": None, "4": 0}))
    before = set(Suggestion.objects.values_list("pk", "created_at"))

    again = bring(cast, line(0), line(1, labels={"2": None, "4": 0}))

    assert (again.created, again.unchanged, again.labels, again.missing) == (0, 2, 0, 1)
    assert set(Suggestion.objects.values_list("pk", "created_at")) == before


def test_label_that_is_missing_or_none_stays_missing_and_is_counted(cast: Cast) -> None:
    people.import_records(cast.project, 3)

    result = bring(
        cast,
        line(0, labels={"2": None, "4": "1"}),
        line(1, labels={"2": 1, "3": 1, "5": -1}),
        line(2, labels={"2": None, "4": None}, outcome=0, comment="llm_annotate_failed: no JSON"),
    )

    assert labels_of(result.judge) == {("tiny:1:0", 2): 1}
    assert (result.missing, result.invalid, result.extra, result.failed) == (4, 1, 2, 1)
    rows = Suggestion.objects.order_by("trajectory__record_id")
    assert [(row.missing, row.invalid, row.extra) for row in rows] == [(1, 1, 0), (1, 0, 2), (2, 0, 0)]
    failed = rows[2]
    assert (failed.outcome, failed.comment) == (None, "llm_annotate_failed: no JSON")


@pytest.mark.postgres
def test_line_that_is_the_newest_of_a_record_counts(cast: Cast) -> None:
    people.import_records(cast.project, 1)

    result = bring(
        cast,
        line(0, labels={"2": 1, "4": 1}, updated_at="2026-02-05T02:15:21+00:00"),
        line(0, labels={"2": -1, "4": 0}, updated_at="2026-02-06T02:15:21+00:00"),
        line(0, labels={"2": 1, "4": 1}, updated_at="2026-02-05T23:15:21+00:00"),
    )

    assert labels_of(result.judge) == {("tiny:0:0", 2): -1, ("tiny:0:0", 4): 0}


def test_records_that_are_not_here_are_named_and_nothing_is_stored(cast: Cast) -> None:
    people.import_records(cast.project, 1)

    reasons = refused(cast, line(0), line(7), {"record_id": "x", "step_labels": {}})

    assert reasons == ["is missing from the line of x", '"tiny:7:0" is not in this project']
    assert not Judge.objects.exists()
    assert refused(cast) == ["the file is empty"]


def test_record_of_several_subsets_needs_the_subset_named(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    people.import_records(cast.project, 1, subset="other")

    assert refused(cast, line(0)) == ['"tiny:0:0" is in several subsets: name one']
    result = bring(cast, line(0), subset="other")
    assert Suggestion.objects.get(judge=result.judge).trajectory.subset.name == "other"
    with pytest.raises(Invalid) as unknown:
        bring(cast, line(0), subset="nowhere")
    assert list(unknown.value.fields) == ["subset"]


def test_judge_does_not_change_its_mind_by_a_second_file(cast: Cast) -> None:
    people.import_records(cast.project, 2)
    bring(cast, line(0))

    with pytest.raises(ImportRefused) as caught:
        bring(cast, line(1), line(0, labels={"2": 0, "4": -1}))

    assert "has another suggestion of Sage already" in caught.value.report["errors"][0]["reason"]
    assert Suggestion.objects.count() == 1


def test_import_is_for_admins_only_and_for_an_imported_judge(cast: Cast) -> None:
    people.import_records(cast.project, 1)
    for user in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            bring(cast, line(0), actor=user)
    suggest.create_judge(actor=cast.admin, project=cast.project, name="Trained", kind="baseline")
    with pytest.raises(Conflict):
        bring(cast, line(0), judge="Trained")
    with pytest.raises(Invalid):
        bring(cast, line(0), judge="  ")


@pytest.mark.once
@pytest.mark.published
def test_judges_that_are_published_agree_with_people_as_they_should(published: Path) -> None:
    project = people.make_project("apb", annotators_per_trajectory=1)
    folder = published / "agentprocessbench"
    human = (folder / "hotpotqa.jsonl").read_bytes()
    people.import_file(project, human, subset="hotpotqa", filename="hotpotqa.jsonl")
    label.import_labels(
        actor=OPERATOR,
        project=project,
        annotator="human",
        stream=io.BytesIO(human),
        filename="hotpotqa.jsonl",
    )
    # model: hits, first errors, strictly, κ, quadratic κ, failed; worked out from the published files
    expected = {
        "GPT-5.2": (529, 174, 174, 0.4340, 0.5885, 0),
        "DeepSeek-V3.2": (546, 163, 163, 0.4472, 0.5227, 0),
        "Llama-3.2-3B-Instruct": (325, 146, 144, 0.0622, 0.0390, 4),
    }
    for name, (hits, first, strict, kappa, quadratic, failed) in expected.items():
        path = next((folder / "predictions" / name).glob("*.jsonl"))
        with path.open("rb") as stream:
            result = suggest.import_suggestions(
                actor=OPERATOR, project=project, judge_name=name, stream=stream, filename=path.name
            )
        assert (result.created, result.failed) == (250, failed)
        report = judge_agreement(viewer=OPERATOR, judge=result.judge)
        for part in (report.consensus[0], report.consensus[1], report.blind[0]):
            found = part.steps
            value = {name: measure.value for name, measure in found.figures.items()}
            assert (found.steps, found.trajectories) == (734, 250)
            assert value["step_accuracy"] == pytest.approx(hits / 734)
            assert value["first_error_accuracy"] == pytest.approx(first / 250)
            assert value["strict_first_error_accuracy"] == pytest.approx(strict / 250)
            assert (value["kappa"], value["quadratic_kappa"]) == (
                pytest.approx(kappa, abs=1e-4),
                pytest.approx(quadratic, abs=1e-4),
            )
            interval = found.figures["kappa"].interval
            assert interval is not None and interval.low is not None and interval.low < kappa < interval.high
        with path.open("rb") as stream:
            again = suggest.import_suggestions(
                actor=OPERATOR, project=project, judge_name=name, stream=stream, filename=path.name
            )
        assert (again.created, again.unchanged) == (0, 250)
        assert json.dumps(as_json(report))
