"""The baseline learns what can be learned, never sees its own task, and counts features of a step alone."""

from __future__ import annotations

import itertools
import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.tree import ExtraTreeClassifier

from annotation.core.baseline.evidence import Evidence
from annotation.core.baseline.explanations import reason, sentence_for
from annotation.core.baseline.features import FEATURES, run_features, step_features
from annotation.core.baseline.forest import Floats, Forest, Ints, grow
from annotation.core.baseline.model import CrossFit, TrainingSet, cross_fit
from annotation.core.baseline.regression import regress
from annotation.core.baseline.text_features import is_empty, is_error
from annotation.core.baseline.training import TrainingExample, digest, task_of, train
from annotation.core.figures.folds import deal
from annotation.core.judging import JudgeInput

TASKS, PER_TASK = 30, 8
STEPS = 4


def crossed(
    rows: Floats, labels: Ints, groups: Ints, *, seed: int = 5, fit: Any = grow, alive: Any = lambda: None
) -> CrossFit:
    """Cross-fitted by group; trajectories of four steps."""
    first = np.arange(len(rows)) % STEPS == 0
    fold = deal(groups, seed=seed)
    given = TrainingSet(fit=fit, rows=rows, labels=labels, groups=groups, first=first, fold=fold)
    return cross_fit(given, seed=seed, alive=alive)


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
    found = crossed(rows, labels, groups)
    right = found.probabilities.argmax(axis=1) - 1 == labels
    assert right.mean() > 0.8
    assert loss(found.probabilities, labels) < 0.7 * loss(shares(labels), labels)
    assert np.allclose(found.probabilities.sum(axis=1), 1) and (found.probabilities > 0).all()
    # it is about as sure as it is right, and not surer
    assert -0.12 < found.probabilities.max(axis=1).mean() - right.mean() < 0.03


@pytest.mark.parametrize("seed", [1, 2])
def test_baseline_says_no_more_than_how_frequent_labels_are_where_nothing_can_be_learned(seed: int) -> None:
    rows, labels, groups = data(seed, signal=0.0)
    found = crossed(rows, labels, groups)
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
    rows = rng.normal(size=(TASKS, 6))[groups]
    found = crossed(rows, labels, groups)
    assert loss(found.probabilities, labels) > 0.9 * loss(shares(labels) + 1e-9, labels)
    # the same figures give everything away to who deals rows instead of tasks
    leaked = crossed(rows, labels, np.arange(len(labels)))
    assert (leaked.probabilities.argmax(axis=1) - 1 == labels).mean() > 0.8


def test_task_is_in_one_fold_and_the_same_seed_deals_alike() -> None:
    groups = np.array([0, 0, 0, 1, 2, 2, 3, 4, 5, 6, 6, 6])
    fold = deal(groups, seed=1)
    assert all(len(set(fold[groups == task])) == 1 for task in range(7))
    assert sorted(set(fold)) == [0, 1, 2, 3, 4]
    assert (deal(groups, seed=1) == fold).all()
    assert len({tuple(deal(groups, seed=seed)) for seed in range(20)}) > 1
    with pytest.raises(ValueError):
        deal(np.zeros(4, dtype=np.int64), seed=1)


@pytest.mark.parametrize("fit", [grow, regress])
@pytest.mark.parametrize("present", [(1,), (-1, 1), (0, 1)])
def test_label_that_never_occurs_is_improbable_and_not_impossible(present: tuple[int, ...], fit: Any) -> None:
    rng = np.random.default_rng(3)
    labels = rng.choice(present, size=60)
    rows = np.column_stack([labels + rng.normal(size=60) * 0.3, rng.normal(size=60)])
    found = crossed(rows, labels, np.repeat(np.arange(15), 4), fit=fit).probabilities
    assert np.allclose(found.sum(axis=1), 1)
    for value in (-1, 0, 1):
        if value not in present:
            assert (found[:, value + 1] > 0).all() and (found[:, value + 1] < 0.1).all()
    assert (found.argmax(axis=1) - 1 == labels).mean() > 0.8


