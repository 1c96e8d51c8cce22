"""The experiment on exposure: who is in which arm, so that the influence of suggestions can be measured.

Its unit is a person on a task (`Unit.ANNOTATOR`): they have one arm for all runs of the task, since whoever
has seen suggestions for one run knows more about the others (docs/design.md, "Who may see what"); they are
compared with the other annotators of the same steps, who are in other arms. Older experiments have whole
tasks as their units (`Unit.TASK`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from ..jsonio.canonical import canonical_json, sha256_hex
from ..vocabulary import SuggestionPolicy

MAX_SEED: Final = 2**53 - 1
"""The largest seed: what JavaScript, JSON readers and both databases hold exactly."""


class Arm(StrEnum):
    """The time at which suggestions may be seen: never, after labelling the step, always."""

    SEALED = "sealed"
    AFTER_LABEL = "after_label"
    ALWAYS = "always"


class Unit(StrEnum):
    """The unit that is dealt to an arm: a person on a task, or (as before) a task with everybody on it."""

    ANNOTATOR = "annotator"
    TASK = "task"


ARMS: Final = tuple(Arm)
TWO_ARMS: Final = (Arm.SEALED, Arm.ALWAYS)
"""The arms of the smaller experiment: it answers the primary question alone, and that with fewer tasks."""

POLICY: Final[dict[Arm, SuggestionPolicy]] = {
    Arm.SEALED: SuggestionPolicy.NEVER,
    Arm.AFTER_LABEL: SuggestionPolicy.AFTER_LABEL,
    Arm.ALWAYS: SuggestionPolicy.ALWAYS,
}
"""The policy that each arm puts in force."""

Counts = Mapping[Arm, int]


def arms_of(number: int) -> tuple[Arm, ...]:
    """The arms of an experiment with so many of them, 2 or 3. Raises KeyError for any other number."""
    return {2: TWO_ARMS, 3: ARMS}[number]


def deal(
    seed: int,
    key: Sequence[str | int],
    arms: Sequence[Arm],
    *,
    beside: Counts,
    of_task: Counts,
    of_annotator: Counts,
) -> Arm:
    """The arm of a person on a task, given how often each arm has been dealt so far: to those who label the
    same trajectory (`beside`), on the task, and to this person on tasks of the subset. An arm that is in none
    of a count has been dealt there 0 times.

    The arm that has been dealt least, compared in that order; among equals the first by a hash of the seed,
    `key` (subset, task, person) and the arm. So arms come in rounds: within a task nobody gets an arm a
    second time before all have been dealt once, unless that would set people with the same arm beside each
    other, who tell nothing; and so do the arms of each person, as far as the task leaves a choice. This is
    minimisation (Taves 1974; Pocock and Simon 1975) with ranked factors.
    """
    factors = (beside, of_task, of_annotator)

    def rank(arm: Arm) -> tuple[int | str, ...]:
        drawn = sha256_hex(canonical_json(["arm", seed, *key, arm.value]))
        return (*(counts.get(arm, 0) for counts in factors), drawn)

    return min(arms, key=rank)


def arm_of(seed: int, subset: str, task_key: str) -> Arm:
    """The arm of a task in an experiment whose units are tasks: a pure function of the project's seed, the
    subset's name and the task's key.

    The first 64 bits of the sha256 of the three as canonical JSON, modulo 3. So the arms are equally likely
    (to 1 in 10^18) and independent between tasks: balanced in expectation, not exactly.
    """
    digest = sha256_hex(canonical_json(["arm", seed, subset, task_key]))
    return ARMS[int(digest[:16], 16) % len(ARMS)]
