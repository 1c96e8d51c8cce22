"""Judges: what the operator allows, what is fixed once they have judged, and suggestions from files."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Conflict, Denied, ImportRefused, Invalid, Locked
from annotation.core.figures.measure import FEW_DIFFER
from annotation.core.judging import LATEST
from annotation.models import AuditEvent, Judge, SuggestedLabel, Suggestion
from annotation.policies import OPERATOR
from annotation.providers import Hooks
from annotation.reports.judging.judge_figures import as_json, judge_agreement
from annotation.services import label, suggest
from annotation.services.suggest import SuggestionImport
from annotation.services.suggest.judge_setup import open_provider
from tests import people
from tests.fixtures.judges import URL, Scripted, do, install, make_judge, start
from tests.people import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def judge_keys(settings: Any, judge_urls: None) -> None:
    settings.JUDGE_KEYS = ["OTHER_API_KEY", "OPENAI_KEY"]


def problems(cast: Cast, **values: Any) -> set[str]:
    with pytest.raises(Invalid) as refused:
        make_judge(cast, **values)
    assert all(refused.value.fields.values())
    assert not Judge.objects.exists()
    return set(refused.value.fields)


def test_admins_make_judges_and_nobody_else_does(cast: Cast) -> None:
    for user in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            suggest.create_judge(actor=user, project=cast.project, name="x", kind="baseline")

    judge = suggest.create_judge(
        actor=cast.admin,
        project=cast.project,
        name=" Sage ",
        kind="openai_compatible",
        model="m",
        base_url=f"{URL}/",
        key_name="TRISTEP_JUDGE_KEY_SAGE",
        sampling={"temperature": 0, "max_tokens": 4_000},
        rate_per_minute=60,
    )

    assert (judge.name, judge.base_url, judge.prompt_version) == ("Sage", URL, LATEST)
    assert judge.created_by == cast.admin
    assert AuditEvent.objects.filter(verb="judge.create", actor=cast.admin).count() == 1
    with pytest.raises(Invalid) as taken:
        make_judge(cast)
    assert list(taken.value.fields) == ["name"]


def test_judge_is_asked_at_addresses_of_the_operator_only(cast: Cast, settings: Any) -> None:
    for address in ("http://judge.test:81/v1", "https://judge.test/v1", "http://judge.test@evil/v1", "", "x"):
        assert problems(cast, base_url=address) == {"base_url"}
    judge = make_judge(cast)
    settings.JUDGE_URLS = []
    with pytest.raises(Invalid) as gone:
        open_provider(judge, Hooks())
    assert list(gone.value.fields) == ["base_url"]


@pytest.mark.parametrize(
    "name", ["TRISTEP_SECRET_KEY", "DATABASE_URL", "PATH", "tristep_judge_key_x", "SOME_API_KEY", "A B"]
)
def test_key_cannot_be_named_after_another_variable_of_the_server(
    cast: Cast, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "secret")
    assert problems(cast, key_name=name) == {"key_name"}
    judge = make_judge(cast)
    Judge.objects.update(key_name=name)
    judge.refresh_from_db()
    with pytest.raises(Invalid) as refused:
        open_provider(judge, Hooks())
    assert "secret" not in str(refused.value.fields)


def test_keys_that_the_operator_names_are_read_from_the_environment(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TRISTEP_JUDGE_KEY_A", "OTHER_API_KEY", "OPENAI_KEY"):
        judge = make_judge(cast, name=name, key_name=name)
        with pytest.raises(Invalid):
            open_provider(judge, Hooks())
        monkeypatch.setenv(name, "sk-1")
        provider = open_provider(judge, Hooks())
        assert "sk-1" not in repr(provider)
        provider.close()


def test_judge_has_every_wrong_value_named(cast: Cast) -> None:
    wrong: dict[str, Any] = {
        "model": "",
        "sampling": {"temperature": 9},
        "concurrency": 65,
        "price_input": Decimal(-1),
        "rate_per_minute": 0,
        "timeout_seconds": 0,
        "prompt_version": "v999",
        "structured_output": "xml",
    }
    assert problems(cast, **wrong) == set(wrong) - {"sampling"} | {"temperature"}
    assert problems(cast, sampling={"stop": "x"}) == {"sampling"}
    assert problems(cast, context_tokens=8_192) == {"context_tokens"}
    assert problems(cast, colour="blue") == {"colour"}


def test_value_from_before_a_bound_keeps_nothing_else_from_changing(cast: Cast) -> None:
    judge = make_judge(cast)
    Judge.objects.update(sampling={"seed": -5})
    changed = suggest.update_judge(actor=cast.admin, judge=judge, values={"concurrency": 9})
    assert (changed.concurrency, changed.sampling) == (9, {"seed": -5})
    open_provider(changed, Hooks()).close()
    with pytest.raises(Invalid) as refused:
        suggest.update_judge(actor=cast.admin, judge=judge, values={"sampling": {"seed": -6}})
    assert list(refused.value.fields) == ["seed"]


def test_judge_may_change_until_it_has_judged(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    people.import_records(cast.project, 1)
    judge = make_judge(cast)
    judge = suggest.update_judge(actor=cast.admin, judge=judge, values={"model": "other", "name": "Sage 2"})
    install(monkeypatch, Scripted())
    run = start(judge)
    with pytest.raises(Locked):
        suggest.update_judge(actor=cast.admin, judge=judge, values={"model": "third"})
    do(run)

    for name, value in (("model", "third"), ("sampling", {"seed": 1}), ("with_reference", True)):
        with pytest.raises(Locked):
            suggest.update_judge(actor=cast.admin, judge=judge, values={name: value})
    changed = suggest.update_judge(
        actor=cast.admin, judge=judge, values={"model": "other", "concurrency": 9, "price_input": Decimal(3)}
    )

    assert (changed.model, changed.concurrency, changed.price_input) == ("other", 9, Decimal(3))
    last = AuditEvent.objects.filter(verb="judge.change").latest("pk")
    assert last.detail == {"fields": ["concurrency", "price_input"]}
    with pytest.raises(Denied):
        suggest.update_judge(actor=cast.ann, judge=judge, values={"concurrency": 2})
    with pytest.raises(Invalid):
        suggest.update_judge(actor=OPERATOR, judge=judge, values={"kind": "baseline"})


@pytest.mark.postgres
def test_judge_that_is_retired_keeps_its_suggestions_and_is_asked_no_more(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.import_records(cast.project, 2)
    judge = make_judge(cast)
    install(monkeypatch, Scripted())
    run = start(judge)
    with pytest.raises(Conflict):
        suggest.retire_judge(actor=cast.admin, judge=judge)
    do(run)

    suggest.retire_judge(actor=cast.admin, judge=judge)
    suggest.retire_judge(actor=cast.admin, judge=judge)

    assert Suggestion.objects.filter(judge=judge).count() == 2
    people.import_records(cast.project, [people.make_record(9)], filename="more.jsonl")
    with pytest.raises(Conflict):
        start(judge)
    suggest.restore_judge(actor=cast.admin, judge=judge)
    assert start(judge).progress_total == 1
    assert AuditEvent.objects.filter(verb="judge.retire").count() == 1


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
            assert interval is not None
            if name == "DeepSeek-V3.2":  # of its fifty tasks one makes seven tenths of the variance
                assert interval.reason == FEW_DIFFER
            else:
                assert interval.low is not None and interval.low < kappa < interval.high
        with path.open("rb") as stream:
            again = suggest.import_suggestions(
                actor=OPERATOR, project=project, judge_name=name, stream=stream, filename=path.name
            )
        assert (again.created, again.unchanged) == (0, 250)
        assert json.dumps(as_json(report))
