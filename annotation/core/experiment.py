"""The experiment on exposure: in which arm a task is, so that the influence of suggestions can be measured.

Whole tasks are randomised, not steps or trajectories: whoever has seen suggestions for one run of a task
knows more about its other runs (docs/design.md, "Who may see what").
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from .canonical import canonical_json, sha256_hex
from .vocabulary import SuggestionPolicy

MAX_SEED: Final = 2**53 - 1
"""The largest seed: what JavaScript, JSON readers and both databases hold exactly."""


class Arm(StrEnum):
    """When annotators of a task may see suggestions: never, after labelling the step, always."""

    SEALED = "sealed"
    AFTER_LABEL = "after_label"
    ALWAYS = "always"


ARMS: Final = tuple(Arm)

POLICY: Final[dict[Arm, SuggestionPolicy]] = {
    Arm.SEALED: SuggestionPolicy.NEVER,
    Arm.AFTER_LABEL: SuggestionPolicy.AFTER_LABEL,
    Arm.ALWAYS: SuggestionPolicy.ALWAYS,
}
"""The policy that each arm puts in force."""


def arm_of(seed: int, subset: str, task_key: str) -> Arm:
    """The arm of a task: a pure function of the project's seed, the subset's name and the task's key.

    The first 64 bits of the sha256 of the three as canonical JSON, modulo 3. So the arms are equally likely
    (to 1 in 10^18) and independent between tasks: balanced in expectation, not exactly; a task that is
    imported later has its arm already, and nobody's order of work has a part in it.
    """
    digest = sha256_hex(canonical_json(["arm", seed, subset, task_key]))
    return ARMS[int(digest[:16], 16) % len(ARMS)]
