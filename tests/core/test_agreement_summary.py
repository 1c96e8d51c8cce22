"""Summaries over pairs and tasks: means over pairs, figures of the published predictions."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.core.agreement import LabelTable, at_least, count_outcomes, count_steps, pair_up, summarise
from annotation.core.agreement.figures import FIGURES, OUTCOME_FIGURES, tables
from annotation.core.agreement.pair_sums import PairSums
from annotation.core.figures.kappa import Weights, kappa_values
from annotation.services.consensus import SubmittedLabels

DATA = Path(__file__).parents[3] / "shared" / "data" / "agentprocessbench"
PREDICTIONS = {
    "GPT-5.2": "GPT-5.2/hotpotqa__blind_gpt-5.2.jsonl",
    "DeepSeek-V3.2": "DeepSeek-V3.2/hotpotqa__blind_deepseek-chat.jsonl",
}

# --- pairs and summaries ---------------------------------------------------------------------------------


def table(*rows: tuple[int, int, int, int]) -> LabelTable:
    """Rows (trajectory, position, annotator, value); every trajectory is a task of its own, one subset."""
    return LabelTable.of([(t, p, who, value, t, 0, 1 + t % 4) for t, p, who, value in rows])


def test_summary_of_three_annotators_has_three_pairs() -> None:
    pairs = pair_up(table((7, 0, 30, 1), (7, 0, 10, -1), (7, 0, 20, 0)))
    rows = sorted(zip(map(tuple, pairs.pair_ids[pairs.pair].tolist()), pairs.a, pairs.b, strict=True))
    assert rows == [((10, 20), -1, 0), ((10, 30), -1, 1), ((20, 30), 0, 1)]


def test_step_that_one_person_labelled_makes_no_pair() -> None:
    pairs = pair_up(table((1, 0, 10, 1), (1, 1, 20, 1), (2, 0, 10, 1)))
    assert len(pairs) == len(pairs.pair_ids) == len(pairs.task_ids) == len(pairs.trajectory_ids) == 0


def test_summary_refuses_two_labels_of_one_person_for_one_step() -> None:
    with pytest.raises(ValueError, match="two labels for one step"):
        pair_up(table((1, 0, 10, 1), (1, 0, 10, 0)))


def test_headline_is_the_mean_over_pairs_weighted_by_n() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for t in range(40):
        for who in ((1, 2), (2, 3), (1, 3))[t % 3]:
            rows += [(t, p, who, int(rng.integers(-1, 2))) for p in range(1 + t % 4)]
    summary = summarise(count_steps(table(*rows)))
    assert [(p.first, p.second) for p in summary.pairs] == [(1, 2), (1, 3), (2, 3)]
    for name, figure in FIGURES.items():
        if figure.pooled:
            continue
        measures = [pair.figures[name] for pair in summary.pairs]
        mean = sum(x.value * x.n for x in measures) / sum(x.n for x in measures)
        assert summary.figures[name].value == pytest.approx(mean)
    of_pairs = sum(pair.confusion for pair in summary.pairs)
    assert (summary.confusion == of_pairs + of_pairs.T).all()
    assert summary.n == sum(pair.n for pair in summary.pairs) == of_pairs.sum()


def test_headline_is_kappa_for_two_annotators_and_alpha_for_more() -> None:
    two, three = table((1, 0, 1, 1), (1, 0, 2, 0)), table((1, 0, 1, 1), (1, 0, 2, 0), (1, 0, 3, 0))
    assert summarise(count_steps(two)).headline == "kappa"
    assert summarise(count_steps(three)).headline == "alpha"
    apart = table((1, 0, 1, 1), (1, 0, 2, 0), (2, 0, 2, 1), (2, 0, 3, 0))
    assert summarise(count_steps(apart)).headline == "alpha"


def test_summary_counts_trajectories_and_units_once_however_many_annotators_they_have() -> None:
    rows = [(t, p, who, 1 if who else p - 1) for t in range(3) for p in range(1 + t) for who in range(2 + t)]
    summary = summarise(count_steps(table(*rows)))
    assert (summary.n_trajectories, summary.figures["alpha"].n, summary.n) == (3, 6, 1 + 2 * 3 + 3 * 6)


def test_outcomes_have_the_figures_that_need_no_sequence_of_steps() -> None:
    rows = [(t, 0, who, (-1, 1, 1)[(t + who) % 3], t, 0, 1) for t in range(6) for who in (1, 2, 3)]
    summary = summarise(count_outcomes(LabelTable.of(rows)))
    assert set(summary.figures) == set(OUTCOME_FIGURES) and summary.offsets is None
    assert not [name for name in summary.figures if "first" in name or "onset" in name or "trans" in name]
    of_steps = summarise(count_steps(LabelTable.of(rows))).figures
    assert summary.figures == {name: of_steps[name] for name in OUTCOME_FIGURES}
    assert (summary.n_trajectories, summary.n) == (6, 18)


def test_figures_without_people_have_no_pairs() -> None:
    summary = summarise(count_steps(many(30)))
    bare = summary.without_people()
    assert bare.pairs == () and (bare.confusion == bare.confusion.T).all()
    assert bare.confusion.sum() == 2 * summary.n and bare.figures == summary.figures


def test_pair_of_three_annotators_has_the_figures_of_a_project_of_two() -> None:
    rows = [
        (t, p, who, (t * p + who * t) % 3 - 1)
        for t in range(8)
        for p in range(1 + t % 4)
        for who in (1, 2, 3)
    ]
    pair = summarise(count_steps(table(*rows))).pairs[0]
    assert (pair.first, pair.second) == (1, 2)
    alone = summarise(count_steps(table(*(row for row in rows if row[2] != 3))), with_intervals=False)
    assert pair.figures == alone.pairs[0].figures and pair.figures["alpha"] == alone.figures["alpha"]


def test_at_least_leaves_out_pairs_that_share_too_few_until_none_is_left_over() -> None:
    def shared(who: tuple[int, ...], how_many: int, start: int, subset: int) -> list[tuple[int, ...]]:
        return [(start + t, 0, one, 1, start + t, subset, 1) for t in range(how_many) for one in who]

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
    summary = summarise(count_steps(table(*rows)))
    assert summary.pairs[0].figures["kappa"].reason == "both annotators used one label only"
    assert summary.figures["kappa"].value == pytest.approx(1.0)


@pytest.mark.parametrize("count", [count_steps, count_outcomes])
def test_summary_of_no_labels_has_no_figures(count) -> None:
    summary = summarise(count(LabelTable.of([])))
    assert summary.n == summary.n_tasks == summary.n_annotators == 0 and summary.pairs == ()
    for measure in summary.figures.values():
        assert measure.value is None and measure.reason.startswith("there ") and measure.n == 0
        assert measure.interval is not None and measure.interval.low is None
    assert (summary.confusion == 0).all()


def many(n_tasks: int, n_subsets: int = 2, seed: int = 3) -> LabelTable:
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(n_tasks):
        for p in range(5):
            truth = int(rng.integers(-1, 2))
            for who in (1, 2):
                value = truth if rng.random() < 0.8 else int(rng.integers(-1, 2))
                rows.append((t, p, who, value, t, t % n_subsets, 5))
    return LabelTable.of(rows)


def test_kappas_of_pairs_are_scikit_learns_on_random_tables_with_missing_labels() -> None:
    rng = np.random.default_rng(12)
    for _ in range(400):
        annotators, n_tasks = int(rng.integers(2, 26)), int(rng.integers(1, 12))
        labels = rng.choice([-1, 0, 1], p=rng.dirichlet([1, 1, 1]), size=(n_tasks * 3, annotators))
        there = rng.random(labels.shape) < rng.uniform(0.2, 1)
        step, who = np.nonzero(there)
        columns = [step // 3, step % 3, who, labels[there], step // 3, step // 3 % 2, np.full(len(step), 3)]
        counts = count_steps(LabelTable.of(np.column_stack(columns)))
        found = tables(PairSums.of(counts).totals())
        pairs = sorted(set(zip(counts.first.tolist(), counts.second.tolist(), strict=True)))
        for pair, (first, second) in enumerate(pairs[:3]):
            both = there[:, first] & there[:, second]
            a, b = labels[both, first], labels[both, second]
            assert found[pair].sum() == both.sum()
            for weights in get_args(Weights):
                mine = kappa_values(found[pair], weights)
                if len({*a, *b}) == 1:
                    assert np.isnan(mine)
                    continue
                name = None if weights == "plain" else weights
                theirs = cohen_kappa_score(a, b, labels=[-1, 0, 1], weights=name)
                assert mine == pytest.approx(theirs, abs=1e-9)


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
                rows.append([number, position, who, given[index], record["query_index"], 0, len(given)])
    return rows, labels, outcomes


@pytest.mark.published
def test_summary_has_the_published_figures() -> None:
    rows, labels, outcomes = published()
    summary = summarise(count_steps(LabelTable.of(rows)))
    figures = summary.figures
    assert (summary.n, summary.n_trajectories, summary.n_tasks) == (734, 250, 50)
    assert round(figures["percent_agreement"].value, 4) == 0.7670
    assert round(figures["kappa"].value, 4) == 0.4964
    assert round(figures["linear_kappa"].value, 4) == 0.5432
    assert round(figures["quadratic_kappa"].value, 4) == 0.5869
    assert (round(figures["transition_kappa"].value, 4), figures["transition_kappa"].n) == (0.5425, 616)
    assert figures["kappa"].interval.low < 0.4964 < figures["kappa"].interval.high

    a = [r[3] for r in rows if r[2] == 1]
    b = [r[3] for r in rows if r[2] == 2]
    assert figures["kappa"].value == pytest.approx(cohen_kappa_score(a, b))
    errors = cohen_kappa_score([x == -1 for x in a], [x == -1 for x in b])
    assert figures["error_kappa"].value == pytest.approx(errors)
    found = [[min((i for i, v in given.items() if v == -1), default=None) for given in two] for two in labels]
    presence = cohen_kappa_score([f[0] is not None for f in found], [f[1] is not None for f in found])
    assert figures["error_presence_kappa"].value == pytest.approx(presence)
    both = [f for f in found if None not in f]
    assert figures["first_error_agreement"].n == len(both)
    assert figures["first_error_agreement"].value == pytest.approx(sum(x == y for x, y in both) / len(both))

    submitted = [
        SubmittedLabels({step: (two[0][step], two[1][step]) for step in two[0]}, tuple(finals))
        for two, finals in zip(labels, outcomes, strict=True)
    ]
    assert [one.unanimous for one in submitted].count(True) == 158
