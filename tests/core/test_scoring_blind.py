"""The blind human: pooled labellings of what at least two people labelled, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from annotation.core.scoring import ReleasedLabels
from annotation.core.scoring.blind import human_scores, packed_blind, read_blind


def record(query: int, labels: list[int], *blind: list[int | None]) -> dict[str, Any]:
    indexes = [str(2 * at + 2) for at in range(len(labels))]
    return {
        "record_id": f"one:{query}:0",
        "subset": "one",
        "task_key": f"t{query}",
        "query_index": query,
        "sample_index": 0,
        "step_labels": dict(zip(indexes, labels, strict=True)),
        "final_label": 1,
        "blind_labels": [
            {
                "annotator": f"annotator-{at + 1}",
                "step_labels": dict(zip(indexes, given, strict=True)),
                "final_label": given[-1],
            }
            for at, given in enumerate(blind)
        ],
    }


def test_blind_human_is_the_pool_of_all_labellings_where_two_labelled() -> None:
    records = [
        record(0, [1, 1], [1, 1], [1, -1]),
        record(1, [1, -1], [-1, 1]),  # one person alone
        record(2, [0, -1, 1], [0, -1, 1], [0, -1, None], [1, 1, 1]),
        record(3, [1]),
    ]
    released = ReleasedLabels.of(records)
    turns = read_blind(packed_blind(released, records), released)
    assert len(turns) == 3
    everything = np.ones(released.n_records, dtype=bool)
    found = human_scores(released, turns, everything)
    assert found is not None
    scores, labellings = found
    assert (labellings, scores.records, scores.tasks) == (5, 2, 2)
    # 2 + 1 of 2 + 2 steps; 3 + 2 + 1 of 3 + 3 + 3
    figure = scores.figures["step_accuracy"]
    assert (figure.n, figure.value) == (13, 9 / 13)
    # first errors: none, 4 against none; 4, 4, none against 4
    assert scores.figures["first_error_accuracy"].value == 3 / 5
    assert scores.figures["outcome_accuracy"].value == 3 / 5
    assert human_scores(released, turns, ~everything) is None


def test_blind_human_needs_two_people_somewhere() -> None:
    records = [record(0, [1, 1], [1, 1]), record(1, [1])]
    released = ReleasedLabels.of(records)
    assert packed_blind(released, records) == b""
    assert human_scores(released, read_blind(b"", released), np.ones(2, dtype=bool)) is None
