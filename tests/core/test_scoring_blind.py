"""The blind human: each labelling held against what others said and an adjudicator decided, and pooled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from annotation.core.scoring import ReleasedLabels
from annotation.core.scoring.blind import BlindLabellings, human_scores, packed_blind


def record(query: int, labels: list[int], *blind: list[int | None], decided: str = "") -> dict[str, Any]:
    """A trajectory, its consensus, and what people said of its steps, the last of them also of the outcome;
    `decided`: a letter for each step and one for the outcome, "a" where an adjudicator decided."""
    indexes = [str(2 * at + 2) for at in range(len(labels))]
    kinds = ["adjudicated" if one == "a" else "unanimous" for one in decided.ljust(len(labels) + 1, "-")]
    return {
        "record_id": f"one:{query}:0",
        "subset": "one",
        "task_key": f"t{query}",
        "query_index": query,
        "sample_index": 0,
        "step_labels": dict(zip(indexes, labels, strict=True)),
        "step_kinds": dict(zip(indexes, kinds, strict=False)),
        "final_label": 1,
        "final_kind": kinds[-1],
        "blind_labels": [
            {
                "annotator": f"annotator-{at + 1}",
                "step_labels": dict(zip(indexes, given, strict=True)),
                "final_label": given[-1],
            }
            for at, given in enumerate(blind)
        ],
    }


def scored(
    records: list[dict[str, Any]], *, decisions: bool = True
) -> tuple[dict[str, tuple[float | None, float]], int, int] | None:
    """Figures with their n; how many trajectories and labellings they are of."""
    released = ReleasedLabels.of(records)
    found = BlindLabellings.unpacked(packed_blind(released, records), released)
    human = human_scores(released, found, np.ones(released.n_records, dtype=bool), decisions=decisions)
    if human is None:
        return None
    assert human_scores(released, found, np.zeros(released.n_records, dtype=bool)) is None
    figures = {name: (one.value, one.n) for name, one in human[0].figures.items()}
    return figures, human[0].records, human[1]


def test_blind_human_is_held_against_the_other_and_never_against_themselves() -> None:
    records = [
        # they discussed, and the first gave way: each is held against what the other had said
        record(0, [1, 1], [1, -1], [1, 1]),
        record(1, [1, -1], [-1, 1]),  # one person alone
        record(2, [-1, 1], [-1, 1], [-1, 1]),
        record(3, [1]),
    ]
    found = scored(records)
    assert found is not None
    figures, trajectories, labellings = found
    assert (trajectories, labellings) == (2, 4)
    # 1 of 2 each, twice; 2 of 2 each, twice
    assert figures["step_accuracy"] == (6 / 8, 8)
    assert figures["first_error_accuracy"][0] == figures["outcome_accuracy"][0] == 2 / 4
    assert found == scored(records, decisions=False), "nothing was decided"


def test_blind_human_is_held_against_what_an_adjudicator_decided() -> None:
    # step 2: the first is right; the outcome: neither had said what was decided
    records = [record(0, [1, -1], [1, -1], [1, 0], decided="-aa")]
    with_decisions, by_others = scored(records), scored(records, decisions=False)
    assert with_decisions is not None and by_others is not None
    assert with_decisions[0]["step_accuracy"] == (3 / 4, 4)
    assert with_decisions[0]["first_error_accuracy"] == (1 / 2, 2)
    assert with_decisions[0]["outcome_accuracy"] == (0, 2)
    assert by_others[0]["step_accuracy"] == (2 / 4, 4)
    assert by_others[0]["first_error_accuracy"] == (0, 2)


def test_blind_human_of_three_is_held_against_each_of_the_others_who_said_everything() -> None:
    records = [record(0, [1, 1], [1, 1], [1, 0], [1, None])]
    found = scored(records)
    assert found is not None
    figures, trajectories, labellings = found
    # four of six comparisons have a whole reference, and each of them 1 of 2
    assert (trajectories, labellings) == (1, 3)
    assert figures["step_accuracy"] == (4 / 8, 8)


def test_blind_human_of_people_who_err_alone_lies_between_its_two_figures() -> None:
    """With an adjudicator who is always right, the true share is 90 %."""
    rng = np.random.default_rng(3)
    records = []
    for task in range(400):
        one, other = (np.where(rng.random(10) < 0.1, rng.choice([-1, 0], 10), 1).tolist() for _ in range(2))
        # nobody decides what both say, though it be wrong
        consensus = [a if a == b else 1 for a, b in zip(one, other, strict=True)]
        decided = "".join("-" if a == b else "a" for a, b in zip(one, other, strict=True))
        records.append(record(task, consensus, one, other, decided=decided))
    with_decisions, by_others = scored(records), scored(records, decisions=False)
    assert with_decisions is not None and by_others is not None
    high, low = with_decisions[0]["step_accuracy"][0], by_others[0]["step_accuracy"][0]
    assert high == pytest.approx(0.9 + 0.1**2 / 2, abs=0.012)
    assert low == pytest.approx(0.9**2 + 0.1**2 / 2, abs=0.012)


def test_blind_human_needs_two_people_somewhere() -> None:
    records = [record(0, [1, 1], [1, 1]), record(1, [1])]
    assert packed_blind(ReleasedLabels.of(records), records) == b""
    assert scored(records) is None
