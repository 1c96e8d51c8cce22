"""Resolution of a disputed step: unanimous, discussed, by majority or adjudicated.

Pure functions. Steps are whatever the caller uses for them (their pks); an outcome has no root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from .vocabulary import REASON_CODES_BY_CODE, ConsensusKind

FEWEST_FOR_A_MAJORITY: Final = 3
"""Of two annotators who differ, neither is the majority."""


@dataclass(frozen=True, slots=True)
class AnnotatorPosition:
    """An annotator's label of a step: as submitted, and now, when they have changed their mind.

    `root` and `reason` belong to `value`; `revised_at` is null for who has changed nothing.
    """

    submitted: int
    value: int
    root: int | None = None
    reason: str = ""
    revised_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision of the adjudicator: their own value, or (`kind` majority) that of most annotators."""

    value: int
    kind: ConsensusKind = ConsensusKind.ADJUDICATED
    root: int | None = None
    reason: str = ""
    note: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Resolution:
    """The resolved label: value, origin, root of the error, reason code, why, and since when.

    `by_ruling`: the adjudicator stands for it, by a decision or by the root or reason they named.
    """

    value: int
    kind: ConsensusKind
    root: int | None = None
    reason: str = ""
    note: str = ""
    by_ruling: bool = False
    at: datetime | None = None


def was_disputed(positions: Iterable[AnnotatorPosition]) -> bool:
    """Whether the labels as submitted differ."""
    return len({position.submitted for position in positions}) > 1


def is_disputed(positions: Iterable[AnnotatorPosition]) -> bool:
    """Whether the annotators differ now, after what they have changed."""
    return len({position.value for position in positions}) > 1


def majority(positions: Sequence[AnnotatorPosition]) -> int | None:
    """The value that more than half of at least three annotators say now; None without one."""
    if len(positions) < FEWEST_FOR_A_MAJORITY:
        return None
    ((value, count),) = Counter(position.value for position in positions).most_common(1)
    return value if 2 * count > len(positions) else None


def resolve(positions: Sequence[AnnotatorPosition], ruling: Ruling | None) -> Resolution | None:
    """The resolution of a step; None while it is open: the annotators differ, and nothing is decided.

    A decision counts wherever the step was or is disputed. The majority's counts as long as they are the
    majority. Where all had agreed before it was made, a ruling with their value names only the root and the
    reason of their −1. Root and reason: the ruling's, else those on which all agree who say the resolved
    value.
    """
    agreed = positions[0].value if positions and not is_disputed(positions) else None
    contested = was_disputed(positions) or is_disputed(positions)
    stands = ruling is not None and (
        ruling.kind is not ConsensusKind.MAJORITY or majority(positions) == ruling.value
    )
    changed = max(filter(None, (position.revised_at for position in positions)), default=None)
    if ruling is not None and stands:
        decides = contested and not _came_later(ruling, changed)
        if decides or ruling.value != agreed:
            return _resolution(ruling.value, ruling.kind, positions, ruling, ruling.at)
    if agreed is None:
        return None
    moved = contested or any(position.value != position.submitted for position in positions)
    kind = ConsensusKind.DISCUSSED if moved else ConsensusKind.UNANIMOUS
    return _resolution(agreed, kind, positions, ruling if stands else None, changed)


def _came_later(ruling: Ruling, changed: datetime | None) -> bool:
    """Whether a ruling was made after the last change of mind."""
    return ruling.at is not None and changed is not None and ruling.at > changed


def sound_roots(resolved: Mapping[int | None, Resolution]) -> dict[int | None, Resolution]:
    """The resolutions of a whole trajectory (None: the outcome), without the roots that are no errors in
    it."""
    errors = {step for step, resolution in resolved.items() if step is not None and resolution.value == -1}
    return {
        step: it if it.root is None or it.root in errors else replace(it, root=None)
        for step, it in resolved.items()
    }


def _resolution(
    value: int,
    kind: ConsensusKind,
    positions: Sequence[AnnotatorPosition],
    ruling: Ruling | None,
    at: datetime | None,
) -> Resolution:
    agreeing = [position for position in positions if position.value == value]
    roots = {position.root for position in agreeing}
    reasons = {position.reason for position in agreeing if position.reason}
    root = ruling.root if ruling else None
    reason = ruling.reason if ruling else ""
    if root is None and value == -1 and len(roots) == 1:
        (root,) = roots
    if not reason and len(reasons) == 1:
        (reason,) = reasons
    code = REASON_CODES_BY_CODE.get(reason)
    return Resolution(
        value=value,
        kind=kind,
        root=root if value == -1 else None,
        reason=reason if code is not None and code.value == value else "",
        note=ruling.note if ruling else "",
        by_ruling=ruling is not None,
        at=at,
    )
