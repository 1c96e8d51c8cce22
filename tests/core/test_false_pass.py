"""Items that are proposed for a test, and the chance that it is passed by who should not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from annotation.core.training.choosing import Candidate, draw, propose, split
from annotation.core.training.false_pass import (
    TOO_LIKELY,
    Asked,
    always_plus,
    copied,
    false_pass,
    unreachable,
)
from annotation.core.training.marks import Labels, compare, marks
from tests.fixtures.published_labels import MODELS, predictions, released_labels

ASKED = Asked(0.8, 0.7, 0.6)
SOUND: Labels = {2: 1, 4: 1, None: 1}
FAULTY: Labels = {2: 1, 4: -1, None: -1}


def published_candidates(published: Path) -> list[Candidate]:
    """The 250 trajectories of HotpotQA with the human labels as keys, and what three models say of them."""
    released = released_labels(published)
    starts = released.starts()
    said = {model: predictions(published, model) for model in MODELS}

    def labels(at: int, steps: np.ndarray, outcome: np.ndarray) -> Labels:
        here = slice(starts[at], starts[at + 1])
        pairs = zip(released.message_index[here].tolist(), steps[here].tolist(), strict=True)
        known = {index: value for index, value in pairs if value in (-1, 0, 1)}
        return known | ({None: int(outcome[at])} if outcome[at] in (-1, 0, 1) else {})

    return [
        Candidate(
            at,
            labels(at, released.value, released.outcome),
            {model: labels(at, one.steps, one.outcome) for model, one in said.items()},
        )
        for at in range(len(released.record_id))
    ]


def items(candidates: Sequence[Candidate], judge: str) -> list[tuple[Labels, Labels]]:
    return [(one.key, copied(one.key, one.judges[judge])) for one in candidates]


@pytest.mark.published
def test_copying_a_judge_passes_no_test_of_proposed_items(published: Path) -> None:
    pool = published_candidates(published)
    chosen = [one for one in pool if one.trajectory in propose(pool, 10)]
    assert sum(one.error_share > 0 for one in chosen) == 5
    assert all(one.contested for one in chosen)
    for judge in MODELS:
        found = false_pass(items(chosen, judge), ASKED, size=10)
        assert not found.as_they_are
        assert found.chance < TOO_LIKELY
    plus = [(one.key, always_plus(one.key)) for one in chosen]
    assert false_pass(plus, ASKED, size=10, certain=True).high == 0.0


@pytest.mark.published
@pytest.mark.parametrize("judge", MODELS[:2])
def test_false_passes_of_copiers_are_within_the_intervals(published: Path, judge: str) -> None:
    """The chance on items that a test does not have, of tests with ten items drawn by chance."""
    pool = items(published_candidates(published), judge)
    rich = [one for one in pool if any(index is not None and one[0][index] == -1 for index in one[0])]
    free = [one for one in pool if one not in rich]
    chance = random.Random(28)

    def attempt() -> list[tuple[Labels, Labels]]:
        return chance.sample(rich, 5) + chance.sample(free, 5)

    passes = [ASKED.passed(marks(compare(said, key) for key, said in attempt())) for _ in range(800)]
    truth = sum(passes) / len(passes)
    found = [false_pass(attempt(), ASKED, size=10, seed=seed) for seed in range(12)]
    within = sum(one.low - 0.01 <= truth <= one.high + 0.01 for one in found)
    assert within >= 11


def test_proposal_is_half_and_half_without_judges() -> None:
    pool = [Candidate(pk, FAULTY if pk % 3 == 0 else SOUND) for pk in range(60)]
    chosen = propose(pool, 10, seed=7)
    assert chosen == propose(pool[::-1], 10, seed=7)
    assert sum(pk % 3 == 0 for pk in chosen) == 5
    # what one kind lacks, the other fills
    assert sum(pk % 3 == 0 for pk in propose(pool[:12], 10)) == 4
    assert len(propose(pool[:3], 10)) == 3


def test_contested_is_what_the_majority_has_wrong_on_a_third() -> None:
    right, wrong = {2: 1, 4: 1}, {2: -1, 4: 1}
    one = Candidate(1, SOUND, {"a": wrong, "b": wrong, "c": right})
    assert (one.misled, one.contested) == (0.5, True)
    assert not Candidate(1, SOUND, {"a": wrong, "b": right}).contested  # a tie misleads nobody


def test_draw_takes_what_was_met_least_and_keeps_the_proportion() -> None:
    pool = [(pk, pk < 10) for pk in range(30)]
    met = dict.fromkeys([*range(5), *range(10, 20)], 1)
    taken = draw(pool, 15, met=met, chance=random.Random(1))
    assert sorted(taken) == [*range(5, 10), *range(20, 30)]
    assert split(1, 29, 10) == (1, 9)
    assert split(0, 12, 10) == (0, 10)
    assert split(12, 0, 10) == (10, 0)


def test_mark_that_nobody_can_reach_is_named() -> None:
    assert unreachable([SOUND] * 10, ASKED) == "error_recall"
    assert unreachable([SOUND] * 10, Asked(agreement=0.9)) == ""
    assert unreachable([SOUND] * 9 + [FAULTY], ASKED) == ""


def test_rule_that_passes_is_too_likely() -> None:
    plus = [(SOUND, always_plus(SOUND))] * 10
    found = false_pass(plus, Asked(agreement=0.8), size=10, certain=True)
    assert (found.chance, found.low, found.high, found.as_they_are) == (1.0, 1.0, 1.0, True)
    assert found.too_likely
