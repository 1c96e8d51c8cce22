"""Open a discussion, say something in it, take it back; what each has read."""

from django.db import transaction
from django.utils import timezone

from annotation.core import text as escaping
from annotation.core.errors import Conflict, Denied, Invalid
from annotation.core.i18n import translatable
from annotation.core.mentions import mentions
from annotation.core.vocabulary import (
    AdjudicationState,
    AssignmentState,
    NoticeKind,
    TrajectoryState,
    Voice,
)
from annotation.models import (
    Adjudication,
    Assignment,
    Comment,
    Discussion,
    ThreadRead,
    Trajectory,
    User,
)
from annotation.models.consensus import new_letter_seed
from annotation.policies import participants, require, voice_of
from annotation.reports.shared.pseudonyms import letters

from .. import audit, notices
from ..judged_steps import step_at
from .permissions import lock, require_voice, speak, tell_others

MAX_COMMENT = 20_000
ADJUDICATOR = ("Adjudicator", "adjudicator", "裁决员")
"""Mentions of an adjudicator: people write them in their own language."""


@transaction.atomic
def open_discussion(*, actor: User, trajectory: Trajectory) -> Discussion:
    """Open the discussion of a disputed trajectory, and tell those whom it concerns; one that is there is
    simply returned.

    Raises Denied unless the actor has the case or is an admin who did not label it, Conflict when the
    trajectory is not disputed.
    """
    require(actor, "discuss", trajectory)
    if voice_of(actor, trajectory) not in (Voice.ADJUDICATOR, Voice.ADMIN):
        raise Denied(translatable("A discussion is opened by the adjudicator of the case, or by an admin."))
    locked = lock(trajectory.pk)
    row = Discussion.objects.filter(trajectory=locked).first()
    if row is not None:
        return row
    if locked.state != TrajectoryState.DISPUTED:
        raise Conflict(translatable("This trajectory is not disputed."), code="not_disputed")
    case = Adjudication.objects.filter(trajectory=locked).exclude(state=AdjudicationState.RELEASED).first()
    now = timezone.now()
    made = Discussion.objects.create(
        project_id=locked.project_id,
        trajectory=locked,
        letter_seed=case.letter_seed if case is not None else new_letter_seed(),
        opened_by=actor,
        opened_at=now,
        changed_at=now,
    )
    tell_others(discussion=made, actor=actor, kind=NoticeKind.OPENED, now=now)
    audit.record(actor=actor, verb="discussion.open", project=trajectory.project, obj=made)
    return made


@transaction.atomic
def comment(*, actor: User, discussion: Discussion, text: str, message_index: int | None = None) -> Comment:
    """Say something in the thread of a step, or with `message_index` None in that of the whole trajectory.

    Those who are mentioned ("@A", "@Adjudicator") and the others are told. Raises Invalid for an empty or too
    long text, a message that is not a step and a mention of somebody who takes no part; Denied to whoever
    takes no part; Conflict when the case is resolved.
    """
    trajectory, voice = speak(actor, discussion)
    if not text.strip():
        message = translatable("Write something.")
        raise Invalid(message, fields={"text": message})
    if len(text) > MAX_COMMENT:
        message = translatable("Keep the comment under {limit} characters.", limit=f"{MAX_COMMENT:,}")
        raise Invalid(message, fields={"text": message})
    step = step_at(trajectory.pk, message_index)
    mentioned = _mentioned(discussion, trajectory, text)
    now = timezone.now()
    made = Comment.objects.create(
        discussion=discussion,
        step=step,
        author=actor,
        voice=voice.value,
        text=escaping.escape(text),
        created_at=now,
    )
    Discussion.objects.filter(pk=discussion.pk).update(changed_at=now)
    tell_others(
        discussion=discussion,
        actor=actor,
        kind=NoticeKind.COMMENT,
        now=now,
        comment=made,
        mentioned=frozenset(mentioned),
    )
    return made


def _mentioned(discussion: Discussion, trajectory: Trajectory, text: str) -> set[int]:
    """The pks of those whom a text mentions. Raises Invalid for anybody who takes no part."""
    people = participants(trajectory)
    called = {letter: pk for pk, letter in _letters(discussion).items() if pk in people.annotators}
    names = [f"@{letter}" for letter in sorted(called)]
    if people.adjudicator is not None:
        called |= dict.fromkeys(ADJUDICATOR, people.adjudicator)
        names.append(f"@{ADJUDICATOR[0]}")
    members, strangers = mentions(text, called)
    if strangers:
        message = translatable(
            "“@{name}” takes no part in this discussion; you can mention {known}.",
            name=strangers[0][:40],
            known=", ".join(names),
        )
        raise Invalid(message, fields={"text": message}, code="stranger")
    return {called[name] for name in members}


def _letters(discussion: Discussion) -> dict[int, str]:
    submitted = Assignment.objects.filter(
        trajectory=discussion.trajectory_id, state=AssignmentState.SUBMITTED
    )
    annotators = submitted.order_by().values_list("annotator", flat=True)
    return letters(discussion.letter_seed, discussion.trajectory_id, annotators)


@transaction.atomic
def retract(*, actor: User, comment: Comment) -> Comment:
    """Take back a comment of one's own: from then on only that there was one is shown. Again changes nothing.

    `comment` comes with its discussion. Raises Denied for anybody else's, Conflict when the case is resolved.
    """
    speak(actor, comment.discussion)
    if comment.author_id != actor.pk:
        raise Denied(translatable("Only its author can take a comment back."))
    Comment.objects.filter(pk=comment.pk, retracted_at__isnull=True).update(retracted_at=timezone.now())
    comment.refresh_from_db()
    return comment


@transaction.atomic
def mark_read(*, actor: User, discussion: Discussion, message_index: int | None, comment: int) -> int:
    """Note that a person has read a thread up to a comment (by its id), and has seen the notices of it; never
    back. How far they have read now.

    Raises Denied to whoever takes no part, Invalid for a comment that is not in this thread.
    """
    require_voice(actor, discussion)
    step = step_at(discussion.trajectory_id, message_index)
    thread = Comment.objects.filter(discussion=discussion, step=step)
    if comment and not thread.filter(pk=comment).exists():
        message = translatable("There is no such comment in this thread.")
        raise Invalid(message, fields={"comment": message})
    mark, made = ThreadRead.objects.get_or_create(
        user=actor, discussion=discussion, step=step, defaults={"last_read": comment}
    )
    if not made:
        ThreadRead.objects.filter(pk=mark.pk, last_read__lt=comment).update(last_read=comment)
        mark.refresh_from_db()
    notices.read(
        user=actor,
        discussion=discussion,
        comments=thread.filter(pk__lte=mark.last_read).values("pk"),
        now=timezone.now(),
    )
    return mark.last_read


def see_discussion(*, actor: User, discussion: Discussion, comment: int) -> int:
    """Mark one's notices of a discussion as seen that was shown whole, up to a comment (by its id; 0: there
    was none); how many were new. What was taken back, opened or changed has no thread that is marked."""
    return notices.read_all(user=actor, discussion=discussion, comment=comment, now=timezone.now())


def see_notices(*, actor: User, upto: int) -> int:
    """Mark one's notices as seen, up to one of them (by its id); how many were new."""
    return notices.read_up_to(user=actor, notice=upto, now=timezone.now())
