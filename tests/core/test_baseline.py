"""The baseline learns what can be learned, claims nothing where nothing can, and never sees its own task."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from annotation.core.baseline.explanations import reason, sentence_for
from annotation.core.baseline.features import FEATURES
from annotation.core.baseline.model import Floats, Ints, cross_fit, deal, fit
from annotation.core.baseline.training import Example, digest, task_of, train
from annotation.core.judging import JudgeInput

TASKS, PER_TASK = 30, 8


def data(seed: int, *, signal: float) -> tuple[Floats, Ints, Ints]:
    """Rows of which the first figure tells the label as far as `signal` goes, 0 not at all."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(TASKS), PER_TASK)
    labels = rng.choice([-1, 0, 1], size=len(groups), p=[0.3, 0.1, 0.6])
    rows = rng.normal(size=(len(groups), 6))
    rows[:, 0] += signal * labels
    return rows, labels, groups


def loss(probabilities: Floats, labels: Ints) -> float:
    return float(-np.log(probabilities[np.arange(len(labels)), labels + 1]).mean())


def shares(labels: Ints) -> Floats:
    counts = np.array([(labels == value).mean() for value in (-1, 0, 1)])
    return np.tile(counts, (len(labels), 1))


def test_baseline_learns_what_can_be_learned_on_tasks_it_has_not_seen() -> None:
    rows, labels, groups = data(1, signal=3.0)
    found = cross_fit(rows, labels, groups, seed=5)
    right = found.probabilities.argmax(axis=1) - 1 == labels
    assert right.mean() > 0.8
    assert loss(found.probabilities, labels) < 0.7 * loss(shares(labels), labels)
    assert np.allclose(found.probabilities.sum(axis=1), 1) and (found.probabilities > 0).all()
    # it is as sure as it is right
    assert abs(found.probabilities.max(axis=1).mean() - right.mean()) < 0.06


@pytest.mark.parametrize("seed", [1, 2])
def test_baseline_says_no_more_than_how_frequent_labels_are_where_nothing_can_be_learned(seed: int) -> None:
    rows, labels, groups = data(seed, signal=0.0)
    found = cross_fit(rows, labels, groups, seed=5)
    assert loss(found.probabilities, labels) < loss(shares(labels), labels) + 0.03
    assert (found.probabilities.argmax(axis=1) == 2).mean() > 0.95
    examples = examples_of(rows, labels, groups)
    _, figures = train(examples, seed=5)
    assert abs(figures["cv"]["kappa"]) < 0.05
    assert figures["cv"]["step_accuracy"] <= figures["always_plus_one"]["step_accuracy"] + 0.02


def test_baseline_gains_nothing_from_knowing_the_task() -> None:
    """Every task has one label, and a figure of its own: perfect where tasks leak from fold to fold."""
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(TASKS), PER_TASK)
    labels = rng.choice([-1, 1], size=TASKS)[groups]
    rows = np.eye(TASKS)[groups]
    found = cross_fit(rows, labels, groups, seed=5)
    assert loss(found.probabilities, labels) > 0.9 * loss(shares(labels) + 1e-9, labels)
    # the same figures give everything away to who deals rows instead of tasks
    leaked = cross_fit(rows, labels, np.arange(len(labels)), seed=5)
    assert (leaked.probabilities.argmax(axis=1) - 1 == labels).mean() > 0.95


def test_task_is_in_one_fold_and_the_same_seed_deals_alike() -> None:
    groups = np.array([0, 0, 0, 1, 2, 2, 3, 4, 5, 6, 6, 6])
    fold = deal(groups, seed=1)
    assert all(len(set(fold[groups == task])) == 1 for task in range(7))
    assert sorted(set(fold)) == [0, 1, 2, 3, 4]
    assert (deal(groups, seed=1) == fold).all()
    assert len({tuple(deal(groups, seed=seed)) for seed in range(20)}) > 1
    with pytest.raises(ValueError):
        deal(np.zeros(4, dtype=np.int64), seed=1)


