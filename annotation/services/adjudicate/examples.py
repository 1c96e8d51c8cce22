"""Mark a resolved case, or one step of it, as an example for the guidelines; take the mark away."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core import text as escaping
from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.i18n import translatable
from annotation.core.trajectories.messages import Message, normalise
from annotation.core.vocabulary import AdjudicationState, TrajectoryState
from annotation.models import Adjudication, Consensus, Example, OutcomeConsensus, Step, Trajectory, User
from annotation.policies import field_access, require

from .. import audit
from ..judged_steps import step_at

MAX_TITLE = 120
MAX_TEXT = 4_000
MAX_EXAMPLES = 50
MAX_EXCERPT = 1_200


@transaction.atomic
def mark_example(
    *, actor: User, adjudication: Adjudication, message_index: int | None, title: str, text: str
) -> Example:
    """Show a decided case, or with a message index one step of it, with the project's guidelines.

    `adjudication` comes with its trajectory's project, subset and task. Raises Denied to whoever neither
    decided the case nor administers the project, or sees the trajectory as an annotator; Invalid for an empty
    or too long title or text and for what is no step; Conflict (codes "not_decided", "marked", "too_many").
    """
    require(actor, "example.mark", adjudication)
    if not field_access(actor, adjudication.trajectory).others_labels:
        raise Denied(translatable("You may not see other people’s labels here."))
    written = {"title": _checked("title", title, MAX_TITLE), "text": _checked("text", text, MAX_TEXT)}
    step = step_at(adjudication.trajectory_id, message_index)
    trajectory = Trajectory.objects.select_for_update(no_key=True, of=("self",)).get(
        pk=adjudication.trajectory_id
    )
    case = Adjudication.objects.get(pk=adjudication.pk)
    if case.state != AdjudicationState.DECIDED or trajectory.state != TrajectoryState.ADJUDICATED:
        raise Conflict(translatable("Only a decided case can be an example."), code="not_decided")
    if Example.objects.filter(project=case.project_id).count() >= MAX_EXAMPLES:
        raise Conflict(
            translatable("The guidelines have {limit} examples; remove one first.", limit=MAX_EXAMPLES),
            code="too_many",
        )
    resolved: Consensus | OutcomeConsensus = (
        Consensus.objects.get(step=step)
        if step is not None
        else OutcomeConsensus.objects.get(trajectory=trajectory)
    )
    try:
        with transaction.atomic():
            made = Example.objects.create(
                project_id=case.project_id,
                trajectory=trajectory,
                adjudication=case,
                step=step,
                **written,
                excerpt=escaping.escape(_excerpt(trajectory, step)),
                value=resolved.value,
                created_by=actor,
                created_at=timezone.now(),
            )
    except IntegrityError as error:
        raise Conflict(translatable("This is an example already."), code="marked") from error
    audit.record(
        actor=actor,
        verb="example.mark",
        project=adjudication.project,
        obj=case,
        **({"step": step.ordinal + 1} if step is not None else {}),
    )
    return made


def _checked(name: str, value: str, limit: int) -> str:
    """A title or a text, escaped. Raises Invalid."""
    value = value.strip()
    if not value:
        message = translatable("Write something.")
        raise Invalid(message, fields={name: message})
    if len(value) > limit:
        message = translatable("Keep it under {limit} characters.", limit=f"{limit:,}")
        raise Invalid(message, fields={name: message})
    return escaping.escape(value)


def _excerpt(trajectory: Trajectory, step: Step | None) -> str:
    """The beginning of what a step says, with the tools it calls; of a whole case nothing."""
    if step is None:
        return ""
    message: Message = normalise(trajectory.content.parsed()["messages"])[step.message_index]
    calls = [f"{call.name}({call.arguments_raw})" for call in message.tool_calls if call.origin != "text"]
    whole = "\n".join(part for part in (message.content.strip(), *calls) if part)
    return whole if len(whole) <= MAX_EXCERPT else f"{whole[:MAX_EXCERPT].rstrip()} …"


@transaction.atomic
def unmark_example(*, actor: User, example: Example) -> None:
    """Take an example out of the guidelines. `example` comes with its adjudication and project.

    Raises Denied to whoever neither decided the case nor administers the project.
    """
    require(actor, "example.mark", example.adjudication)
    step = example.step
    gone, _rows = Example.objects.filter(pk=example.pk).delete()
    if gone:
        audit.record(
            actor=actor,
            verb="example.unmark",
            project=example.project,
            obj=example.adjudication,
            **({"step": step.ordinal + 1} if step is not None else {}),
        )