def test_step_is_judged_in_the_light_of_how_the_step_before_was() -> None:
    """Labels that stay as they are, which one figure tells of the first step alone."""
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(60), STEPS)
    labels = rng.choice([-1, 1], size=60)[groups]
    first = np.arange(len(labels)) % STEPS == 0
    rows = np.column_stack([np.where(first, labels, 0), rng.normal(size=len(labels))])
    right = crossed(rows, labels, groups).probabilities.argmax(axis=1) - 1 == labels
    assert right.mean() > 0.95
    # trajectories that are torn apart tell nothing of their later steps
    alone = TrainingSet(
        fit=grow,
        rows=rows,
        labels=labels,
        groups=groups,
        first=np.ones(len(labels), dtype=np.bool_),
        fold=deal(groups, seed=5),
    )
    torn = cross_fit(alone, seed=5).probabilities.argmax(axis=1) - 1 == labels
    assert torn[first].mean() > 0.95 and abs(torn[~first].mean() - 0.5) < 0.15


def test_label_of_the_step_before_is_weighted_with_how_probable_it_is() -> None:
    """The forward pass, against the sum over all sequences of labels that lead to a step."""
    rows, labels, _ = data(2, signal=1.0)
    first = np.arange(len(rows)) % STEPS == 0
    grown = grow(rows, labels, first, seed=1, alive=lambda: None)
    one = rows[:STEPS]
    each, nothing = np.eye(3), np.zeros((1, 3))
    expected = np.zeros(3)
    for path in itertools.product(range(3), repeat=STEPS):
        chance = grown.given(one[:1], nothing)[0, path[0]]
        for at in range(1, STEPS):
            chance *= grown.given(one[at : at + 1], each[path[at - 1]][None])[0, path[at]]
        expected[path[-1]] += chance
    assert grown.forward(one, first[:STEPS])[-1] == pytest.approx(expected)


@pytest.mark.parametrize("present", [(-1, 0, 1), (-1, 1), (0, 1)])
def test_trees_are_those_of_scikit_learns_own_forest(present: tuple[int, ...]) -> None:
    """They are only grown without what it does around each tree."""
    rng = np.random.default_rng(8)
    labels = rng.choice(present, size=200)
    rows = rng.normal(size=(200, 6)).round(1)
    first = np.arange(200) % STEPS == 0
    grown = grow(rows, labels, first, seed=7, alive=lambda: None)
    theirs = ExtraTreesClassifier(len(grown.trees), min_samples_leaf=3, max_features=0.3, random_state=7)
    before = np.vstack([np.zeros((1, 3)), np.eye(3)[labels[:-1] + 1]]) * ~first[:, None]
    table = np.hstack([rows, before])
    said = theirs.fit(table, labels).predict_proba(table)
    mine = grown.given(rows, before)[:, np.isin([-1, 0, 1], present)]
    assert len(grown.trees) > 1
    probable = (said > 0.001).all(axis=1)
    assert probable.sum() > 100
    assert (mine / mine.sum(axis=1, keepdims=True))[probable] == pytest.approx(said[probable], rel=1e-12)


def test_baseline_training_is_interrupted() -> None:
    calls = 0

    def alive() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    rows, labels, groups = data(1, signal=1.0)
    with pytest.raises(KeyboardInterrupt):
        crossed(rows, labels, groups, alive=alive)


