"""Summaries over pairs and tasks: means, bootstrap intervals, figures of the published predictions."""

import json
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.core.agreement import LabelTable, at_least, pair_up, summarise
from annotation.core.agreement.bootstrap import interval, task_weights
from annotation.core.agreement.confusion import confusion
from annotation.core.agreement.kappa import kappa_values
from annotation.core.agreement.summary import Figures
from annotation.services.consensus import SubmittedLabels

DATA = Path(__file__).parents[3] / "shared" / "data" / "agentprocessbench"
PREDICTIONS = {
    "GPT-5.2": "GPT-5.2/hotpotqa__blind_gpt-5.2.jsonl",
    "DeepSeek-V3.2": "DeepSeek-V3.2/hotpotqa__blind_deepseek-chat.jsonl",
}

# --- pairs and summaries ---------------------------------------------------------------------------------


def table(*rows: tuple[int, int, int, int]) -> LabelTable:
    """Rows (trajectory, position, annotator, value); every trajectory is a task of its own, one subset."""
    return LabelTable.of([(t, p, who, value, t, 0) for t, p, who, value in rows])


def test_summary_of_three_annotators_has_three_pairs() -> None:
    pairs = pair_up(table((7, 0, 30, 1), (7, 0, 10, -1), (7, 0, 20, 0)))
    rows = sorted(zip(map(tuple, pairs.pair_ids[pairs.pair].tolist()), pairs.a, pairs.b, strict=True))
    assert rows == [((10, 20), -1, 0), ((10, 30), -1, 1), ((20, 30), 0, 1)]


def test_step_that_one_person_labelled_makes_no_pair() -> None:
    pairs = pair_up(table((1, 0, 10, 1), (1, 1, 20, 1), (2, 0, 10, 1)))
    assert len(pairs) == pairs.n_pairs == pairs.n_tasks == pairs.n_trajectories == 0


def test_summary_refuses_two_labels_of_one_person_for_one_step() -> None:
    with pytest.raises(ValueError, match="two labels for one step"):
        pair_up(table((1, 0, 10, 1), (1, 0, 10, 0)))


def test_headline_is_the_mean_over_pairs_weighted_by_n() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for t in range(40):
        for who in ((1, 2), (2, 3), (1, 3))[t % 3]:
            rows += [(t, p, who, int(rng.integers(-1, 2))) for p in range(1 + t % 4)]
    summary = summarise(table(*rows))
    assert [(p.first, p.second) for p in summary.pairs] == [(1, 2), (1, 3), (2, 3)]
    for name in ("kappa", "kappa_linear", "kappa_error", "transition", "agreement", "error_presence"):
        measures = [getattr(pair.figures, name) for pair in summary.pairs]
        mean = sum(x.value * x.n for x in measures) / sum(x.n for x in measures)
        assert getattr(summary.figures, name).value == pytest.approx(mean)
    assert (summary.confusion == sum(pair.confusion for pair in summary.pairs)).all()
    assert summary.n == sum(pair.n for pair in summary.pairs) == summary.confusion.sum()


def test_figures_without_people_have_no_pairs_and_tables_that_do_not_say_who_said_what() -> None:
    summary = summarise(many(30))
    bare = summary.without_people()
    assert bare.pairs == () and (bare.confusion == bare.confusion.T).all()
    assert bare.confusion.sum() == 2 * summary.n and (summary.confusion != summary.confusion.T).any()
    assert bare.figures == summary.figures


def test_at_least_leaves_out_pairs_that_share_too_few_until_none_is_left_over() -> None:
    def shared(who: tuple[int, ...], how_many: int, start: int, subset: int) -> list[tuple[int, ...]]:
        return [(start + t, 0, one, 1, start + t, subset) for t in range(how_many) for one in who]

    kept = shared((1, 2), 5, 0, 0)
    few = [*shared((1, 2), 4, 10, 1), *shared((1, 3), 4, 20, 0), *shared((4,), 9, 30, 0)]
    # 1, 5 and 6 share five, but one of them only with 2, who shares that one alone with 5 and 6
    chain = [*shared((1, 5, 6), 4, 40, 0), *shared((1, 2, 5, 6), 1, 50, 0)]
    left = at_least(LabelTable.of([*few, *kept, *chain]), 5)
    assert set(left.trajectory.tolist()) == set(range(5)) and set(left.annotator.tolist()) == {1, 2}
    assert len(at_least(LabelTable.of([]), 5)) == len(at_least(LabelTable.of(few), 5)) == 0


