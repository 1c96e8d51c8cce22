"""Assign trajectories: keep places for people, whom all have named, or who share them evenly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.sharing.even_shares import EvenShares
from annotation.core.vocabulary import SEEN_LABELS, TrajectoryState
from annotation.models import (
    ACTIVE_STATES,
    Assignment,
    Exposure,
    Membership,
    Project,
    Reservation,
    Trajectory,
    User,
    given_to_people,
)
from annotation.policies import Actor, require

from .. import audit
from ..chosen import Outcome
from ..cursors import lower_cursors
from ..rechecks import FULL
from ..shares import reservations

PLANNED_AT_ONCE = 100
NO_ANNOTATOR = translatable("This project has no annotator yet.")
ALL_KEPT = translatable("All free places of this trajectory are assigned already.")
JUDGES_FIRST = translatable("Judges are asked about this trajectory before people are.")
NOBODY_LEFT = translatable("All who share it have labelled this trajectory, or have seen labels of it.")
NOT_KEPT = translatable("This trajectory is assigned to none of these people.")


@transaction.atomic
def assign_trajectories(
    *,
    actor: Actor,
    project: Project,
    trajectories: Collection[Trajectory],
    annotators: Collection[User] = (),
    evenly: bool = False,
    seed: int = 0,
) -> Outcome[Reservation, Trajectory]:
    """Keep a place of each of these trajectories for each of these annotators (none: all of the project); or
    `evenly`, all free places, so that all get as many, and every two meet as often
    (`core.sharing.even_shares`).

    They claim what is kept for them before all else, and are not told. Nobody gets what they have had before,
    or have seen labels of. What is refused, of whom, keeps nothing else from being done; what is kept already
    is simply returned. Raises Invalid when one of them is no annotator here. A constant number of queries,
    and one a place.
    """
    require(actor, "assign", project)
    people = _annotators(project, annotators)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    shares = EvenShares(people, _held(project), seed=seed) if evenly else None
    return _keep(actor, project, [row.pk for row in trajectories], people, shares)


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan: the number of places and of trajectories, and the number of each person."""

    places: int
    trajectories: int
    by_person: dict[str, int]


def plan(*, actor: Actor, project: Project, annotators: Collection[User] = (), seed: int = 0) -> Plan:
    """Share all free places of a project out evenly among these annotators (none: all of the project), some
    trajectories at a time. What is kept already stays; asking again completes what was interrupted."""
    require(actor, "assign", project)
    with transaction.atomic():
        names = {pk: person.username for pk, person in _annotators(project, annotators).items()}
    shares = EvenShares(names, _held(project), seed=seed)
    rows = _with_room(project).order_by("position", "pk")
    pks = list(rows.values_list("pk", flat=True))
    made: list[Reservation] = []
    for start in range(0, len(pks), PLANNED_AT_ONCE):
        with transaction.atomic():
            people = _annotators(project, annotators)
            Project.objects.select_for_update(no_key=True).get(pk=project.pk)
            made += _keep(actor, project, pks[start : start + PLANNED_AT_ONCE], people, shares).done
    by_person = dict.fromkeys(sorted(names.values()), 0)
    for row in made:
        by_person[names[row.annotator_id]] += 1
    return Plan(len(made), len({row.trajectory_id for row in made}), by_person)


@transaction.atomic
def withdraw(
    *,
    actor: Actor,
    project: Project,
    trajectories: Collection[Trajectory] | None = None,
    annotators: Collection[User] | None = None,
) -> Outcome[Trajectory, Trajectory]:
    """Keep these trajectories (None: all of the project) for these annotators (None: all) no more: their
    places are everybody's. What is kept for none of them is refused."""
    require(actor, "assign", project)
    rows = Reservation.objects.filter(project=project)
    if trajectories is not None:
        rows = rows.filter(trajectory__in=[row.pk for row in trajectories])
    if annotators is not None:
        rows = rows.filter(annotator__in=[person.pk for person in annotators])
    people = User.objects.filter(pk__in=set(rows.order_by().values_list("annotator", flat=True)))
    list(people.order_by("pk").select_for_update(no_key=True))
    ended = reservations.lock(rows)
    freed = reservations.free(ended)
    for row in ended:
        audit.record(
            actor=actor,
            verb="trajectory.unassign",
            project=project,
            obj=row.trajectory,
            username=row.annotator.username,
        )
    for pk, position in freed.items():
        lower_cursors(project_id=pk, position=position)
    done = {row.trajectory_id: row.trajectory for row in ended}
    not_kept = Conflict(NOT_KEPT, code="not_assigned")
    return Outcome(list(done.values()), [(row, not_kept) for row in trajectories or () if row.pk not in done])


