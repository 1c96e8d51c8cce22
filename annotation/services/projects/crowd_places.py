"""Places of crowd links: taking one, finishing it, giving it back, and those whose time is over.

The id that a crowd service hands over stands in the place's row alone: neither account nor audit log, release
or pseudonym is made of it. Whoever opens a link with an id signs in to the account that was made for it,
which can do nothing but label there (docs/decisions/0067-people-of-a-crowd-come-by-an-open-link.md).
"""

import re
import secrets
from datetime import datetime, timedelta
from urllib.parse import quote

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from annotation.core.errors import Conflict, Denied, Invalid, NotFound, StaleState
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AttemptState, CrowdState, ExpiryReason
from annotation.models import Assignment, CrowdLink, CrowdPlace, Membership, TestAttempt, User
from annotation.models.people.crowd import MAX_OUTSIDE_ID
from annotation.policies import OPERATOR, Actor, require
from annotation.policies.crowd import screened_out, submitted_at

from .. import accounts, audit, claim_expiry
from ..transitions import advance
from .crowd_links import CODE_MARK

OUTSIDE_ID = re.compile(rf"[A-Za-z0-9_.@-]{{1,{MAX_OUTSIDE_ID}}}")
SWEPT_AT_ONCE = 200
LEFT_BY_CHOICE = (CrowdState.RETURNED, CrowdState.TIMED_OUT)


def crowd_link_of(*, token: str) -> CrowdLink:
    """The link of a token. Raises NotFound when there is none."""
    link = CrowdLink.objects.filter(token=token).select_related("project").first()
    if link is None:
        raise NotFound(
            translatable("There is no such link. Open the study once more where you found it."),
            code="crowd_link_gone",
        )
    return link


def arrival(*, link: CrowdLink, outside_id: str, user: User | None) -> CrowdPlace | None:
    """The place that somebody already has who opens a link with an id, signed in as `user`; None where they
    may take one. Changes nothing.

    Raises Invalid for what is no id; Conflict where the browser is signed in as somebody else, the link is
    closed or full, or the person has a place at another link of the project; Denied where an admin has ended
    their membership.
    """
    outside_id = _checked_id(outside_id)
    place, known = _known(link, outside_id)
    if user is not None and user != known:
        _refuse_other(link, user)
    if known is not None:
        _keep_account(known, link)
    if place is None:
        _keep_open(link)
        _keep_last(link, known)
    elif place.state == CrowdState.ACTIVE and not _is_annotator(place.user, link):
        raise _ended_by_admin()
    return place


def enter(
    *, link: CrowdLink, outside_id: str, user: User | None = None, now: datetime | None = None
) -> CrowdPlace:
    """The place of whoever opens a link with an id: theirs already, or a new one with a new account.

    The link is the permission, so there is no `actor`. Raises what `arrival` does.
    """
    now = now or timezone.now()
    place = arrival(link=link, outside_id=outside_id, user=user) or _enter(link, outside_id, user, now)
    if place.state == CrowdState.ACTIVE and place.expires_at <= now:
        _end_if_due(place.pk, now)
        place.refresh_from_db()
    return place


@transaction.atomic
def _enter(link: CrowdLink, outside_id: str, user: User | None, now: datetime) -> CrowdPlace:
    # one after another at all links of a project, so that an id is one person at all of them
    links = CrowdLink.objects.filter(project=link.project_id).select_for_update(no_key=True).order_by("pk")
    link = next(row for row in links.select_related(None) if row.pk == link.pk)
    place = arrival(link=link, outside_id=outside_id, user=user)
    if place is not None:
        return place
    if not CrowdLink.objects.filter(pk=link.pk, taken__lt=F("places")).update(taken=F("taken") + 1):
        raise _full()
    _place, person = _known(link, _checked_id(outside_id))
    person = person or accounts.new_user(username=_new_name())
    Membership.objects.get_or_create(
        project=link.project, user=person, defaults={"is_annotator": True, "created_at": now}
    )
    place = CrowdPlace.objects.create(
        link=link,
        user=person,
        outside_id=_checked_id(outside_id),
        begun_at=now,
        expires_at=now + timedelta(minutes=link.minutes),
    )
    _record(person, place, "take")
    return place


