"""Close a case, which writes the consensus, and open it again."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict
from annotation.core.i18n import translatable
from annotation.core.vocabulary import (
    AdjudicationState,
    ExposureKind,
    NoticeKind,
    Role,
    TrajectoryState,
    WebhookEvent,
)
from annotation.models import Adjudication, Discussion, Project, Trajectory, User
from annotation.policies import require, roles
from annotation.reports.releases.release_preview import frozen_in

from .. import audit, claim_expiry, consensus, discuss, exposures, webhooks
from ..judged_steps import checked_note
from ..transitions import advance
from . import rulings
from .own_case import own_open, refuse_barred


@transaction.atomic
def close_case(*, actor: User, adjudication: Adjudication, note: str = "") -> Adjudication:
    """Close a case: everything disputed must be agreed on or decided. The consensus is written at once.

    Raises Invalid (code "incomplete", details {"missing": [message indexes], "outcome": bool}; or code
    "root_is_no_error").
    """
    case = own_open(actor, adjudication)
    said_why = checked_note(note)
    # nobody changes their mind between what is read here and what is written
    Trajectory.objects.select_for_update(no_key=True).get(pk=case.trajectory_id)
    resolutions = rulings.resolved(case, consensus.positions(case.trajectory_id))
    now = timezone.now()
    advance(
        Adjudication,
        case.pk,
        AdjudicationState.OPEN,
        AdjudicationState.DECIDED,
        decided_at=now,
        note=said_why,
    )
    advance(Trajectory, case.trajectory_id, TrajectoryState.DISPUTED, TrajectoryState.ADJUDICATED)
    consensus.write({case.trajectory_id: resolutions}, adjudicator=actor)
    webhooks.note_each(WebhookEvent.RESOLVED, project=case.project_id, keys=[case.trajectory_id])
    audit.record(actor=actor, verb="case.close", project=case.project, obj=case)
    _tell(case, actor, NoticeKind.RESOLVED, now)
    case.refresh_from_db()
    return case


def _tell(case: Adjudication, actor: User, kind: NoticeKind, now: datetime) -> None:
    """Tell those who discuss it, when anybody does."""
    rows = Discussion.objects.filter(trajectory=case.trajectory_id).select_related("trajectory")
    for discussion in rows:
        discuss.tell_others(discussion=discussion, actor=actor, kind=kind, now=now)


@transaction.atomic
def reopen_case(*, actor: User, adjudication: Adjudication) -> Adjudication:
    """Open a decided case again, to correct it; the consensus is erased until it is closed again.

    Its own adjudicator and another one who may decide it go on with the decisions so far, the other having
    the case from then on; an admin puts it back into the queue. Raises Denied to whoever may not
    (`refuse_barred`), StaleState when it is not decided (any more), Conflict (code "frozen") once a release
    holds it.
    """
    person = claim_expiry.hold(actor)
    held = roles(person, adjudication.project_id)
    takes = Role.ADJUDICATOR in held
    if not takes:
        require(person, "assign", adjudication)
    refuse_barred(person, adjudication.trajectory_id)
    case = Adjudication.objects.select_for_update(no_key=True, of=("self",)).get(pk=adjudication.pk)
    # a release is frozen before this or after it, and never meanwhile
    Project.objects.select_for_update(no_key=True).get(pk=case.project_id)
    _refuse_frozen(case)
    before = case.adjudicator
    advance(
        Adjudication,
        case.pk,
        AdjudicationState.DECIDED,
        AdjudicationState.OPEN if takes else AdjudicationState.RELEASED,
        decided_at=None,
        **({"adjudicator": person} if takes else {}),
    )
    advance(Trajectory, case.trajectory_id, TrajectoryState.ADJUDICATED, TrajectoryState.DISPUTED)
    consensus.erase(case=case, actor=person)
    if takes and before != person:
        exposures.expose(user=person, trajectory=case.trajectory, kind=ExposureKind.LABEL)
    webhooks.note_each(WebhookEvent.DISPUTED, project=case.project_id, keys=[case.trajectory_id])
    whose = {} if before == person else {"username": before.username}
    audit.record(actor=person, verb="case.reopen", project=case.project, obj=case, **whose)
    _tell(case, person, NoticeKind.REOPENED, timezone.now())
    case.refresh_from_db()
    return case


def _refuse_frozen(case: Adjudication) -> None:
    release = frozen_in(Trajectory.objects.select_related("subset").get(pk=case.trajectory_id))
    if release is not None:
        raise Conflict(
            translatable(
                "Release {version} holds this trajectory; its case stays closed unless that release is "
                "withdrawn.",
                version=release.version,
            ),
            code="frozen",
        )