def _annotators(project: Project, asked: Collection[User]) -> dict[int, User]:
    """The annotators of a project by pk, or those who are asked for, locked as `claim_expiry.hold` does it.
    Raises Invalid for whoever is none, and without any."""
    members = Membership.objects.filter(project=project, is_annotator=True, user__is_active=True)
    wanted = [person.pk for person in asked] or members.order_by().values_list("user", flat=True)
    rows = User.objects.filter(pk__in=wanted).order_by("pk").select_for_update(no_key=True, of=("self",))
    people = {person.pk: person for person in rows}
    still = set(members.filter(user__in=people).order_by().values_list("user", flat=True))
    for pk, person in people.items():
        if asked and pk not in still:
            message = translatable("{name} is no annotator of this project.", name=str(person))
            raise Invalid(message, fields={"annotators": message})
    if not still:
        raise Invalid(NO_ANNOTATOR, code="no_annotator")
    return {pk: person for pk, person in people.items() if pk in still}


def _with_room(project: Project) -> QuerySet[Trajectory]:
    """The trajectories of which a place is free, and kept for nobody."""
    return Trajectory.objects.filter(
        given_to_people(),
        project=project,
        live=True,
        state=TrajectoryState.LABELLING,
        free_slots__gt=F("reserved"),
    )


def _held(project: Project) -> Iterable[list[int]]:
    """Of each trajectory the people who have it, or are to have it. Two queries."""
    holders: dict[int, list[int]] = defaultdict(list)
    active = Assignment.objects.filter(project=project, state__in=ACTIVE_STATES).order_by()
    kept = Reservation.objects.filter(project=project).order_by()
    for rows in (active, kept):
        for trajectory, person in rows.values_list("trajectory", "annotator"):
            holders[trajectory].append(person)
    return holders.values()


def _keep(
    actor: Actor, project: Project, pks: Collection[int], people: dict[int, User], shares: EvenShares | None
) -> Outcome[Reservation, Trajectory]:
    """The part of `assign_trajectories` that all of it is about; people and project are locked."""
    chosen = Trajectory.objects.filter(project=project, pk__in=pks)
    rows = list(chosen.order_by("pk").select_for_update(no_key=True, of=("self",)))
    there = Reservation.objects.filter(trajectory__in=rows).order_by()
    kept = {(row.trajectory_id, row.annotator_id): row for row in there}
    held = Assignment.objects.filter(trajectory__in=rows, state__in=ACTIVE_STATES).order_by()
    holders: dict[int, list[int]] = defaultdict(list)
    for pk, person in [*held.values_list("trajectory", "annotator"), *kept]:
        holders[pk].append(person)
    barred = _barred(rows, people)
    given = set(chosen.filter(given_to_people()).order_by().values_list("pk", flat=True))
    done, refused = list[Reservation](), list[tuple[Trajectory, Conflict | Invalid]]()
    now = timezone.now()

    def keep(row: Trajectory, person: int) -> None:
        done.append(Reservation(project=project, trajectory=row, annotator=people[person], created_at=now))
        holders[row.pk].append(person)
        row.reserved += 1

    for row in rows:
        if not row.live or row.state != TrajectoryState.LABELLING or not row.free_slots:
            refused.append((row, Conflict(FULL, code="no_free_slot")))
            continue
        if row.pk not in given:
            refused.append((row, Conflict(JUDGES_FIRST, code="judges_first")))
            continue
        if shares is not None:
            unfit = {person for person in people if (row.pk, person) in barred}
            places = row.free_slots - row.reserved
            dealt = shares.deal(row.pk, places=places, holders=holders[row.pk], barred=unfit)
            for person in dealt:
                keep(row, person)
            if len(dealt) < places:
                refused.append((row, Conflict(NOBODY_LEFT, code="nobody_left")))
            elif not places:
                refused.append((row, Conflict(ALL_KEPT, code="all_assigned")))
            continue
        for person, user in people.items():
            if (row.pk, person) in kept:
                done.append(kept[row.pk, person])
            elif (row.pk, person) in barred:
                refused.append((row, _unfit(user, seen=barred[row.pk, person])))
            elif row.reserved >= row.free_slots:
                refused.append((row, Conflict(ALL_KEPT, code="all_assigned")))
            else:
                keep(row, person)
    made = Reservation.objects.bulk_create([one for one in done if one.pk is None])
    Trajectory.objects.bulk_update({one.trajectory for one in made}, ["reserved"])
    for one in made:
        audit.record(
            actor=actor,
            verb="trajectory.assign",
            project=project,
            obj=one.trajectory,
            username=one.annotator.username,
        )
    return Outcome(done, refused)


def _barred(rows: Collection[Trajectory], people: Collection[int]) -> dict[tuple[int, int], bool]:
    """Of trajectory and person, those who have had it before (False), or have seen labels of it (True)."""
    had = Assignment.stored.filter(trajectory__in=rows, annotator__in=people).order_by()
    seen = Exposure.objects.filter(trajectory__in=rows, user__in=people, kind__in=SEEN_LABELS).order_by()
    barred = dict.fromkeys(seen.values_list("trajectory", "user"), True)
    return barred | dict.fromkeys(had.values_list("trajectory", "annotator"), False)


def _unfit(person: User, *, seen: bool) -> Conflict:
    if seen:
        message = translatable("{name} has seen labels of this trajectory.", name=str(person))
        return Conflict(message, code="exposed")
    message = translatable("{name} has labelled this trajectory, or had it before.", name=str(person))
    return Conflict(message, code="had_before")
