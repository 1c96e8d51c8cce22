"""Judges' suggestions for a trajectory, as far as somebody has revealed them (docs/design.md, "Who may see
what").

Suggestions reach annotators and adjudicators through here alone, and only steps that `services` has noted as
seen before. Judges are numbered anew for every task, and nobody but admins learns their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from annotation.core.errors import Denied, Invalid, StaleState
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import sha256_hex
from annotation.core.text import unescape
from annotation.core.vocabulary import AdjudicationState, ExposureKind
from annotation.language import translated_sentences
from annotation.models import (
    ACTIVE_STATES,
    Adjudication,
    Assignment,
    Exposure,
    Judge,
    Project,
    Step,
    SuggestedLabel,
    Suggestion,
    Trajectory,
    User,
    in_use,
)
from annotation.policies import FieldAccess, require


@dataclass(frozen=True, slots=True)
class JudgeSuggestion:
    """One judge's suggestion for a step or the outcome; `value` None: it made none there. `recalibrated`:
    what recalibration makes of a step's value, None where there is none.

    `judge` is the judge's pk, for history, and never sent to people; `number` is 1 for "Judge 1". `name` and
    `comment` (the judge's remark on the whole, with the outcome) are empty for all but admins.
    """

    judge: int
    number: int
    value: int | None
    reason: str
    name: str = ""
    comment: str = ""
    recalibrated: int | None = None


@dataclass(frozen=True, slots=True)
class StepSuggestions:
    """One step (or with `message_index` None the outcome) and what every judge of the task says of it."""

    step: int | None
    message_index: int | None
    suggestions: tuple[JudgeSuggestion, ...]

    @property
    def tells(self) -> bool:
        """Whether there is anything in it to be seen."""
        return any(suggestion.value is not None or suggestion.reason for suggestion in self.suggestions)


def has_judges(project: Project) -> bool:
    """Whether a project has judges at all, which its members may know; whether any has suggestions for a
    trajectory, nobody is told. One query."""
    return Judge.objects.filter(project=project).exists()


def anonymised_order(trajectory: Trajectory) -> list[int]:
    """The judges with suggestions for any trajectory of this one's task, by pk, Judge 1 first. One query.

    The order is drawn for each task, seeded by project and task: the same for everybody and every time, and
    of no use for knowing a judge again in another task.
    """
    known = Suggestion.objects.filter(in_use("trajectory__"), trajectory__task=trajectory.task_id)
    seed = f"judges of task {trajectory.task_id} in project {trajectory.project_id}"
    judges = set(known.order_by().values_list("judge", flat=True))
    return sorted(judges, key=lambda pk: sha256_hex(f"{seed}: {pk}".encode()))


def requested_steps(
    *, trajectory: Trajectory, message_index: int | None, outcome: bool, everything: bool
) -> dict[int | None, int | None]:
    """The steps that somebody asks to see suggestions for, as pk to message index; None to None is the
    outcome. Exactly one of the three is asked for. Raises Invalid otherwise, and for a message that is not a
    step."""
    if [message_index is not None, outcome, everything].count(True) != 1:
        raise Invalid(translatable("Ask for one step, for the outcome, or for all."))
    steps = Step.objects.filter(trajectory=trajectory).order_by("message_index")
    if message_index is not None:
        steps = steps.filter(message_index=message_index)
    requested: dict[int | None, int | None] = {}
    if not outcome:
        requested.update(steps.values_list("pk", "message_index"))
    if message_index is None:
        requested[None] = None
    if not requested:
        raise Invalid(
            translatable("Message {message_index} is not a step.", message_index=message_index),
            fields={"message_index": translatable("Not a step.")},
        )
    return requested


def suggestions_for(
    *, trajectory: Trajectory, steps: Mapping[int | None, int | None]
) -> list[StepSuggestions]:
    """The suggestions for these steps (pk to message index; None to None: the outcome). Three queries.

    Nobody's permission is asked here: services/label/reveal.py and services/adjudicate/claim_case.py have.
    """
    judges = anonymised_order(trajectory)
    rows = {row.judge_id: row for row in Suggestion.objects.filter(trajectory=trajectory)}
    labels = {
        (row.suggestion_id, row.step_id): row
        for row in SuggestedLabel.objects.filter(
            suggestion__trajectory=trajectory, step__in=set(steps) - {None}
        )
    }

    def advice(judge: int, number: int, step: int | None) -> JudgeSuggestion:
        row = rows.get(judge)
        if row is None:
            return JudgeSuggestion(judge, number, None, "")
        if step is None:
            return JudgeSuggestion(judge, number, row.outcome, translated_sentences(unescape(row.reason)))
        label = labels.get((row.pk, step))
        if label is None:
            return JudgeSuggestion(judge, number, None, "")
        reason = translated_sentences(unescape(label.reason))
        return JudgeSuggestion(judge, number, label.value, reason, recalibrated=label.recalibrated)

    return [
        StepSuggestions(
            step, index, tuple(advice(judge, number, step) for number, judge in enumerate(judges, 1))
        )
        for step, index in steps.items()
    ]


def revealed(*, actor: User, assignment: Assignment) -> list[StepSuggestions]:
    """The suggestions that a person has revealed of the trajectory of their own assignment, in the order of
    the steps, the outcome last. At most five queries, two when nothing is revealed.

    `assignment` comes with its trajectory. Raises Denied for somebody else's, StaleState for one that was
    given back.
    """
    require(actor, "label", assignment)
    if assignment.state not in ACTIVE_STATES:
        raise StaleState(
            translatable("This trajectory has been returned. You can resume it from My work."),
            code="not_open",
        )
    return revealed_to(actor, assignment.trajectory)


def revealed_in_case(*, actor: User, adjudication: Adjudication) -> list[StepSuggestions]:
    """The suggestions that an adjudicator has revealed of their own case's trajectory. At most five queries.

    `adjudication` comes with its trajectory. Raises Denied for somebody else's, StaleState for one that was
    handed back.
    """
    require(actor, "adjudicate", adjudication)
    if adjudication.state == AdjudicationState.RELEASED:
        raise StaleState(translatable("You have returned this case to the queue."), code="case_closed")
    return revealed_to(actor, adjudication.trajectory)


def revealed_to(user: User, trajectory: Trajectory) -> list[StepSuggestions]:
    """The suggestions that a person has revealed of a trajectory, steps in their order, the outcome last. At
    most four queries, one when nothing is revealed."""
    seen: dict[int | None, int | None] = dict(
        Exposure.objects.filter(user=user, trajectory=trajectory, kind=ExposureKind.SUGGESTION)
        .order_by()
        .values_list("step", "step__message_index")
    )
    if not seen:
        return []
    suggestions = suggestions_for(trajectory=trajectory, steps=seen)
    return sorted(suggestions, key=lambda one: (one.message_index is None, one.message_index or 0))


def suggestions_for_admin(
    *, trajectory: Trajectory, access: FieldAccess, steps: Iterable[Step]
) -> list[StepSuggestions]:
    """All suggestions for a trajectory, with the judges' names and comments, for admins who are not labelling
    it. Four queries. Raises Denied for anybody else."""
    if access.suggestions != "all":
        raise Denied(translatable("You may not see the judges’ suggestions here."))
    wanted: dict[int | None, int | None] = {step.pk: step.message_index for step in steps}
    names = dict(Judge.objects.filter(project=trajectory.project_id).values_list("pk", "name"))
    rows = Suggestion.objects.filter(trajectory=trajectory).values_list("judge", "comment")
    comments = {judge: unescape(comment) for judge, comment in rows}

    def named(one: JudgeSuggestion, of_outcome: bool) -> JudgeSuggestion:
        comment = comments.get(one.judge, "") if of_outcome else ""
        return replace(one, name=names.get(one.judge, ""), comment=comment)

    return [
        StepSuggestions(
            each.step,
            each.message_index,
            tuple(named(suggestion, each.step is None) for suggestion in each.suggestions),
        )
        for each in suggestions_for(trajectory=trajectory, steps={**wanted, None: None})
    ]
