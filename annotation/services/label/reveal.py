"""Revealing what judges suggest, when the policy in force allows it (docs/design.md, "Who may see what").

Seeing cannot be undone. So a reveal is one transaction: the exposure is noted, the labels that it is about
keep the value they have now as their blind value, the history says what was shown; then it is shown.
"""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, StaleState, TristepError
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, SuggestionPolicy
from annotation.models import ACTIVE_STATES, Assignment, Label, LabelEvent, OutcomeLabel, User
from annotation.policies import field_access, require
from annotation.reports.judging.suggestions import (
    JudgeSuggestion,
    StepSuggestions,
    requested_steps,
    suggestions_for,
)

from .. import exposures

OwnLabel = Label | OutcomeLabel


@transaction.atomic
def reveal(
    *,
    actor: User,
    assignment: Assignment,
    message_index: int | None = None,
    outcome: bool = False,
    everything: bool = False,
) -> list[StepSuggestions]:
    """Show the suggestions for one step, for the outcome, or for everything that is open now; and note it.

    Exactly one of the three is asked for. Repeating it shows the same and notes nothing. What nobody has
    suggested anything for is answered, and is no exposure: nothing was seen.

    Raises Invalid for a message that is not a step, Denied (code "sealed") where the project never shows
    suggestions, Conflict (codes "label_first", "submit_first") where it does not yet, StaleState for an
    assignment that was given back.
    """
    require(actor, "label", assignment)
    # the same lock as in saving: a label is stored before a reveal or after it, and never in between
    current = (
        Assignment.stored.select_for_update(no_key=True, of=("self",))
        .select_related("trajectory__project")
        .get(pk=assignment.pk)
    )
    if current.state not in ACTIVE_STATES:
        raise StaleState(translatable("This trajectory is no longer open for labelling."), code="not_open")
    steps = requested_steps(
        trajectory=current.trajectory, message_index=message_index, outcome=outcome, everything=everything
    )
    own = _own_labels(current)
    policy = field_access(actor, current.trajectory).suggestions
    refusals = {step: _refusal(policy, current, own, step) for step in steps}
    refused = [refusal for refusal in refusals.values() if refusal is not None]
    if refused and (not everything or len(refused) == len(refusals)):
        raise refused[0]
    open_now = {step: index for step, index in steps.items() if refusals[step] is None}
    suggestions = suggestions_for(trajectory=current.trajectory, steps=open_now)
    _note(current, actor, [step for step in suggestions if step.tells], own, timezone.now())
    return suggestions


def _own_labels(assignment: Assignment) -> dict[int | None, OwnLabel]:
    """The rows of an assignment's labels, with or without a value, by step pk; None is the outcome."""
    rows: dict[int | None, OwnLabel] = {
        label.step_id: label for label in Label.stored.filter(assignment=assignment)
    }
    outcome = OutcomeLabel.stored.filter(assignment=assignment).first()
    return rows if outcome is None else {**rows, None: outcome}


def _refusal(
    policy: str, assignment: Assignment, own: dict[int | None, OwnLabel], step: int | None
) -> TristepError | None:
    """The reason why suggestions for a step (None: the outcome) stay sealed; None when they may be shown."""
    if policy in (SuggestionPolicy.ALWAYS, "all"):
        return None
    if policy == SuggestionPolicy.AFTER_SUBMIT:
        if assignment.state == AssignmentState.SUBMITTED:
            return None
        return Conflict(translatable("Suggestions are shown once you have submitted."), code="submit_first")
    if policy == SuggestionPolicy.AFTER_LABEL:
        label = own.get(step)
        if label is not None and label.value is not None:
            return None
        first = (
            translatable("Label this step first.")
            if step is not None
            else translatable("Set the outcome first.")
        )
        return Conflict(first, code="label_first")
    return Denied(translatable("This project does not show suggestions while labelling."), code="sealed")


def _note(
    assignment: Assignment,
    actor: User,
    suggestions: Collection[StepSuggestions],
    own: dict[int | None, OwnLabel],
    now: datetime,
) -> None:
    """Exposures, blind values and history of what is seen for the first time."""
    fresh = exposures.expose_suggestions(
        user=actor, trajectory=assignment.trajectory, steps=[step.step for step in suggestions], now=now
    )
    LabelEvent.objects.bulk_create(
        _event(assignment, step, own.get(step.step), now) for step in suggestions if step.step in fresh
    )


def _shown(suggestion: JudgeSuggestion) -> dict[str, int | None]:
    """A suggestion as history keeps it; `recalibrated` only where that stood beside the judge's own value."""
    kept = {"judge": suggestion.judge, "value": suggestion.value}
    return kept if suggestion.recalibrated is None else {**kept, "recalibrated": suggestion.recalibrated}


def _event(assignment: Assignment, step: StepSuggestions, label: OwnLabel | None, at: datetime) -> LabelEvent:
    return LabelEvent(
        assignment=assignment,
        step_id=step.step,
        kind="reveal",
        value=label.value if label is not None else None,
        source=getattr(label, "source", ""),
        version=label.version if label is not None else 0,
        detail={
            "outcome": step.step is None,
            "judges": [_shown(suggestion) for suggestion in step.suggestions],
        },
        created_at=at,
    )