def test_pair_without_the_figure_is_left_out_of_the_mean() -> None:
    rows = [(0, p, who, 1) for p in range(3) for who in (1, 2)]  # κ of 1 and 2 is undefined
    rows += [(1, 0, 1, 1), (1, 0, 3, 1), (1, 1, 1, -1), (1, 1, 3, -1)]
    summary = summarise(table(*rows))
    assert summary.pairs[0].figures.kappa.reason == "both annotators used one label only"
    assert summary.figures.kappa.value == pytest.approx(1.0)


def test_summary_of_no_labels_has_no_figures() -> None:
    summary = summarise(LabelTable.of([]), rng=np.random.default_rng(0))
    assert summary.n == summary.n_tasks == 0 and summary.pairs == ()
    for field in fields(Figures):
        measure = getattr(summary.figures, field.name)
        assert measure.value is None and measure.reason and measure.n == 0
        assert measure.interval is not None and measure.interval.low is None
    assert summary.alpha.value is None and (summary.confusion == 0).all()


def many(n_tasks: int, n_subsets: int = 2, seed: int = 3) -> LabelTable:
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n_tasks):
        for p in range(5):
            truth = int(rng.integers(-1, 2))
            for who in (1, 2):
                value = truth if rng.random() < 0.8 else int(rng.integers(-1, 2))
                rows.append((t, p, who, value, t, t % n_subsets))
    return LabelTable.of(rows)


def test_interval_holds_the_figure_and_repeats_with_its_seed() -> None:
    labels = many(40)
    one, two = (summarise(labels, rng=np.random.default_rng(1)) for _ in range(2))
    assert one.figures == two.figures and one.alpha == two.alpha
    for measure in (one.figures.kappa, one.figures.agreement, one.figures.transition, one.alpha):
        assert measure.interval.low < measure.value < measure.interval.high


def test_interval_needs_twenty_tasks() -> None:
    kappa = summarise(many(19), rng=np.random.default_rng(1)).figures.kappa
    assert kappa.value is not None
    assert (kappa.interval.low, kappa.interval.reason) == (None, "an interval needs at least 20 tasks")
    assert summarise(many(20), rng=np.random.default_rng(1)).figures.kappa.interval.low is not None


def test_interval_needs_chance() -> None:
    assert summarise(many(30)).figures.kappa.interval.reason == "no interval was asked for"


def test_tasks_are_drawn_within_their_subset() -> None:
    subsets = np.array([1, 1, 1, 7, 7, 9])
    weights = np.concatenate(list(task_weights(subsets, np.random.default_rng(2), 250)))
    assert weights.shape == (250, 6)
    for subset, size in ((1, 3), (7, 2), (9, 1)):
        assert (weights[:, subsets == subset].sum(axis=1) == size).all()
    assert weights[:, 0].mean() == pytest.approx(1, abs=0.15)


def test_interval_that_rests_on_too_few_defined_resamples_is_none() -> None:
    assert interval([0.1, 0.2, np.nan, np.nan], 40).reason == "it is undefined in too many of the resamples"


def test_bootstrap_agrees_with_resampling_the_steps_themselves() -> None:
    labels = many(25, n_subsets=1)
    fast = summarise(labels, rng=np.random.default_rng(8)).figures.kappa.interval
    pairs = pair_up(labels)
    rng, values = np.random.default_rng(9), []
    for _ in range(1000):
        rows = np.concatenate([np.flatnonzero(pairs.task == t) for t in rng.integers(0, 25, 25)])
        values.append(float(kappa_values(confusion(pairs.a[rows], pairs.b[rows]))))
    low, high = np.quantile(values, [0.025, 0.975])
    assert (fast.low, fast.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))


