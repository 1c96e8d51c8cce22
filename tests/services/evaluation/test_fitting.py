"""Models fitted on a release: once, in the background, and never shown beside other predictions than their
own."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation import dispatch
from annotation.core.errors import Conflict
from annotation.models import PredictionSet, Release, ReleaseOutline
from annotation.policies import OPERATOR
from annotation.reports.evaluation.leaderboard import Leaderboard, leaderboard
from annotation.reports.evaluation.leaderboard import as_json as leaderboard_json
from annotation.services import evaluate
from annotation.services.evaluate import fitting
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast
from tests.services.predicting import bring, content, line
from tests.services.publishing import freeze, tampered


@shared_rows
def scored(resolved: Cast) -> Release:
    """A release of three tasks on which two models are scored; nothing is fitted yet."""
    made = freeze(resolved.project)
    for model in ("Sage", "Bold"):
        bring(resolved, made, *(line(query) for query in (0, 1)), model=model)
    return made


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The jobs that are sent, instead of sending them."""
    jobs: list[tuple[Any, ...]] = []
    monkeypatch.setattr(dispatch, "send", lambda *job: jobs.append(job))
    return jobs


def board(made: Release) -> Leaderboard:
    return leaderboard(actor=OPERATOR, release=made)


def test_fit_brings_recalibrated_models_the_stacked_one_and_the_baseline(scored: Release) -> None:
    before = board(scored)
    assert before.pending and before.stacked is None and before.models[0].recalibrated is None
    evaluate.fit_release(release_id=scored.pk)

    found = board(scored)
    assert not found.pending and found.stacked is not None
    assert [row.name for row in found.baselines] == ["always_plus_one", "majority", "trained_baseline"]
    said = leaderboard_json(found)
    for row in said["models"]:
        after = row["recalibrated"]["overall"]
        assert after["missing"] == row["overall"]["missing"] == 3, "what is missing stays missing"
        assert after["outcome_accuracy"] == row["overall"]["outcome_accuracy"]
        change = after["changes"]["step_accuracy"]
        assert change["value"] == pytest.approx(after["step_accuracy"] - row["overall"]["step_accuracy"])
        assert change["interval"] is None, "three tasks"
        assert row["recalibrated"]["subsets"] == {"tiny": after}
    assert said["stacked"]["overall"]["ranks"]["step_accuracy"] is None
    assert said["baselines"][2]["overall"]["missing"] == 0


def test_fit_again_writes_the_same_and_only_what_is_missing(
    resolved: Cast, scored: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate.fit_release(release_id=scored.pk)
    first = ReleaseOutline.objects.values().get(), list(PredictionSet.objects.values("recalibrated"))
    ReleaseOutline.objects.update(method="0")
    assert board(scored).models[0].recalibrated is None, "made by another method"
    evaluate.fit_release(release_id=scored.pk)
    assert (
        ReleaseOutline.objects.values().get(),
        list(PredictionSet.objects.values("recalibrated")),
    ) == first

    monkeypatch.setattr(fitting, "_baseline", None)  # trained once
    bring(resolved, scored, line(2), model="Sage")
    found = board(scored)
    assert found.pending and found.stacked is None
    assert {row.name: row.recalibrated is None for row in found.models} == {"Sage": True, "Bold": False}
    evaluate.fit_release(release_id=scored.pk)
    assert not board(scored).pending


@pytest.mark.postgres
def test_fit_is_sent_with_each_change_and_once_again_when_it_was_lost(
    resolved: Cast, scored: Release, sent: list[tuple[Any, ...]]
) -> None:
    job = ("fit_release", str(scored.pk))
    evaluate.fit_release(release_id=scored.pk)
    bring(resolved, scored, line(0), model="Sage")
    assert sent == [], "nothing has changed"
    evaluate.delete_predictions(
        actor=resolved.admin, prediction_set=PredictionSet.objects.select_related("release__project").first()
    )
    assert sent == [job] and board(scored).stacked is None
    assert evaluate.sweep_unfitted() == 0, "a worker has it"
    later = timezone.now() + timedelta(hours=1)
    assert (evaluate.sweep_unfitted(now=later), evaluate.sweep_unfitted(now=later)) == (1, 0)
    assert sent == [job, job]
    evaluate.fit_release(release_id=scored.pk)
    assert evaluate.sweep_unfitted(now=later + timedelta(hours=1)) == 0
    found = board(scored)
    assert found.stacked is None and not found.pending, "one model is not stacked"


def test_fit_is_done_once_for_all_files_of_a_command_and_put_off_when_asked(
    resolved: Cast,
    scored: Release,
    sent: list[tuple[Any, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fits: list[uuid.UUID] = []
    fit = fitting._fit
    monkeypatch.setattr(fitting, "_fit", lambda release_id: (fits.append(release_id), fit(release_id)))

    def import_files(*names: str, **options: Any) -> str:
        paths = [tmp_path / f"{name}.jsonl" for name in names]
        for path in paths:
            path.write_bytes(content(line(0)))
        call_command("import_predictions", resolved.project.slug, scored.version, *paths, **options)
        return capsys.readouterr().err

    assert "1 record predicted by Calm" in import_files("Calm", no_fit=True)
    assert fits == [] and board(scored).pending
    said = import_files("Terse", "Wordy")
    assert [f"1 record predicted by {name}" in said for name in ("Terse", "Wordy")] == [True, True]
    assert (fits, sent) == ([scored.pk], []) and not board(scored).pending
    import_files("Terse", "Wordy")
    assert fits == [scored.pk], "nothing has changed"


def test_fit_of_predictions_that_change_meanwhile_is_not_shown(
    resolved: Cast, scored: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(released: Any, said: Any) -> bytes:
        bring(resolved, scored, line(2), model="Sage")
        return fitting.kept(fitting.stacked(released, said))

    monkeypatch.setattr(fitting, "_stacked", meanwhile)
    evaluate.fit_release(release_id=scored.pk)
    found = board(scored)
    assert found.pending and found.stacked is None
    assert {row.name: row.recalibrated is None for row in found.models} == {"Sage": True, "Bold": False}


def test_fit_that_is_asked_for_meanwhile_is_done_by_who_is_at_it(
    resolved: Cast, scored: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits: list[int] = []

    def meanwhile(released: Any, said: Any) -> bytes:
        fits.append(len(fits))
        if len(fits) == 1:
            bring(resolved, scored, line(2), model="Sage")
            evaluate.fit_release(release_id=scored.pk)  # as another worker's thread would
        return fitting.kept(fitting.stacked(released, said))

    monkeypatch.setattr(fitting, "_stacked", meanwhile)
    evaluate.fit_release(release_id=scored.pk)
    assert fits == [0, 1] and not board(scored).pending


def test_fit_of_a_damaged_release_brings_what_needs_no_records(scored: Release) -> None:
    tampered(scored.records.all()[0], body=b"nothing")
    with pytest.raises(Conflict, match="damaged"):
        evaluate.fit_release(release_id=scored.pk)
    found = board(scored)
    assert found.stacked is not None and len(found.baselines) == 2 and found.pending
