"""The error graph of a trajectory: which errors there are, where each began, and what followed from it.

Pure: steps are message indexes; see docs/design.md, "Labels and propagation".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judged:
    """A label of one step: its value, the root of a −1 where one is named, and its reason code."""

    value: int | None
    root: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ErrorChain:
    """One error: the step at which it began (None: nobody says, or they differ), the reason code of that
    step, and the later −1 that are its consequences."""

    root: int | None
    reason: str
    members: tuple[int, ...]


def errors(labels: Iterable[tuple[int, Judged]]) -> tuple[ErrorChain, ...]:
    """The errors of a whole trajectory, by where they began; those without a root come last, as one."""
    wrong = {step: label for step, label in labels if label.value == -1}
    steps_by_root: dict[int | None, list[int]] = {}
    for step, label in sorted(wrong.items()):
        steps_by_root.setdefault(label.root, []).append(step)
    return tuple(
        ErrorChain(
            root=root,
            reason=wrong[root].reason if root in wrong else "",
            members=tuple(step for step in steps_by_root[root] if step != root),
        )
        for root in sorted(steps_by_root, key=lambda root: (root is None, root or 0))
    )