# ── A training ────────────────────────────
def test_one_thread_at_a_time_grows_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two at once scikit-learn leaves the process without warning filters, and every tree warns."""
    inside, most = [0], [0]

    def counted(do: Any) -> Any:
        def doing(*args: Any, **options: Any) -> Any:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.002)
            try:
                return do(*args, **options)
            finally:
                inside[0] -= 1

        return doing

    monkeypatch.setattr(ExtraTreeClassifier, "fit", counted(ExtraTreeClassifier.fit))
    rows, labels, _ = data(3, signal=1.0)
    first = np.arange(len(rows)) % STEPS == 0

    def work(seed: int) -> Floats:
        return grow(rows, labels, first, seed=seed, alive=lambda: None).forward(rows, first)

    with ThreadPoolExecutor(3) as pool:
        assert len(list(pool.map(work, range(3)))) == 3
    assert most == [1]


def examples_of(rows: Floats, labels: Ints, groups: Ints) -> list[TrainingExample]:
    """Trajectories of four steps; their outcome is their last label."""
    wide = np.zeros((len(rows), len(FEATURES)))
    wide[:, : rows.shape[1]] = rows
    return [
        TrainingExample(
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
    labels = [label for example in examples for label in example.labels]
    assert plus["step_accuracy"] == pytest.approx(labels.count(1) / len(labels))
    assert plus["first_error_accuracy"] == pytest.approx(
        sum(-1 not in example.labels for example in examples) / len(examples)
    )
    assert (plus["kappa"], cv["folds"], cv["undefined"]) == (0.0, 5, {})
    assert cv["kappa"] > 0.6 and cv["log_loss"] < figures["shares"]["log_loss"]
    low, high = cv["intervals"]["step_accuracy"]
    assert low < cv["step_accuracy"] < high
    # anew, step by step, with the models that are used for suggestions
    begins = np.arange(STEPS) == 0
    said = [
        trained.models(example.task)[0].probabilities(example.features, begins).argmax(axis=1) - 1
        for example in examples
    ]
    assert cv["step_accuracy"] == pytest.approx((np.concatenate(said) == labels).mean())
    again = train(examples, seed=5)[1]
    assert again == figures


def test_baseline_models_of_a_task_do_not_depend_on_its_own_labels() -> None:
    examples = examples_of(*data(1, signal=3.0))
    own = examples[0]
    turned = [
        TrainingExample(
            example.task, example.features, tuple(-label for label in example.labels), -example.outcome
        )
        if example.task == own.task
        else example
        for example in examples
    ]
    before, after = (train(rows, seed=5)[0] for rows in (examples, turned))
    begins = np.arange(STEPS) == 0
    for mine, theirs in zip(before.models(own.task), after.models(own.task), strict=True):
        rows = np.random.default_rng(1).normal(size=(STEPS, mine.rows.shape[1]))
        assert (mine.probabilities(rows, begins) == theirs.probabilities(rows, begins)).all()
        assert mine.trust == theirs.trust > 0
    everything, changed = before.models("another")[0], after.models("another")[0]
    said, now = (one.probabilities(own.features, begins) for one in (everything, changed))
    assert not np.allclose(said, now)


def test_digest_changes_with_everything_a_training_depends_on() -> None:
    examples = examples_of(*data(1, signal=1.0))
    first = digest(examples, seed=5)
    one = examples[0]
    features = one.features.copy()
    features[0, 0] += 0.001
    others = [
        digest(examples, seed=6),
        digest(examples[1:], seed=5),
        digest([TrainingExample(one.task, features, one.labels, one.outcome), *examples[1:]], seed=5),
        digest([TrainingExample(one.task, one.features, (0, 0, 0, 0), one.outcome), *examples[1:]], seed=5),
        digest([TrainingExample("other", one.features, one.labels, one.outcome), *examples[1:]], seed=5),
    ]
    assert len({first, *others}) == 6
    assert digest(list(examples), seed=5) == first


def test_task_is_known_by_its_question_wherever_it_stands() -> None:
    assert task_of("Who  built it?\n", "a") == task_of("who built it?", "b")
    assert task_of("Who built it?", "a") != task_of("Who paid for it?", "a")
    assert (task_of(" ", "task 7"), task_of("\ud800", "x")[:8]) == ("task 7", "question")


# ── Reasons ───────────────────────────────
def explained(rows: Floats, labels: Ints, at: int, value: int) -> str:
    """The reason of a label of one row, which begins a trajectory as all of them do."""
    begins = np.ones(len(rows), dtype=np.bool_)
    grown = grow(rows, labels, begins, seed=1, alive=lambda: None)
    assert isinstance(grown, Forest)
    evidence = Evidence(grown, rows)
    (weights,) = evidence.of(rows[at : at + 1], begins[:1], np.array([value]))
    return reason(weights, rows[at], evidence.mean)


def test_reasons_name_the_strongest_figures_and_say_only_what_is_so() -> None:
    rng = np.random.default_rng(2)
    rows = np.zeros((200, len(FEATURES)))
    error = rng.integers(0, 2, size=200)
    rows[:, FEATURES.index("result_error")] = error
    rows[:, FEATURES.index("ordinal")] = rng.normal(size=200)
    labels = np.where(error, -1, 1)
    bad, good = int(error.argmax()), int(error.argmin())
    assert explained(rows, labels, bad, -1).startswith("The tool result reports an error.")
    assert "error" not in explained(rows, labels, good, 1)
    assert explained(rows, np.ones(200, dtype=np.int64), bad, 1).startswith("Nothing in the step stands out")


def test_evidence_is_the_change_of_log_odds_when_a_figure_is_not_known() -> None:
    """Worked out by hand for two figures of two values, each as frequent."""
    values = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
    ratio = {0: (math.log(0.2 / 0.6), math.log(0.8 / 0.4)), 1: (math.log(0.7 / 0.5), math.log(0.3 / 0.5))}

    class Bayes(Forest):
        """Says +1 with the odds of both figures together, and −1 otherwise."""

        def given(self, rows: Floats, before: Floats) -> Floats:
            odds = np.exp([sum(ratio[at][int(one)] for at, one in enumerate(row)) for row in rows])
            return np.column_stack([1 / (1 + odds), np.zeros(len(rows)), odds / (1 + odds)])

    model = Bayes(trees=(object(),), known=np.array([True, False, True]), shares=np.ones(3) / 3)
    found = Evidence(model, values).of(values, np.ones(4, dtype=np.bool_), np.ones(4, dtype=np.int64))
    odds = np.exp([[ratio[0][a] + ratio[1][b] for b in (0, 1)] for a in (0, 1)])
    for row, (a, b) in zip(found, values.astype(int), strict=True):
        unknown = (odds[:, b] / (1 + odds[:, b])).mean()
        assert row[0] == pytest.approx(math.log(odds[a, b]) - math.log(unknown / (1 - unknown)))
        assert (row > 0).tolist() == [ratio[0][a] > 0, ratio[1][b] > 0]


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


SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}


def call(query: Any = "lighthouse engineer", name: str = "search") -> dict[str, Any]:
    return {
        "id": "c",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps({"query": query})},
    }


def assistant(content: str = "", *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tool(content: str) -> dict[str, Any]:
    return {"role": "tool", "content": content}


USER = {"role": "user", "content": "Which engineer built the lighthouse of Skellan?"}


ON = {"role": "user", "content": "On."}


def figures(*messages: dict[str, Any], question: str = "") -> list[dict[str, float]]:
    rows = step_features(JudgeInput(question, [USER, *messages], tools=[SEARCH]))
    return [dict(zip(FEATURES, row, strict=True)) for row in rows.tolist()]


def test_features_have_one_row_for_each_step() -> None:
    material = JudgeInput("", [USER, assistant("a"), assistant("b"), tool("c"), assistant("d")])
    rows = step_features(material)
    assert rows.shape == (len(material.steps), len(FEATURES)) == (3, len(FEATURES))
    assert np.isfinite(rows).all() and rows.dtype == np.float64
    assert run_features(rows).shape == (2 * len(FEATURES),)


def test_errors_of_tools_are_seen_and_remembered() -> None:
    first, second = figures(
        assistant("", call()), tool('{"error": "HTTP 404"}'), assistant("", call("again")), tool("Marchbanks")
    )
    assert (first["result_error"], first["errors_before"], second["result_error"]) == (1, 0, 0)
    assert (second["error_just_before"], second["errors_before"]) == (1, math.log1p(1))


@pytest.mark.parametrize(
    "text",
    [
        "Error: x",
        "404 not found",
        "HTTP 503",
        "status: 500",
        "Traceback (most recent call last)",
        "Timed out",
    ],
)
def test_features_know_what_reports_an_error(text: str) -> None:
    assert is_error(text)
    assert not is_error("Built in 1404 by a mason, with 500 men." + " " * 400 + text)


@pytest.mark.parametrize("text", ["", " ", "[]", "{}", '{"result": []}', "null", "No results found."])
def test_features_know_what_is_empty(text: str) -> None:
    assert is_empty(text) and not is_empty(f"{text} Marchbanks")


def test_calls_that_are_repeated_or_break_their_schema() -> None:
    first, second, third, fourth = figures(
        assistant("", call()),
        tool("x"),
        assistant("", call()),
        tool("x"),
        assistant("", {"function": {"name": "search", "arguments": "{broken"}}),
        tool("y"),
        assistant("", call(7), call("else", name="fly")),
    )
    assert (first["repeated_call"], second["repeated_call"], second["similar_call"]) == (0, 1, 1)
    assert (second["result_seen"], second["same_tool"], first["same_tool"]) == (1, 1, 0)
    assert (third["broken_call"], third["repeats_before"]) == (1, math.log1p(1))
    # a number where a text is asked for, and an unknown tool
    assert (fourth["call_problems"], fourth["parallel"], fourth["no_result"]) == (math.log1p(2), 1, 1)


def test_features_of_answers_and_what_they_rest_on() -> None:
    _, seen, unseen = figures(
        assistant("", call()),
        tool("It was Marchbanks, in 1871."),
        assistant("<answer>Marchbanks</answer> 1871"),
        assistant("<answer>Hale</answer> 1902"),
    )
    assert (seen["answers"], seen["answer_unseen"], seen["unseen_names"], seen["unseen_numbers"]) == (
        1,
        0,
        0,
        0,
    )
    assert (unseen["answer_unseen"], unseen["unseen_names"], unseen["unseen_numbers"]) == (1, 1, 1)


def test_features_of_the_task_are_without_what_the_user_says_later() -> None:
    later = {"role": "user", "content": "Then rename the parchment."}
    whole = USER["content"] + "\n\n" + later["content"]
    first, second = figures(assistant("parchment", call()), later, assistant("parchment"), question=whole)
    assert first["text_on_question"] == 0 and second["text_on_question"] > 0
    assert (first["after_user_turn"], second["after_user_turn"], second["user_turns"]) == (
        0,
        1,
        math.log1p(1),
    )


MESSAGES = st.lists(
    st.one_of(
        st.builds(assistant, st.text(max_size=30), st.builds(call, st.text(max_size=20))),
        st.builds(assistant, st.sampled_from(["<answer>Hale 7</answer>", "Is it Skellan?", "Sorry."])),
        st.builds(tool, st.sampled_from(["Error: no", "[]", "Skellan 1871", "engineer of the lighthouse"])),
        st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=20)),
        st.just({"role": "assistant", "content": None, "tool_calls": "odd"}),
        st.just(None),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(MESSAGES, MESSAGES, MESSAGES)
def test_features_are_changed_by_nothing_later(
    before: list[Any], later: list[Any], instead: list[Any]
) -> None:
    """Whatever comes after a step and its own results: other messages, or none."""
    shared = [
        USER,
        *before,
        assistant("Hale", call()),
        tool("Marchbanks"),
        {"role": "user", "content": "On."},
    ]
    question = "Which engineer built it? On."
    rows = [
        step_features(JudgeInput(question, [*shared, *end], tools=[SEARCH])) for end in (later, instead, [])
    ]
    n = len(rows[2])
    assert n >= 1
    assert (rows[0][:n] == rows[2]).all() and (rows[1][:n] == rows[2]).all()
    assert np.isfinite(rows[0]).all()
    # and a step's own results are the last that count
    cut = step_features(JudgeInput(question, shared[:-1], tools=[SEARCH]))
    assert (cut == rows[2]).all()
