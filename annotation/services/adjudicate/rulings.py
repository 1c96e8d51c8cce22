"""Rulings: what an adjudicator has decided in a case, its history, and what the case comes to with it."""

from collections.abc import Sequence
from datetime import datetime

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import ProjectKind
from annotation.core.resolution import (
    AnnotatorPosition,
    Resolution,
    is_disputed,
    resolve,
    sound_roots,
    was_disputed,
)
from annotation.core.vocabulary import CaseEventKind
from annotation.models import Adjudication, CaseEvent, Decision, Step, User

from ..consensus import Positions


def require_contested(
    case: Adjudication,
    labels: Sequence[AnnotatorPosition],
    *,
    step: Step | None,
    value: int,
    names_origin: bool,
) -> None:
    """A decision is for what the annotators differ on, or differed; on an agreed −1 of a step it may name the
    root and the reason. The outcome can always be decided. Raises Invalid."""
    if step is None or was_disputed(labels) or is_disputed(labels):
        return
    if names_origin and labels and value == labels[0].value == -1:
        return
    raise Invalid(
        translatable(
            "The annotators agree on {step}.", step=case.project.of_kind.step_inside(step.ordinal + 1)
        ),
        fields={"message_index": translatable("Not disputed.")},
    )


def note_event(
    *, decision: Decision, kind: CaseEventKind, case: Adjudication, actor: User, now: datetime
) -> None:
    """Append a decision, as it is now, to the history of its case."""
    CaseEvent.objects.create(
        adjudication=case,
        step_id=decision.step_id,
        kind=kind.value,
        value=decision.value,
        note=decision.note,
        detail={"origin": decision.kind, "root": decision.root_id, "reason": decision.reason},
        actor=actor,
        created_at=now,
    )


def resolved(case: Adjudication, submitted: Positions) -> dict[int | None, Resolution]:
    """The resolution of every step of a case (by pk) and, under None, of the outcome.

    Raises Invalid (code "incomplete", details {"missing": [message indexes], "outcome": bool}) while
    something is open, and when a decision names a root that is no error.
    """
    decided = {row.step_id: row.ruling() for row in Decision.objects.filter(adjudication=case)}
    resolutions = {step: resolve(positions, decided.get(step)) for step, positions in submitted.items()}
    reached = {step: resolution for step, resolution in resolutions.items() if resolution is not None}
    missing = [step for step, resolution in resolutions.items() if resolution is None and step is not None]
    if len(reached) < len(resolutions):
        kind = case.project.of_kind
        _refuse_incomplete(missing, kind, outcome=resolutions.get(None) is None)
    sound = sound_roots(reached)
    for step, resolution in reached.items():
        named = decided[step].root if step in decided else None
        if resolution.root is not None and sound[step].root is None and named == resolution.root:
            _refuse_root(step, resolution.root)
    return sound


def _refuse_incomplete(missing: list[int], kind: ProjectKind, *, outcome: bool) -> None:
    undecided = Step.objects.filter(pk__in=missing).order_by("ordinal")
    steps = list(undecided.values_list("ordinal", "message_index"))
    raise Invalid(
        _undecided([str(ordinal + 1) for ordinal, _index in steps], kind, outcome=outcome),
        code="incomplete",
        details={"missing": [index for _ordinal, index in steps], "outcome": outcome},
    )


def _undecided(numbers: list[str], kind: ProjectKind, *, outcome: bool) -> str:
    """The missing decisions in words: steps by the numbers that people see."""
    if not numbers:
        return translatable("The outcome is undecided.")
    if len(numbers) == 1:
        step = kind.step_title(numbers[0])
        if outcome:
            return translatable("{step} and the outcome are undecided.", step=step)
        return translatable("{step} is undecided.", step=step)
    named = {"steps": kind.names.many, "numbers": ", ".join(numbers)}
    if outcome:
        return translatable("{steps} {numbers} and the outcome are undecided.", **named)
    return translatable("{steps} {numbers} are undecided.", **named)


def _refuse_root(step: int | None, root: int) -> None:
    numbers = dict(Step.objects.filter(pk__in=[step, root]).values_list("pk", "ordinal"))
    raise Invalid(
        translatable(
            "Step {number} has step {root} as the root of its error, and step {root} is no error.",
            number=numbers[step or root] + 1,
            root=numbers[root] + 1,
        ),
        code="root_is_no_error",
    )
