"""Recalibrated and stacked judges: cross-fitted by task, so that no task tells how it is labelled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.core.figures.folds import deal
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels, recalibration, scores
from annotation.core.scoring.counts import task_sums
from annotation.core.scoring.fitted import kept, read
from annotation.core.scoring.ranks import FigureChange, changes
from annotation.core.scoring.recalibration import of_project, recalibrated, stacked
from annotation.core.scoring.scores import estimated
from tests.fixtures.published_labels import MODELS, predictions, released_labels

# model -> κ and FirstErrAcc before and after recalibration, on HotpotQA alone; measured, folds by the seed
MEASURED = {
    "GPT-5.2": ((0.4340, 0.696), (0.488, 0.664)),
    "DeepSeek-V3.2": ((0.4472, 0.652), (0.432, 0.652)),
    "Llama-3.2-3B-Instruct": ((0.0622, 0.584), (0.271, 0.568)),
}
STACKED = (0.504, 0.672)


def release(labels: list[list[int]], subset: list[str] | None = None) -> ReleasedLabels:
    """One trajectory a task, with these step labels; the outcome is the last."""
    return ReleasedLabels.of(
        {
            "subset": "hop" if subset is None else subset[task],
            "record_id": f"hop:{task}:0",
            "query_index": task,
            "sample_index": 0,
            "step_labels": {str(at): value for at, value in enumerate(steps)},
            "final_label": steps[-1],
        }
        for task, steps in enumerate(labels)
    )


def noise(tasks: int, steps: int, seed: int = 3) -> tuple[ReleasedLabels, Predictions]:
    """Tasks whose steps are all +1 or all −1, by a coin, each a subset of its own, which gives its label away
    to whoever has seen it; and a judge that knows nothing."""
    rng = np.random.default_rng(seed)
    labels = [[int(rng.choice([-1, 1]))] * steps for _ in range(tasks)]
    released = release(labels, [f"s{task}" for task in range(tasks)])
    return released, Predictions.constant(rng.integers(-1, 2, released.n_steps), released.outcome)


def test_recalibration_of_noise_stays_noise_where_a_leak_would_be_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released, judge = noise(tasks=80, steps=6)

    def kappa() -> float:
        made = recalibrated(released, judge)
        assert made is not None
        return float(cohen_kappa_score(released.value, made.steps))

    assert abs(kappa()) < 0.25, "80 coins"
    # the same with folds of steps instead of tasks: other steps of the task tell its label
    monkeypatch.setattr(recalibration, "deal", lambda groups, seed: deal(np.arange(len(groups)), seed=seed))
    assert kappa() > 0.9


def test_recalibration_of_a_task_does_not_depend_on_its_own_labels() -> None:
    rng = np.random.default_rng(5)
    labels = rng.choice([-1, 0, 1], size=(12, 5), p=[0.3, 0.2, 0.5])
    judge = np.where(rng.random(labels.shape) < 0.6, labels, rng.integers(-1, 2, labels.shape)).ravel()

    def made(of: np.ndarray) -> np.ndarray:
        released = release(of.tolist())
        found = recalibrated(released, Predictions.constant(judge, released.outcome))
        assert found is not None
        return found.steps.reshape(labels.shape)

    before, elsewhere = made(labels), 0
    for task in range(0, 12, 2):
        turned = labels.copy()
        turned[task] = -1
        after = made(turned)
        assert (after[task] == before[task]).all(), task
        elsewhere += int((np.delete(after, task, 0) != np.delete(before, task, 0)).any())
    assert elsewhere, "the labels of other tasks are what it learns from"


def test_recalibration_of_a_project_that_is_all_resolved_is_that_of_its_release() -> None:
    rng = np.random.default_rng(8)
    released = release(rng.choice([-1, 0, 1], size=(14, 4)).tolist())
    said = np.where(rng.random(released.n_steps) < 0.6, released.value, rng.integers(-1, 2, released.n_steps))
    judge = Predictions.constant(said, released.outcome)
    judge.steps[5] = MISSING
    every = np.ones(released.n_steps, dtype=np.bool_)
    made, expected = of_project(released, judge, every), recalibrated(released, judge)
    assert made is not None and expected is not None and (made == expected.steps).all()
    # a task without resolved labels is labelled by a regression on all the others, whatever its value says
    rest = released.task[released.record] != 3
    without = of_project(released, judge, rest)
    released.value[~rest] = -1
    again = of_project(released, judge, rest)
    assert without is not None and again is not None and (without == again).all()
    assert (without != MISSING).sum() == released.n_steps - 1
    assert of_project(released, judge, released.record == 0) is None, "one task"


def test_recalibration_undoes_what_a_judge_does_every_time() -> None:
    released = release([[1, 0, 1, -1], [0, 0, 1], [1, 1, 0, -1, 0]] * 8)
    harsh = Predictions.constant(np.where(released.value == 0, -1, released.value), released.outcome)
    gentle = np.where(released.value == -1, 0, 1)
    made = recalibrated(released, Predictions.constant(gentle, released.outcome))
    assert made is not None and (made.steps == released.value).mean() > (gentle == released.value).mean()
    together = stacked(released, [harsh, Predictions.constant(gentle, -released.outcome)])
    assert together is not None
    assert (together.steps == released.value).all(), "what one confuses the other tells apart"
    assert (together.outcome == released.outcome).all()


def test_what_a_judge_leaves_out_stays_out() -> None:
    released = release([[1, -1], [1, 0, 1], [-1, 1], [1]])
    judge = Predictions.constant(released.value, released.outcome)
    judge.steps[[0, 3]] = MISSING
    judge.outcome[1] = MISSING
    other = Predictions.none(released)
    other.steps[3], other.there[1] = 0, True
    made, together = recalibrated(released, judge), stacked(released, [judge, other])
    assert made is not None and together is not None
    assert ((made.steps == MISSING) == (judge.steps == MISSING)).all()
    assert made.outcome.tolist() == judge.outcome.tolist()
    assert np.flatnonzero(together.steps == MISSING).tolist() == [0]
    assert together.outcome[1] == MISSING
    only = Predictions.none(released)
    only.steps[0] = 1
    assert recalibrated(released, only) is None and stacked(released, [only]) is None
    assert stacked(released, []) is None


def test_what_is_fitted_is_kept_as_it_is() -> None:
    released, judge = noise(tasks=3, steps=2)
    again = read(kept(judge), released)
    assert again is not None and (again.steps == judge.steps).all()
    assert kept(None) == b"" and read(b"", released) is None and read(None, released) is None


def test_change_against_itself_is_nothing() -> None:
    released, judge = noise(tasks=25, steps=3)
    found = estimated(released, task_sums(released, judge)[None])["step_accuracy"]
    (same,) = changes(found, found)
    assert same is not None and (same.value, same.half) == (0.0, 0.0)


def test_change_of_a_share_ends_at_a_hundred_points() -> None:
    """Llama-3.2-3B's precision of −1 on the published HotpotQA subset: from 0 of 2 to .645, ± .509."""
    released, judge = noise(tasks=25, steps=3)
    for figure, most in (("step_accuracy", 1.0), ("kappa", 2.0)):
        found = estimated(released, task_sums(released, judge)[None])[figure]
        (same,) = changes(found, found)
        assert same is not None and same.most == most
    assert (FigureChange(0.645, 0.509, 1.0).high, FigureChange(-0.645, 0.509, 1.0).low) == (1.0, -1.0)


@pytest.mark.published
def test_recalibration_of_the_published_predictions_is_as_measured(published: Path) -> None:
    released = released_labels(published)
    said = [predictions(published, model) for model in MODELS]
    made = [recalibrated(released, one) for one in said]
    found = scores(released, [*said, *(one for one in made if one is not None)])
    got = [(one.figures["kappa"].value, one.figures["first_error_accuracy"].value) for one in found]
    for model, before, after in zip(MODELS, got[:3], got[3:], strict=True):
        assert before == pytest.approx(MEASURED[model][0], abs=1e-3), model
        assert after == pytest.approx(MEASURED[model][1], abs=0.012), model
    together = stacked(released, said)
    assert together is not None
    (figures,) = (one.figures for one in scores(released, [together]))
    assert figures["kappa"].value == pytest.approx(STACKED[0], abs=0.012)
    assert figures["first_error_accuracy"].value == pytest.approx(STACKED[1], abs=0.012)