def test_summary_of_a_large_project_takes_less_than_a_second() -> None:
    rng = np.random.default_rng(4)
    n = 8509
    trajectory = np.repeat(np.arange(1000), 9)[:n]
    position = np.concatenate([np.arange(9)] * 1000)[:n]
    rows = [
        np.column_stack([trajectory, position, np.full(n, who), rng.integers(-1, 2, n), trajectory // 5,
                         trajectory % 4])
        for who in (1, 2)
    ]  # fmt: skip
    labels = LabelTable.of(np.concatenate(rows))
    start = time.process_time()  # our own work: a busy machine is not a finding
    summarise(labels, rng=rng)
    assert time.process_time() - start < 1.0


# --- the published predictions ---------------------------------------------------------------------------


def published() -> tuple[list[list[int]], list[list[dict[int, int]]], list[list[int]]]:
    """Rows of GPT-5.2 (1) and DeepSeek-V3.2 (2) on HotpotQA; by trajectory, the labels and outcomes."""
    records = [json.loads(line) for line in (DATA / "hotpotqa.jsonl").read_text("utf-8").splitlines()]
    rows: list[list[int]] = []
    labels: list[list[dict[int, int]]] = [[] for _ in records]
    outcomes: list[list[int]] = [[] for _ in records]
    for who, name in enumerate(PREDICTIONS.values(), start=1):
        newest: dict[str, dict] = {}
        for line in (DATA / "predictions" / name).read_text("utf-8").splitlines():
            judged = json.loads(line)
            known = newest.get(judged["record_id"])
            if known is None or judged["updated_at"] >= known["updated_at"]:
                newest[judged["record_id"]] = judged
        for number, record in enumerate(records):
            key = f"{record['data_source']}:{record['query_index']}:{record['sample_index']}"
            given = {int(i): v for i, v in newest[key]["step_labels"].items()}
            labels[number].append(given)
            outcomes[number].append(newest[key]["final_label"])
            for position, index in enumerate(sorted(given)):
                rows.append([number, position, who, given[index], record["query_index"], 0])
    return rows, labels, outcomes


@pytest.mark.published
def test_summary_has_the_published_figures() -> None:
    rows, labels, outcomes = published()
    summary = summarise(LabelTable.of(rows), rng=np.random.default_rng(0))
    figures = summary.figures
    assert (summary.n, summary.n_trajectories, summary.n_tasks) == (734, 250, 50)
    assert round(figures.agreement.value, 4) == 0.7670
    assert round(figures.kappa.value, 4) == 0.4964
    assert round(figures.kappa_linear.value, 4) == 0.5432
    assert round(figures.kappa_quadratic.value, 4) == 0.5869
    assert (round(figures.transition.value, 4), figures.transition.n) == (0.5425, 616)
    assert figures.kappa.interval.low < 0.4964 < figures.kappa.interval.high

    a = [r[3] for r in rows if r[2] == 1]
    b = [r[3] for r in rows if r[2] == 2]
    assert figures.kappa.value == pytest.approx(cohen_kappa_score(a, b))
    errors = cohen_kappa_score([x == -1 for x in a], [x == -1 for x in b])
    assert figures.kappa_error.value == pytest.approx(errors)
    found = [[min((i for i, v in given.items() if v == -1), default=None) for given in two] for two in labels]
    presence = cohen_kappa_score([f[0] is not None for f in found], [f[1] is not None for f in found])
    assert figures.error_presence.value == pytest.approx(presence)
    both = [f for f in found if None not in f]
    assert figures.first_error.n == len(both)
    assert figures.first_error.value == pytest.approx(sum(x == y for x, y in both) / len(both))

    submitted = [
        SubmittedLabels({step: (two[0][step], two[1][step]) for step in two[0]}, tuple(finals))
        for two, finals in zip(labels, outcomes, strict=True)
    ]
    assert [one.unanimous for one in submitted].count(True) == 158
