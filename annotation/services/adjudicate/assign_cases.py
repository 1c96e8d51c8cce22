"""Assign disputes: to one adjudicator, or evenly to all who may decide them."""

from collections import Counter
from collections.abc import Collection

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.sharing.case_sharing import share
from annotation.core.vocabulary import AdjudicationState, ExposureKind, NoticeKind
from annotation.models import (
    Adjudication,
    Assignment,
    Discussion,
    Exposure,
    Membership,
    Project,
    Trajectory,
    User,
)
from annotation.models.consensus import new_letter_seed
from annotation.policies import Actor, require

from .. import audit, notices
from ..chosen import Outcome
from .own_case import refusal


@transaction.atomic
def assign_cases(
    *, actor: Actor, project: Project, trajectories: Collection[Trajectory], adjudicator: User | None = None
) -> Outcome[Adjudication, Trajectory]:
    """Give disputed trajectories of a project to an adjudicator, or share them evenly among all who may
    decide them (`core.sharing.case_sharing`). They see them when they open them, and get one notice together.

    A trajectory that is refused keeps no other from being assigned; a case that the adjudicator has already
    is simply returned. Raises Invalid when nobody of whom it is asked is an adjudicator here. Nine queries,
    two a case and two a person.
    """
    require(actor, "assign", project)
    people = _adjudicators(project, adjudicator)
    chosen = Trajectory.objects.filter(project=project, pk__in=[row.pk for row in trajectories])
    locked = {row.pk: row for row in chosen.select_for_update(no_key=True, of=("self",)).order_by("pk")}
    active = Adjudication.objects.filter(trajectory__in=locked).exclude(state=AdjudicationState.RELEASED)
    held = {case.trajectory_id: case for case in active}
    own = {
        pk: case
        for pk, case in held.items()
        if adjudicator is not None
        and case.adjudicator_id == adjudicator.pk
        and case.state == AdjudicationState.OPEN
    }
    refused: dict[int, Conflict | Invalid] = {
        pk: error
        for pk, row in locked.items()
        if pk not in own and (error := refusal(row, held.get(pk))) is not None
    }
    may = _may(people, locked.keys() - own.keys() - refused.keys())
    given = share(may, _open_cases(project, people))
    refused |= {pk: _unfit(adjudicator) for pk in may if pk not in given}
    made = _made(project, {locked[pk]: people[person] for pk, person in sorted(given.items())})
    _record(actor, made)
    ordered = sorted([*own.values(), *made], key=lambda case: case.trajectory_id)
    return Outcome(ordered, [(locked[pk], refused[pk]) for pk in sorted(refused)])


def _adjudicators(project: Project, asked: User | None) -> dict[int, User]:
    """The adjudicators of a project by pk, or the one who is asked for; locked, as `claim_expiry.hold` does
    it. Raises Invalid without one."""
    members = Membership.objects.filter(project=project, is_adjudicator=True, user__is_active=True)
    wanted = members.order_by().values_list("user", flat=True) if asked is None else [asked.pk]
    people = User.objects.filter(pk__in=wanted)
    locked = {
        person.pk: person for person in people.select_for_update(no_key=True, of=("self",)).order_by("pk")
    }
    # who they are by now: a role may have been taken from somebody meanwhile
    still = set(members.filter(user__in=locked).order_by().values_list("user", flat=True))
    if asked is not None and asked.pk not in still:
        message = translatable("{name} is no adjudicator of this project.", name=str(asked))
        raise Invalid(message, fields={"adjudicator": message})
    if not still:
        raise Invalid(translatable("This project has no adjudicator yet."), code="no_adjudicator")
    return {pk: person for pk, person in locked.items() if pk in still}


def _unfit(asked: User | None) -> Invalid:
    if asked is None:
        return Invalid(
            translatable(
                "Every adjudicator has labelled this trajectory, or knows what became of its source."
            ),
            code="no_adjudicator",
        )
    message = translatable(
        "{name} has labelled this trajectory, or knows what became of its source; another must decide it.",
        name=str(asked),
    )
    return Invalid(message, fields={"adjudicator": message})


def _may(people: dict[int, User], trajectories: Collection[int]) -> dict[int, set[int]]:
    """By trajectory the people who have never held it, and do not know what became of its source."""
    held = Assignment.stored.filter(trajectory__in=trajectories, annotator__in=people)
    exposures = Exposure.objects.filter(
        trajectory__in=trajectories, user__in=people, kind=ExposureKind.SOURCE
    )
    barred = {
        *held.order_by().values_list("trajectory", "annotator"),
        *exposures.order_by().values_list("trajectory", "user"),
    }
    return {pk: {person for person in people if (pk, person) not in barred} for pk in trajectories}


def _open_cases(project: Project, people: dict[int, User]) -> Counter[int]:
    """The number of open cases of the project of each person."""
    rows = Adjudication.objects.filter(project=project, adjudicator__in=people, state=AdjudicationState.OPEN)
    return Counter(rows.order_by().values_list("adjudicator", flat=True))


def _made(project: Project, given: dict[Trajectory, User]) -> list[Adjudication]:
    """A new case of each trajectory."""
    # the letters of a discussion that is open already stay what they are
    seeds = dict(Discussion.objects.filter(trajectory__in=given).values_list("trajectory", "letter_seed"))
    now = timezone.now()
    return Adjudication.objects.bulk_create(
        Adjudication(
            project=project,
            trajectory=trajectory,
            adjudicator=person,
            letter_seed=seeds[trajectory.pk] if trajectory.pk in seeds else new_letter_seed(),
            opened_at=now,
        )
        for trajectory, person in given.items()
    )


def _record(actor: Actor, made: list[Adjudication]) -> None:
    """Write each case into the audit log, and tell each adjudicator of their first."""
    first: dict[User, Adjudication] = {}
    for case in made:
        first.setdefault(case.adjudicator, case)
        audit.record(
            actor=actor,
            verb="case.assign",
            project=case.project,
            obj=case,
            username=case.adjudicator.username,
        )
    for person, case in first.items():
        if person != actor:
            notices.tell_one(
                user=person.pk, kind=NoticeKind.CASE_GIVEN, adjudication=case, now=timezone.now()
            )
