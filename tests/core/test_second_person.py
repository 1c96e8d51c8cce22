"""The rule for a second person: who is asked, what passes, and when there is no rule."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.labels import BoolArray
from annotation.core.scoring.second_person import (
    MOST_WRONG,
    SecondPersonRule,
    doubts,
    drawn_for_two,
    fitted_on,
    labelled_by_all,
    needs_second,
    rule,
)
from annotation.core.scoring.stack import JudgeLabels, Stack, stack

TASKS, STEPS = 300, 5
FIRST = np.arange(TASKS) < 200


class World:
    """A project of three judges and two people who err on 6 % of labels, resolved without error."""

    def __init__(
        self, seed: int, *, error: float = 0.06, judges: tuple[float, ...] = (0.9, 0.85, 0.8)
    ) -> None:
        rng = np.random.default_rng(seed)
        truth = rng.choice([-1, 0, 1], size=TASKS * STEPS, p=[0.3, 0.1, 0.6])
        task = np.repeat(np.arange(TASKS), STEPS)
        outcome = rng.choice([-1, 1], size=TASKS)
        self.known = replace(ReleasedLabels.of_steps(np.zeros_like(task), task, task, truth), outcome=outcome)

        def reader(wrong: float) -> Predictions:
            return Predictions.constant(
                *(
                    np.where(rng.random(len(of)) < wrong, (of + 1 + rng.integers(1, 3, len(of))) % 3 - 1, of)
                    for of in (truth, outcome)
                )
            )

        self.judges = [JudgeLabels(reader(1 - share)) for share in judges]
        self.people = (reader(error), reader(error))

    def told(self) -> Stack:
        found = stack(self.known, self.judges, FIRST)
        assert found is not None
        return found

    def rule(self, taught: BoolArray = FIRST) -> SecondPersonRule:
        found = rule(self.known, self.told(), self.people, taught)
        assert found is not None
        return found

    def wrong(self, person: Predictions) -> np.ndarray:
        steps = np.bincount(self.known.record, weights=person.steps != self.known.value)
        return steps + (person.outcome != self.known.outcome)


def test_second_person_is_asked_about_most_errors_and_of_few_trajectories() -> None:
    world = World(1)
    by = world.rule()
    doubt = doubts(world.known, world.told(), world.people[0], by)
    asked, wrong, later = needs_second(doubt, by), world.wrong(world.people[0]), ~FIRST
    passed = wrong[later & ~asked].sum() / (later.sum() * (STEPS + 1))
    assert wrong[later].sum() / (later.sum() * (STEPS + 1)) > 0.04
    assert passed < 0.01 and asked[later].mean() < 0.6
    assert by.expected_wrong <= MOST_WRONG and 0.3 < by.one_person < 1


def test_doubt_is_how_many_labels_are_wrong() -> None:
    world = World(2)
    by, told = world.rule(), world.told()
    doubt = np.concatenate([doubts(world.known, told, person, by) for person in world.people])
    wrong = np.concatenate([world.wrong(person) for person in world.people])
    for low, high in ((0.0, 0.1), (0.1, 0.8), (0.8, 9.0)):
        within = (doubt >= low) & (doubt < high)
        assert by.factor * doubt[within].mean() == pytest.approx(wrong[within].mean(), abs=0.25), (low, high)


def test_judges_of_noise_save_nothing_that_people_do_not_earn() -> None:
    careless = World(3, judges=(0.34, 0.34, 0.34)).rule()
    assert careless.one_person < 0.2
    assert World(3, judges=(0.34, 0.34, 0.34), error=0.001).rule().one_person > 0.9


def test_errors_that_judges_do_not_expect_lower_the_bound() -> None:
    world = World(4)
    told, by = world.told(), world.rule()
    # people who err just where all judges do, and say the same as they
    shared = [
        np.where(
            world.judges[0].predicted.steps != world.known.value, world.judges[0].predicted.steps, one.steps
        )
        for one in world.people
    ]
    people = tuple(replace(one, steps=steps) for one, steps in zip(world.people, shared, strict=True))
    fooled = rule(world.known, told, (people[0], people[1]), FIRST)
    assert fooled is not None and fooled.one_person < by.one_person and fooled.expected_wrong <= MOST_WRONG


def test_there_is_no_rule_below_a_hundred_and_it_is_made_once_more_at_two_hundred() -> None:
    world = World(5)
    assert rule(world.known, world.told(), world.people, np.arange(TASKS) < 99) is None
    assert world.rule(np.arange(TASKS) < 100).bound != world.rule().bound
    assert [fitted_on(number) for number in (0, 99, 100, 199, 200, 5_000)] == [0, 0, 100, 100, 200, 200]


def test_a_label_that_a_judge_lacks_sends_a_trajectory_to_two_people() -> None:
    world = World(6)
    assert labelled_by_all(world.known, world.judges).all()
    world.judges[1].predicted.steps[world.known.starts()[7]] = MISSING
    world.judges[2].predicted.outcome[9] = MISSING
    assert np.flatnonzero(~labelled_by_all(world.known, world.judges)).tolist() == [7, 9]
    assert not labelled_by_all(world.known, world.judges[:2]).any(), "two judges are too few"


def test_a_label_that_the_person_lacks_is_in_doubt() -> None:
    world = World(7)
    by = world.rule()
    world.people[0].outcome[3] = MISSING
    doubt = doubts(world.known, world.told(), world.people[0], by)
    assert np.isinf(doubt[3]) and np.isfinite(np.delete(doubt, 3)).all() and needs_second(doubt, by)[3]


def test_one_in_ten_goes_to_two_people_by_a_secret_seed() -> None:
    drawn = [drawn_for_two(71, trajectory) for trajectory in range(4_000)]
    assert sum(drawn) / len(drawn) == pytest.approx(0.1, abs=0.015)
    assert drawn != [drawn_for_two(72, trajectory) for trajectory in range(4_000)]


def test_a_stored_rule_is_the_same_rule() -> None:
    by = World(8).rule()
    assert SecondPersonRule.from_json(by.as_json()) == by