def _new_name() -> str:
    """A user name that tells nothing: by chance, and not from the id."""
    name = f"participant-{secrets.token_hex(4)}"
    while User.objects.filter(username=name).exists():
        name = f"participant-{secrets.token_hex(4)}"
    return name


def _checked_id(outside_id: str) -> str:
    if not outside_id.strip():
        raise Invalid(
            translatable("The link lacks your id. Open it from the page of the service."), code="no_id"
        )
    if not OUTSIDE_ID.fullmatch(outside_id.strip()):
        raise Invalid(
            translatable("Your id in the link is no id. Open the link from the page of the service."),
            code="bad_id",
        )
    return outside_id.strip()


def _known(link: CrowdLink, outside_id: str) -> tuple[CrowdPlace | None, User | None]:
    """The place of an id at a link, and its person: the same one at all links of the project."""
    places = CrowdPlace.objects.filter(link__project=link.project_id, outside_id=outside_id)
    rows = list(places.select_related("user", "link").order_by("-pk"))
    own = next((row for row in rows if row.link_id == link.pk), None)
    return own, rows[0].user if rows else None


def _refuse_other(link: CrowdLink, user: User) -> None:
    """The browser is signed in as somebody else than the id's person."""
    if CrowdPlace.objects.filter(user=user, link__project=link.project_id).exists():
        raise Conflict(
            translatable(
                "This browser has a place under another id. One person has one place: go on with it."
            ),
            code="other_place",
        )
    raise Conflict(
        translatable(
            "You are signed in as {account}. This link is for people of a crowd service: sign out to use it.",
            account=user.username,
        ),
        code="signed_in",
    )


def _keep_account(user: User, link: CrowdLink) -> None:
    """An id is no password: it opens no account that can do anything else than label here."""
    if not user.is_active:
        raise _ended_by_admin()
    elsewhere = Q(is_adjudicator=True) | Q(is_admin=True) | ~Q(project=link.project_id)
    if user.is_staff or user.is_superuser or Membership.objects.filter(elsewhere, user=user).exists():
        raise Conflict(
            translatable("Your account can do more than a link may open: ask the project’s admins."),
            code="more_than_a_place",
        )


def _keep_open(link: CrowdLink) -> None:
    if link.closed_at is not None:
        raise Conflict(translatable("This link is closed; nobody new can begin."), code="crowd_link_closed")
    if link.taken >= link.places:
        raise _full()


def _full() -> Conflict:
    return Conflict(
        translatable("All places are taken. One may come back: try again in a few minutes."),
        code="crowd_link_full",
    )


def _keep_last(link: CrowdLink, user: User | None) -> None:
    """Whoever comes to a second link of the project begins anew, unless an admin or a test ended the first
    place, or it is not over."""
    if user is None:
        return
    states = set(CrowdPlace.objects.filter(user=user, link__project=link.project_id).values_list("state"))
    if (CrowdState.ACTIVE.value,) in states:
        raise Conflict(
            translatable("You have a place at another link of this project: finish it first."),
            code="place_elsewhere",
        )
    kept = {(CrowdState.COMPLETED.value,)} if _is_annotator(user, link) else set()
    if not states <= {*((state.value,) for state in LEFT_BY_CHOICE), *kept}:
        raise _ended_by_admin()


def _is_annotator(user: User, link: CrowdLink) -> bool:
    return Membership.objects.filter(user=user, project=link.project_id, is_annotator=True).exists()


def _ended_by_admin() -> Denied:
    return Denied(translatable("You can no longer take part in this project."), code="crowd_removed")


# ── Leaving ───────────────────────────────
@transaction.atomic
def finish_place(*, actor: User, place: CrowdPlace, now: datetime | None = None) -> CrowdPlace:
    """End the actor's place with the code for completed work. They stay a member and keep what they
    submitted. Raises Conflict (code "not_enough") when too little is submitted, StaleState when it has
    ended."""
    require(actor, "crowd.leave", place)
    claim_expiry.hold(actor)
    done, wanted = submitted_at(place), place.link.trajectories
    if done < wanted:
        raise Conflict(
            translatable("{done} of {wanted} trajectories are submitted.", done=done, wanted=wanted),
            code="not_enough",
        )
    return _end(actor, place, CrowdState.COMPLETED, now or timezone.now())


