"""Rankings by single readers, and shifts by own suggestions, by hand and against scipy and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import accuracy_score

from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.blind import BlindLabellings, packed_blind
from annotation.core.scoring.robustness import by_reader, own_suggestions_shift

TASKS = 24


def record(query: int, consensus: list[int], given: dict[int, list[int]]) -> dict[str, Any]:
    indexes = [str(2 * at + 2) for at in range(len(consensus))]
    return {
        "record_id": f"one:{query}:0",
        "subset": "one",
        "task_key": f"t{query}",
        "query_index": query,
        "sample_index": 0,
        "step_labels": dict(zip(indexes, consensus, strict=True)),
        "step_kinds": dict.fromkeys(indexes, "unanimous"),
        "final_label": 1,
        "final_kind": "unanimous",
        "blind_labels": [
            {
                "annotator": f"annotator-{reader}",
                "step_labels": dict(zip(indexes, labels, strict=True)),
                "final_label": 1,
            }
            for reader, labels in given.items()
        ],
    }


def world(rng: np.random.Generator) -> tuple[ReleasedLabels, bytes, dict[int, dict[int, list[int]]]]:
    """Tasks of three steps; readers 2 and 5 label all of them blind, reader 3 the first ten, too."""
    given = {
        task: {reader: rng.integers(-1, 2, 3).tolist() for reader in (2, 3, 5) if reader != 3 or task < 10}
        for task in range(TASKS)
    }
    records = [record(task, rng.integers(-1, 2, 3).tolist(), given[task]) for task in range(TASKS)]
    released = ReleasedLabels.of(records)
    return released, packed_blind(released, records), given


def test_reader_ranks_models_by_their_own_labels_and_tau_is_scipys() -> None:
    rng = np.random.default_rng(3)
    released, packed, given = world(rng)
    models = [Predictions.constant(rng.integers(-1, 2, 3 * TASKS), released.outcome) for _ in range(5)]

    blind = BlindLabellings.unpacked(packed, released)
    found = by_reader(released, models, blind.turns, blind.readers)

    assert [(one.reader, one.records) for one in found] == [(2, TASKS), (3, 10), (5, TASKS)]
    assert str(found[1].tau.reason) == "fewer than 20 tasks"
    by_consensus = [accuracy_score(released.value, model.steps) for model in models]
    for one in (found[0], found[2]):
        labels = np.concatenate([given[task][one.reader] for task in range(TASKS)])
        own = [accuracy_score(labels, model.steps) for model in models]
        assert one.tau.value == pytest.approx(kendalltau(by_consensus, own).statistic)
        assert set(one.turned) == {
            (a, b)
            for a in range(5)
            for b in range(5)
            if by_consensus[a] > by_consensus[b] and own[a] < own[b]
        }
    assert [one.tau.value for one in by_reader(released, models[:2], blind.turns, blind.readers)] == [
        None
    ] * 3


def test_shift_is_what_a_model_gains_more_than_others_where_its_suggestions_were_seen() -> None:
    rng = np.random.default_rng(4)
    task = np.repeat(np.arange(60), 4)
    released = ReleasedLabels.of_steps(np.zeros_like(task), task, task, np.ones_like(task))
    seen = np.arange(60) < 30
    steps = [np.where(rng.random(240) < share, 1, -1) for share in (0.6, 0.5, 0.7)]
    steps[0][seen[task]] = np.where(rng.random(120) < 0.9, 1, -1)
    models = [Predictions.constant(one, released.outcome) for one in steps]

    found = own_suggestions_shift(released, models, 0, seen)

    def gain(one: np.ndarray) -> float:
        right = one == 1
        return float(right[seen[task]].mean() - right[~seen[task]].mean())

    assert found.value == pytest.approx(gain(steps[0]) - (gain(steps[1]) + gain(steps[2])) / 2)
    assert found.n == 120 and found.ends is not None and found.ends[0] > 0
    few = own_suggestions_shift(released, models, 0, np.arange(60) < 19)
    assert few.value is None and "fewer than 20 tasks" in str(few.reason)
    assert str(own_suggestions_shift(released, models[:1], 0, seen).reason) == "there is no other model"