@pytest.mark.parametrize("present", [(1,), (-1, 1), (0, 1)])
def test_label_that_never_occurs_is_improbable_and_not_impossible(present: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    labels = rng.choice(present, size=60)
    rows = np.column_stack([labels + rng.normal(size=60) * 0.3, rng.normal(size=60)])
    model = fit(rows, labels, np.repeat(np.arange(12), 5), seed=1)
    found = model.probabilities(rows)
    assert np.allclose(found.sum(axis=1), 1)
    for value in (-1, 0, 1):
        if value not in present:
            assert (found[:, value + 1] > 0).all() and (found[:, value + 1] < 0.1).all()
            assert not model.contributions(rows[0], value).any()
    assert (found.argmax(axis=1) - 1 == labels).mean() > 0.9


def test_baseline_training_is_interrupted() -> None:
    calls = 0

    def alive() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    rows, labels, groups = data(1, signal=1.0)
    with pytest.raises(KeyboardInterrupt):
        cross_fit(rows, labels, groups, seed=5, alive=alive)


# ── A training ──────────────────────────────────────────────────────────────
def examples_of(rows: Floats, labels: Ints, groups: Ints) -> list[Example]:
    """Trajectories of four steps; their outcome is their last label."""
    wide = np.zeros((len(rows), len(FEATURES)))
    wide[:, : rows.shape[1]] = rows
    return [
        Example(
            task=f"task {groups[start]}",
            features=wide[start : start + 4],
            labels=tuple(int(value) for value in labels[start : start + 4]),
            outcome=int(labels[start + 3]),
        )
        for start in range(0, len(rows), 4)
    ]


def test_figures_are_those_of_tasks_it_had_not_seen_beside_what_costs_nothing() -> None:
    examples = examples_of(*data(1, signal=3.0))
    trained, figures = train(examples, seed=5)
    cv, plus = figures["cv"], figures["always_plus_one"]
    labels = [label for one in examples for label in one.labels]
    assert plus["step_accuracy"] == pytest.approx(labels.count(1) / len(labels))
    assert plus["first_error_accuracy"] == pytest.approx(
        sum(-1 not in one.labels for one in examples) / len(examples)
    )
    assert (plus["kappa"], cv["folds"], cv["undefined"]) == (0.0, 5, {})
    assert cv["kappa"] > 0.6 and cv["log_loss"] < figures["shares"]["log_loss"]
    low, high = cv["intervals"]["step_accuracy"]
    assert low < cv["step_accuracy"] < high
    # anew, step by step, with the models that are used for suggestions
    said = [trained.models(one.task)[0].probabilities(one.features).argmax(axis=1) - 1 for one in examples]
    assert cv["step_accuracy"] == pytest.approx((np.concatenate(said) == labels).mean())
    again = train(examples, seed=5)[1]
    assert again == figures


def test_baseline_models_of_a_task_do_not_depend_on_its_own_labels() -> None:
    examples = examples_of(*data(1, signal=3.0))
    own = examples[0]
    turned = [
        Example(one.task, one.features, tuple(-label for label in one.labels), -one.outcome)
        if one.task == own.task
        else one
        for one in examples
    ]
    before, after = (train(rows, seed=5)[0] for rows in (examples, turned))
    for mine, theirs in zip(before.models(own.task), after.models(own.task), strict=True):
        assert (mine.weights == theirs.weights).all() and mine.trust == theirs.trust
    everything, changed = before.models("another")[0], after.models("another")[0]
    assert not np.allclose(everything.weights, changed.weights)


def test_digest_changes_with_everything_a_training_depends_on() -> None:
    examples = examples_of(*data(1, signal=1.0))
    first = digest(examples, seed=5)
    one = examples[0]
    features = one.features.copy()
    features[0, 0] += 0.001
    others = [
        digest(examples, seed=6),
        digest(examples[1:], seed=5),
        digest([Example(one.task, features, one.labels, one.outcome), *examples[1:]], seed=5),
        digest([Example(one.task, one.features, (0, 0, 0, 0), one.outcome), *examples[1:]], seed=5),
        digest([Example("other", one.features, one.labels, one.outcome), *examples[1:]], seed=5),
    ]
    assert len({first, *others}) == 6
    assert digest(list(examples), seed=5) == first


def test_task_is_known_by_its_question_wherever_it_stands() -> None:
    assert task_of("Who  built it?\n", "a") == task_of("who built it?", "b")
    assert task_of("Who built it?", "a") != task_of("Who paid for it?", "a")
    assert (task_of(" ", "task 7"), task_of("\ud800", "x")[:8]) == ("task 7", "question")


# ── Reasons ─────────────────────────────────────────────────────────────────
def test_reasons_name_the_strongest_figures_and_say_only_what_is_so() -> None:
    rng = np.random.default_rng(2)
    rows = np.zeros((200, len(FEATURES)))
    error = rng.integers(0, 2, size=200)
    rows[:, FEATURES.index("result_error")] = error
    rows[:, FEATURES.index("ordinal")] = rng.normal(size=200)
    labels = np.where(error, -1, 1)
    model = fit(rows, labels, np.repeat(np.arange(20), 10), seed=1)
    bad, good = rows[error == 1][0], rows[error == 0][0]
    assert reason(model, bad, -1).startswith("The tool result reports an error.")
    assert "error" not in reason(model, good, 1)
    nothing = fit(rows, np.ones(200, dtype=np.int64), np.repeat(np.arange(20), 10), seed=1)
    assert reason(nothing, bad, 1).startswith("Nothing in the step stands out")


def test_baseline_figures_have_words_or_stay_unsaid() -> None:
    for name in FEATURES:
        for value in (0.0, 2.0):
            sentence = sentence_for(name, value, 1.0)
            assert sentence == "" or sentence.endswith(".")
    said = [name for name in FEATURES if sentence_for(name, 2.0, 1.0) or sentence_for(name, 0.0, 1.0)]
    assert len(said) >= len(FEATURES) - 2


def test_judgement_has_a_label_a_probability_and_a_reason_for_every_step() -> None:
    trained, _ = train(examples_of(*data(1, signal=1.0)), seed=5)
    material = JudgeInput("Q?", [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "A."}])
    found = trained.judge(material, "elsewhere")
    judgement = found.judgement
    assert list(judgement.labels) == list(judgement.probabilities) == list(judgement.reasons) == [1]
    assert judgement.labels[1] == found.probabilities[0].argmax() - 1
    assert judgement.probabilities[1] == found.probabilities[0].max()
    assert judgement.outcome == found.outcome.argmax() - 1 and not found.seen


def test_baseline_alone_loads_scikit_learn() -> None:
    code = (
        "import sys, annotation.core.baseline.training, annotation.providers.baseline;"
        "sys.exit('sklearn' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