@transaction.atomic
def return_place(*, actor: User, place: CrowdPlace, now: datetime | None = None) -> CrowdPlace:
    """Give the actor's place back, with the code for who leaves. What they submitted stays, open work goes
    back to the others, and so does the place; who has submitted enough completes it instead. Raises
    StaleState when it has ended."""
    require(actor, "crowd.leave", place)
    claim_expiry.hold(actor)
    enough = submitted_at(place) >= place.link.trajectories
    state = CrowdState.COMPLETED if enough else CrowdState.RETURNED
    return _end(actor, place, state, now or timezone.now())


def sweep_places(*, now: datetime | None = None) -> int:
    """Every worker calls this now and then: end the places whose time is over, whose person has failed all
    tests for good, or was removed by an admin. Who has submitted enough has completed theirs. Returns how
    many it ended."""
    now = now or timezone.now()
    of_project = {"test__project": OuterRef("link__project"), "state": AttemptState.FAILED}
    failed = Exists(TestAttempt.objects.filter(annotator=OuterRef("user"), **of_project))
    due = CrowdPlace.objects.filter(
        Q(expires_at__lte=now) | Q(user__is_active=False) | ~Q(_membership()) | Q(failed),
        state=CrowdState.ACTIVE,
    )
    pks = due.order_by("expires_at").values_list("pk", flat=True)
    return sum(_end_if_due(pk, now) for pk in list(pks[:SWEPT_AT_ONCE]))


def _membership() -> Exists:
    """The place's person is still an annotator of its project."""
    held = {"user": OuterRef("user"), "project": OuterRef("link__project"), "is_annotator": True}
    return Exists(Membership.objects.filter(**held))


def _end_if_due(pk: int, now: datetime) -> bool:
    with transaction.atomic():
        place = CrowdPlace.objects.select_related("link__project", "user").get(pk=pk)
        claim_expiry.hold(place.user)
        if not place.user.is_active or not _is_annotator(place.user, place.link):
            state = CrowdState.REMOVED
        elif place.expires_at <= now:
            enough = submitted_at(place) >= place.link.trajectories
            state = CrowdState.COMPLETED if enough else CrowdState.TIMED_OUT
        elif screened_out(place.user, place.link.project):
            state = CrowdState.SCREENED_OUT
        else:
            return False
        try:
            _end(OPERATOR, place, state, now)
        except StaleState:
            return False
    return True


_CODES = {
    CrowdState.COMPLETED: "completed_code",
    CrowdState.SCREENED_OUT: "screened_code",
    CrowdState.RETURNED: "screened_code",
}


def _end(actor: Actor, place: CrowdPlace, state: CrowdState, now: datetime) -> CrowdPlace:
    """End a place, whose person is held: their open work goes back, and unless it is completed the place and
    the membership go too."""
    project = place.link.project
    claims = claim_expiry.lock_claims(Assignment.stored.filter(project=project, annotator=place.user_id))
    link = CrowdLink.objects.get(pk=place.link_id)
    code = getattr(link, _CODES[state]) if state in _CODES else ""
    advance(CrowdPlace, place.pk, CrowdState.ACTIVE, state, code=code, ended_at=now)
    if state is not CrowdState.COMPLETED:
        CrowdLink.objects.filter(pk=link.pk).update(taken=F("taken") - 1)
    claim_expiry.expire(actor=actor, claims=claims, because=ExpiryReason.LEFT, now=now)
    if state is not CrowdState.COMPLETED:
        only = {"is_annotator": True, "is_adjudicator": False, "is_admin": False}
        Membership.objects.filter(project=project, user=place.user_id, **only).delete()
    place.refresh_from_db()
    _record(actor, place, state.value)
    return place


def _record(actor: Actor, place: CrowdPlace, act: str) -> None:
    audit.record(
        actor=actor,
        verb=f"crowd_place.{act}",
        project=place.link.project,
        obj=place,
        username=place.user.username,
        link=place.link.name,
    )


def way_back(place: CrowdPlace) -> str:
    """The address of the service, with the code of a place that has ended; "" where there is none."""
    return place.link.return_url.replace(CODE_MARK, quote(place.code)) if place.code else ""
