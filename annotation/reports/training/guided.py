"""The place of an assignment in the tutorial or in a test, which the workbench tells its annotator."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.core.vocabulary import RecheckKind
from annotation.models import Assignment, Recheck

from .tutorial import items


@dataclass(frozen=True, slots=True)
class Guided:
    """`kind` ("tutorial", "test"), the number of the item from 1, and how many there are; `test` is the
    number of the test, `attempt` the attempt (pk)."""

    kind: str
    number: int
    total: int
    test: int = 0
    attempt: int = 0


def guided(assignment: Assignment) -> Guided | None:
    """The item of the tutorial or of a test that this is; None for all other work, gold and pilots included.
    `assignment` comes with its `recheck`; at most two queries, none for all other work."""
    turn = assignment.recheck
    if turn is None or turn.kind not in (RecheckKind.TUTORIAL, RecheckKind.TEST):
        return None
    if turn.kind == RecheckKind.TUTORIAL:
        order = list(items(assignment.project).values_list("trajectory", flat=True))
        at = order.index(turn.trajectory_id) + 1 if turn.trajectory_id in order else 0
        return Guided(turn.kind, at, len(order))
    turns = Recheck.objects.filter(attempt=turn.attempt_id).order_by("pk").values_list("pk", flat=True)
    order = list(turns)
    attempt = turn.attempt
    assert attempt is not None
    return Guided(turn.kind, order.index(turn.pk) + 1, len(order), attempt.test.number, attempt.pk)
