"""Change one's mind after discussion: a revision, which stands beside the label and never touches it."""

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Denied, Invalid, StaleVersion
from annotation.core.i18n import translatable
from annotation.core.vocabulary import NoticeKind, Voice
from annotation.models import Assignment, Discussion, Label, OutcomeLabel, Revision, Step, User

from ..judged_steps import checked_note, checked_reason, checked_value, root_at, step_at
from .permissions import speak, tell_others


@transaction.atomic
def revise(
    *,
    actor: User,
    discussion: Discussion,
    message_index: int | None,
    value: int,
    note: str,
    root: int | None = None,
    reason: str = "",
    version: int = 0,
) -> Revision:
    """Change one's mind about a step, or with `message_index` None about the outcome, and say why.

    `root` (a message index) and `reason` are those of the error graph; with the value unchanged they alone
    are corrected. `version` is how often one has changed this before. The labels stay as they are.

    Raises Denied to whoever did not label the trajectory, Invalid for what cannot be a label, without a note
    or when nothing changes, StaleVersion after a change elsewhere, Conflict when the case is resolved.
    """
    trajectory, voice = speak(actor, discussion)
    if voice is not Voice.ANNOTATOR:
        raise Denied(translatable("Only those who labelled a trajectory can change their mind about it."))
    checked_value(value)
    if not note.strip():
        message = translatable("Say why you change your mind.")
        raise Invalid(message, fields={"note": message})
    step = step_at(trajectory.pk, message_index)
    origin = root_at(trajectory.pk, step=step, value=value, root=root)
    mine = Assignment.objects.get(trajectory=trajectory, annotator=actor)
    made = Revision.objects.filter(assignment=mine, step=step).order_by("pk")
    if made.count() != version:
        raise StaleVersion(translatable("You have changed this elsewhere; reload to see it."))
    held = made.last() or _own_label(mine, step)
    if value == -1 and step is not None and origin is None:
        origin = (
            held.root
            if held is not None and held.value == -1 and not isinstance(held, OutcomeLabel)
            else step
        )
    if value != -1 and held is not None and value == held.value:
        reason = reason or held.reason  # forms ask for it of errors alone
    revised = (value, origin.pk if origin else None, checked_reason(reason, value))
    if held is not None and revised == (held.value, getattr(held, "root_id", None), held.reason):
        raise Invalid(translatable("No change."), code="unchanged")
    now = timezone.now()
    revision = Revision.objects.create(
        assignment=mine,
        step=step,
        previous=held.value if held is not None else None,
        value=value,
        root=origin,
        reason=reason,
        note=checked_note(note),
        created_at=now,
    )
    Discussion.objects.filter(pk=discussion.pk).update(changed_at=now)
    tell_others(discussion=discussion, actor=actor, kind=NoticeKind.REVISION, now=now, revision=revision)
    return revision


def _own_label(mine: Assignment, step: Step | None) -> Label | OutcomeLabel | None:
    if step is None:
        return OutcomeLabel.objects.filter(assignment=mine).first()
    return Label.objects.filter(assignment=mine, step=step).first()
