"""Predictions of a frozen release: all of a file or nothing, twice is once, and the release never changes."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, ImportRefused, Invalid
from annotation.core.scoring import MISSING
from annotation.models import AuditEvent, PredictionReasons, PredictionSet, Release, ReleaseOutline
from annotation.policies import OPERATOR
from annotation.reports.evaluation.best_of_n import selections
from annotation.reports.evaluation.leaderboard import as_json as leaderboard_json
from annotation.reports.evaluation.leaderboard import leaderboard
from annotation.reports.shared.release_labels import predictions, released_labels
from annotation.services import evaluate
from annotation.services import release as releases
from annotation.services.evaluate import PredictionSetDetails, PredictionSource, import_file
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.predicting import bring, content, line
from tests.services.publishing import freeze, tampered


@shared_rows
def frozen(resolved: Cast) -> Release:
    """A release of three trajectories: +1, 0, −1 and outcome −1 twice; 0, 0, 0 and outcome 0."""
    return freeze(resolved.project)


def refused(cast: Cast, made: Release, data: bytes | tuple[dict[str, Any], ...], **options: Any) -> list[str]:
    """The reasons for refusing a file, "line: field: reason"; nothing of it is there afterwards."""
    before = list(PredictionSet.objects.values_list("pk", "updated_at"))
    raw = data if isinstance(data, bytes) else content(*data)
    with pytest.raises(ImportRefused) as caught:
        evaluate.import_predictions(
            actor=cast.admin, release=made, model="Sage", stream=io.BytesIO(raw), filename="f", **options
        )
    assert list(PredictionSet.objects.values_list("pk", "updated_at")) == before
    assert caught.value.report["count"] == len(caught.value.report["errors"])
    return [f"{one['line']}: {one['field']}: {one['reason']}" for one in caught.value.report["errors"]]


def test_predictions_are_stored_in_the_order_of_the_release_with_their_reasons(
    resolved: Cast, frozen: Release
) -> None:
    explained = {"steps": {"2": "fine", "5": "no step"}, "final": "so so\x00"}
    result = bring(
        resolved,
        frozen,
        line(1, {"2": 1, "4": None, "6": 2}, None, explanations=explained, comment="slept well"),
        line(0),
        about=PredictionSetDetails("v2", None, Decimal("1.5")),
    )

    assert (result.created, result.unchanged, result.missing, result.invalid) == (2, 0, 2, 1)
    row = PredictionSet.objects.get()
    assert (row.model, row.record_count, row.prompt_version) == ("Sage", 2, "v2")
    assert (row.cost, row.created_by) == (Decimal("1.5"), resolved.admin)
    released = released_labels(frozen)
    assert ReleaseOutline.objects.get().release == frozen
    (said,) = predictions(released, [row])
    place = {record_id: at for at, record_id in enumerate(released.record_id)}
    steps = {place["tiny:0:0"]: [1, 0, -1], place["tiny:1:0"]: [1, MISSING, MISSING]}
    for at, labels in steps.items():
        assert said.steps[released.record == at].tolist() == labels
    assert said.there.tolist() == [True, True, False]
    assert said.outcome[place["tiny:1:0"]] == MISSING
    assert AuditEvent.objects.get(verb="predictions.import").detail == {
        "release": "1.0",
        "model": "Sage",
        "created": 2,
    }


def test_predictions_again_change_nothing(resolved: Cast, frozen: Release) -> None:
    lines = (line(0, comment="one"), line(1, explanations={"steps": {"2": "why"}}))
    bring(resolved, frozen, *lines, about=PredictionSetDetails("v1"))
    before = list(PredictionSet.objects.values()), list(PredictionReasons.objects.values())

    result = bring(resolved, frozen, *lines, about=PredictionSetDetails("v1"))

    assert (result.created, result.unchanged) == (0, 2)
    assert (list(PredictionSet.objects.values()), list(PredictionReasons.objects.values())) == before
    assert AuditEvent.objects.filter(verb="predictions.import").count() == 1


@pytest.mark.postgres
def test_predictions_of_other_records_extend_the_set(resolved: Cast, frozen: Release) -> None:
    bring(resolved, frozen, line(0, comment="first"))
    result = bring(resolved, frozen, line(0, comment="first"), line(2, {"2": 0, "4": 0, "6": 0}, 0))

    assert (result.created, result.unchanged) == (1, 1)
    row = PredictionSet.objects.get()
    (said,) = predictions(released_labels(frozen), [row])
    assert row.record_count == 2 and said.there.sum() == 2


@pytest.mark.parametrize("other", [{"labels": {"2": 0}}, {"outcome": 0}, {"comment": "b"}])
def test_predictions_that_say_something_else_are_refused_by_name(
    resolved: Cast, frozen: Release, other: dict[str, Any]
) -> None:
    bring(resolved, frozen, line(0, comment="a"))
    (why,) = refused(resolved, frozen, (line(1), line(0, **{"comment": "a", **other})))
    assert why == '2: record_id: "tiny:0:0" has another prediction of "Sage" already'


def test_predictions_of_what_is_not_there_are_refused_line_by_line(resolved: Cast, frozen: Release) -> None:
    found = refused(
        resolved,
        frozen,
        (line(0), line(1, {"2": 1, "3": 1, "x": 0, "4": 1, "6": 1}), {"record_id": "tiny:2:0"}),
    )
    assert found == [
        '2: step_labels."x": is not a message index (of record "tiny:1:0")',
        '2: step_labels.3: is not a step: that message is not the assistant’s (of record "tiny:1:0")',
        "3: step_labels: is missing from the line of tiny:2:0",
    ]


def test_predictions_of_records_that_the_release_lacks_are_left_out_and_counted(
    resolved: Cast, frozen: Release
) -> None:
    elsewhere = '{}: record_id: "tiny:7:0" is not in this release'
    result = bring(resolved, frozen, line(0), line(7))
    assert (result.created, result.elsewhere) == (1, 1)
    assert refused(resolved, frozen, (line(0), line(7)), strict=True) == [elsewhere.format(2)]
    assert refused(resolved, frozen, (line(7),)) == [elsewhere.format(1)]


@pytest.mark.parametrize("data", [b"", b"\n\n"])
def test_predictions_need_a_line(resolved: Cast, frozen: Release, data: bytes) -> None:
    assert len(refused(resolved, frozen, data)) == 1


def test_predictions_that_failed_are_counted_and_are_no_outcome(resolved: Cast, frozen: Release) -> None:
    failed = line(0, {"2": None, "4": None, "6": None}, 0, comment="llm_annotate_failed: 500")
    result = bring(resolved, frozen, line(0), failed)
    assert (result.failed, result.missing, result.superseded) == (1, 3, 1)
    (said,) = predictions(released_labels(frozen), [PredictionSet.objects.get()])
    assert said.failed.sum() == 1 and (said.outcome == MISSING).all()


def test_predictions_are_looked_for_in_the_named_subset(resolved: Cast, frozen: Release) -> None:
    assert bring(resolved, frozen, line(0), subset="tiny").created == 1
    with pytest.raises(Invalid) as refusal:
        bring(resolved, frozen, line(1), subset="other")
    assert set(refusal.value.fields) == {"subset"}


@pytest.mark.parametrize(
    ("model", "about", "field"),
    [
        (" ", PredictionSetDetails(), "model"),
        ("x" * 121, PredictionSetDetails(), "model"),
        ("Sage", PredictionSetDetails("x" * 81), "prompt_version"),
        ("Sage", PredictionSetDetails(cost=Decimal("-1")), "cost"),
        ("Sage", PredictionSetDetails(cost=Decimal("NaN")), "cost"),
    ],
)
def test_predictions_need_a_name_and_a_cost_that_can_be(
    resolved: Cast, frozen: Release, model: str, about: PredictionSetDetails, field: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        bring(resolved, frozen, line(0), model=model, about=about)
    assert set(refusal.value.fields) == {field} and not PredictionSet.objects.exists()


def sources(**files: bytes) -> Iterator[PredictionSource]:
    """Files by the names of their models."""
    return (PredictionSource(name, f"{name}.jsonl", io.BytesIO(data)) for name, data in files.items())


def test_prediction_files_before_one_that_is_refused_are_stored_and_it_and_the_rest_are_not(
    resolved: Cast, frozen: Release
) -> None:
    good, bad = content(line(0), line(1)), content(line(0), line(1, {"2": 1, "3": 1}))
    several = sources(Calm=good, Terse=good, Bold=bad, Late=good)
    imported = evaluate.import_prediction_files(actor=resolved.admin, release=frozen, sources=several)
    told = []
    with pytest.raises(ImportRefused, match=r"Bold\.jsonl was refused, nothing was imported: 1 error"):
        for one in imported:
            told.append((one.prediction_set.model, one.created))
    assert told == [("Calm", 2), ("Terse", 2)]
    assert list(PredictionSet.objects.values_list("model", "record_count")) == told


def test_prediction_files_of_one_model_extend_its_set_one_after_the_other(
    resolved: Cast, frozen: Release
) -> None:
    parts = [content(line(0)), content(line(0), line(1)), content(line(1, {"2": 0}), line(2))]
    imported = evaluate.import_prediction_files(
        actor=resolved.admin,
        release=frozen,
        sources=[PredictionSource("Sage", "part.jsonl", io.BytesIO(part)) for part in parts],
    )
    first, second = next(imported), next(imported)
    assert [(one.created, one.unchanged) for one in (first, second)] == [(1, 0), (1, 1)]
    with pytest.raises(ImportRefused):
        next(imported)
    assert PredictionSet.objects.get().record_count == 2


@pytest.mark.postgres
def test_predictions_that_somebody_else_changes_meanwhile_are_refused(
    resolved: Cast, frozen: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(resolved, frozen, line(0))
    prepare = import_file._chunks

    def meanwhile(*given: Any) -> Any:
        PredictionSet.objects.update(updated_at=timezone.now())
        return prepare(*given)

    monkeypatch.setattr(import_file, "_chunks", meanwhile)
    several = sources(Calm=content(line(1)), Sage=content(line(1)), Late=content(line(1)))
    imported = evaluate.import_prediction_files(actor=resolved.admin, release=frozen, sources=several)
    assert next(imported).prediction_set.model == "Calm"
    with pytest.raises(Conflict) as refusal:
        next(imported)
    assert refusal.value.code == "overtaken"
    assert dict(PredictionSet.objects.values_list("model", "record_count")) == {"Calm": 1, "Sage": 1}


@pytest.mark.postgres
def test_deleted_predictions_are_gone_with_their_reasons(resolved: Cast, frozen: Release) -> None:
    row = bring(resolved, frozen, line(0, comment="why")).prediction_set
    evaluate.delete_predictions(actor=resolved.admin, prediction_set=row)
    assert not PredictionSet.objects.exists() and not PredictionReasons.objects.exists()
    assert AuditEvent.objects.get(verb="predictions.delete").detail["model"] == "Sage"
    assert bring(resolved, frozen, line(0, {"2": 0})).created == 1


def test_release_stays_as_it_is_when_somebody_scores_on_it(resolved: Cast, frozen: Release) -> None:
    before = frozen.manifest
    bring(resolved, frozen, line(0))
    leaderboard(actor=resolved.judith, release=frozen)
    frozen.refresh_from_db()
    assert frozen.manifest == before
    assert releases.verify(actor=OPERATOR, release=frozen).ok


def test_leaderboard_holds_models_and_baselines_with_what_each_is_scored_on(
    resolved: Cast, frozen: Release
) -> None:
    bring(resolved, frozen, *(line(query, outcome=-1) for query in (0, 1)), model="Sage")
    bring(resolved, frozen, line(2, {"2": 0, "4": 0, "6": 0}, 0), model="Bold")
    board = leaderboard(actor=resolved.judith, release=frozen)

    assert [row.name for row in board.models] == ["Sage", "Bold"]
    assert [row.name for row in board.baselines] == ["always_plus_one", "majority"]
    found = leaderboard_json(board)
    sage, bold = (row["overall"] for row in found["models"])
    assert (sage["step_accuracy"], sage["n"]["step_accuracy"], sage["absent"]) == (6 / 9, 9, 1)
    assert (bold["step_accuracy"], bold["absent"], bold["exact_match"]) == (3 / 9, 2, 1 / 3)
    # what is absent found no error, as published; strictly it earns nothing
    assert sage["first_error_accuracy"] == 1.0 and sage["strict_first_error_accuracy"] == 2 / 3
    assert sage["intervals"]["step_accuracy"] is None and "20 tasks" in sage["reasons"]["step_accuracy"]
    assert sage["ranks"]["step_accuracy"] is None, "ranks need twenty tasks"
    assert found["models"][0]["subsets"] == {"tiny": sage}
    assert found["baselines"][0]["overall"]["step_accuracy"] == 2 / 9


def test_leaderboard_of_a_release_without_predictions_has_its_baselines(
    resolved: Cast, frozen: Release
) -> None:
    board = leaderboard(actor=OPERATOR, release=frozen)
    assert board.models == () and len(board.baselines) == 2
    assert board.pairs == () and selections(actor=OPERATOR, release=frozen) == []


def test_labels_of_a_damaged_release_are_not_scored(resolved: Cast, frozen: Release) -> None:
    tampered(frozen.records.all()[0], body=b"nothing")
    with pytest.raises(Conflict) as refusal:
        leaderboard(actor=OPERATOR, release=frozen)
    assert refusal.value.code == "damaged"


def test_predictions_are_read_in_the_memory_of_a_line(resolved: Cast, frozen: Release) -> None:
    """40 MB of reasons, of which the newest line counts."""
    reasons = {"steps": {"2": "because " * 25_000}}

    class Many(io.RawIOBase):
        left, rest = 200, b""

        def readable(self) -> bool:
            return True

        def readinto(self, into: Any) -> int:
            if not self.rest and self.left:
                self.left -= 1
                self.rest = content(line(0, explanations=reasons))
            part, self.rest = self.rest[: len(into)], self.rest[len(into) :]
            into[: len(part)] = part
            return len(part)

    tracemalloc.start()
    try:
        result = evaluate.import_predictions(
            actor=OPERATOR, release=frozen, model="Sage", stream=io.BufferedReader(Many()), filename="big"
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (result.created, result.superseded) == (1, 199)
    assert peak < 12 << 20
    assert json.loads(frozen.manifest)["records"] == 3


@pytest.mark.postgres
def test_outside_numbers_are_set_model_by_model_and_held_against_figures(
    resolved: Cast, frozen: Release
) -> None:
    def put(title: str = "GAIA", **numbers: float | None) -> int:
        return evaluate.set_outside_numbers(
            actor=resolved.admin, release=frozen, title=title, numbers=numbers
        )

    for model, first in (("Sage", 1), ("Bold", 0), ("Calm", -1)):
        bring(resolved, frozen, line(0, {"2": first, "4": 0, "6": -1}), line(1), line(2), model=model)
    assert put(Sage=0.2, Bold=0.6, Calm=0.9, Later=1.0) == 4
    assert put(Bold=0.5, Later=None) == 2, "those that are not named keep theirs"
    put("Elo", Sage=1200.0)

    board = leaderboard(actor=resolved.admin, release=frozen)
    assert [(one.title, one.numbers) for one in board.outside] == [
        *(("Elo", {"Sage": 1200.0}), ("GAIA", {"Bold": 0.5, "Calm": 0.9, "Sage": 0.2}))
    ]
    step, success, _plus = board.correlations(board.outside[1].numbers, ["step_accuracy"])
    # Sage is right where the two others err, who are equal
    assert (step.pearson.n, round(step.spearman.value or 0, 4)) == (3, -0.866)
    assert (success.figure, success.pearson.value, success.pearson.n) == ("success_rate", None, 0)
    stated = leaderboard_json(board)["outside_numbers"][0]
    assert stated["correlations"]["kappa"] == {
        "pearson": None,
        "spearman": None,
        "models": 1,
        "reason": "a correlation needs at least three models",
    }
    assert AuditEvent.objects.filter(verb="predictions.outside").latest("pk").detail["title"] == "Elo"
    for wrong in ({"title": " "}, {"title": "x" * 81}, {"Sage": float("inf")}, {"x" * 121: 1.0}):
        with pytest.raises(Invalid):
            put(**wrong)
    with pytest.raises(Denied):
        evaluate.set_outside_numbers(actor=resolved.judith, release=frozen, title="GAIA", numbers={"A": 1.0})
