"""Permission to speak in a discussion, and the people told of it."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from annotation.core.errors import Conflict, Denied
from annotation.core.i18n import translatable
from annotation.core.vocabulary import NoticeKind, TrajectoryState, Voice
from annotation.models import Comment, Discussion, Membership, Revision, Trajectory, User
from annotation.policies import participants, require, voice_of
from annotation.reports.releases.release_preview import frozen_in

from .. import notices


def lock(trajectory: int) -> Trajectory:
    """The trajectory's row, locked: a case is closed before something is said in its discussion, or after it,
    and never in between."""
    rows = Trajectory.objects.select_for_update(no_key=True, of=("self",)).select_related("project", "subset")
    return rows.get(pk=trajectory)


def require_voice(actor: User, discussion: Discussion) -> Voice:
    """The voice of a person in a discussion. Raises Denied to those who take no part."""
    require(actor, "discuss", discussion)
    voice = voice_of(actor, discussion.trajectory)
    if voice is None:
        raise Denied(translatable("You take no part in this discussion."))
    return voice


def speak(actor: User, discussion: Discussion) -> tuple[Trajectory, Voice]:
    """The trajectory, locked, and as whom the actor speaks. Raises Conflict unless it is disputed."""
    voice = require_voice(actor, discussion)
    trajectory = lock(discussion.trajectory_id)
    if trajectory.state != TrajectoryState.DISPUTED:
        release = frozen_in(trajectory)
        if release is not None:
            raise Conflict(
                translatable(
                    "Release {version} holds this trajectory, so that its discussion is closed.",
                    version=release.version,
                ),
                code="frozen",
            )
        raise Conflict(
            translatable("This case is resolved; it has to be opened again before it is discussed."),
            code="case_closed",
        )
    return trajectory, voice


def tell_others(
    *,
    discussion: Discussion,
    actor: User,
    kind: NoticeKind,
    now: datetime,
    comment: Comment | None = None,
    revision: Revision | None = None,
    mentioned: frozenset[int] = frozenset(),
) -> None:
    """Write notices for all whom a discussion concerns, the actor apart; admins who have spoken in it too."""
    people = participants(discussion.trajectory)
    still = Membership.objects.filter(user=OuterRef("author"), project=discussion.project_id, is_admin=True)
    admins = Comment.objects.filter(
        Exists(still) | Q(author__is_superuser=True),
        discussion=discussion,
        voice=Voice.ADMIN.value,
        author__is_active=True,
    )
    concerned = {*people.annotators, *admins.order_by().values_list("author", flat=True)}
    if people.adjudicator is not None:
        concerned.add(people.adjudicator)
    notified = {pk: NoticeKind.MENTION if pk in mentioned else kind for pk in concerned - {actor.pk}}
    if notified:
        notices.tell(discussion=discussion, notified=notified, now=now, comment=comment, revision=revision)
