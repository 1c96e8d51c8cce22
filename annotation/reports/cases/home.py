"""A person's work, project by project, in a constant number of queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation import policies
from annotation.core.vocabulary import (
    IN_RELEASES,
    SEEN_LABELS,
    AdjudicationState,
    AssignmentState,
    ImportState,
    Role,
    TrajectoryState,
)
from annotation.models import (
    Adjudication,
    Assignment,
    Exposure,
    ImportFile,
    Membership,
    Project,
    Reservation,
    Trajectory,
    User,
    given_to_people,
)
from annotation.policies import withheld
from annotation.policies.qualifying import closed_subsets
from annotation.policies.rechecks import askable

from ..training.next_turn import Closed, NextTurn, next_turns
from ..work import trajectory_counts
from ..work.my_progress import OwnWork, own_work, with_progress
from .disputes import waiting, waiting_to_decide

OPEN_SHOWN = 5
PROJECTS_SHOWN = 30
UNFINISHED_IMPORTS = (ImportState.UPLOADED.value, ImportState.QUEUED.value, ImportState.RUNNING.value)


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue of a project for one annotator: `can_claim`, whether something is free for them to label,
    `next`, what stands before it, and `why`, a sentence, where they are given nothing although something may
    be left: they are paused or away, or have as many as they may."""

    can_claim: bool = False
    next: NextTurn | None = None
    why: str = ""

    @property
    def has_nothing(self) -> bool:
        """Whether nothing is left for them, and nothing stands before it."""
        return not (self.can_claim or self.next or self.why)


@dataclass
class ProjectWork:
    """One project on the home page: what this person can do in it now.

    `queue` is for annotators; `disputes` (cases nobody has, not labelled by this person) and `cases` (their
    own open ones) for adjudicators. For admins alone: `counts` (state → trajectories), `untaken` (disputes
    that nobody has), `left` (labellings to be submitted), and `ending`, the claims that end soon because
    nobody uses them.
    """

    project: Project
    roles: tuple[Role, ...]
    open: list[Assignment] = field(default_factory=list)
    own: OwnWork = field(default_factory=OwnWork)
    queue: Queue = field(default_factory=Queue)
    disputes: int = 0
    cases: list[Adjudication] = field(default_factory=list)
    imports: list[ImportFile] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    untaken: int = 0
    left: int = 0
    ending: int = 0

    @property
    def waits(self) -> bool:
        """Whether anything waits for this person."""
        own = bool(self.open or self.own.open or self.cases or self.imports or self.queue.can_claim)
        return own or bool(self.disputes or self.untaken or self.ending or self.complete)

    @property
    def complete(self) -> bool:
        """Whether every trajectory is resolved, and a release can be frozen (admins)."""
        return self.total > 0 and self.resolved == self.total and not self.left

    @property
    def total(self) -> int:
        """All trajectories of the project (admins)."""
        return sum(self.counts.values())

    @property
    def resolved(self) -> int:
        """The number of trajectories with a consensus (admins)."""
        return sum(self.counts.get(state, 0) for state in IN_RELEASES)


def waiting_for(user: User) -> list[ProjectWork]:
    """The projects of a person, the first 30 by name, with what waits in each: those where something does
    come first. At most fifteen queries."""
    projects = list(policies.visible(user, Project.objects.all())[:PROJECTS_SHOWN])
    closed = closed_subsets(user, [project.pk for project in projects])
    memberships = {row.project_id: row for row in _memberships(user, projects, closed)}
    cards = {}
    turns = next_turns(user, memberships.values(), closed)
    for project in projects:
        member = memberships.get(project.pk)
        roles = set(member.roles) if member is not None else set()
        if user.is_superuser:
            roles.add(Role.ADMIN)
        cards[project.pk] = ProjectWork(project=project, roles=tuple(role for role in Role if role in roles))
        if member is not None:
            cards[project.pk].queue = _queue(member, turns)
    _own_work(user, cards)
    _disputes(user, {pk: card for pk, card in cards.items() if Role.ADJUDICATOR in card.roles})
    _for_admins(user, {pk: card for pk, card in cards.items() if Role.ADMIN in card.roles})
    return sorted(cards.values(), key=lambda card: not card.waits)


def _memberships(user: User, projects: Iterable[Project], closed: Closed) -> QuerySet[Membership]:
    """The person's memberships, each with `has_work`: they would be given something if they claimed; whether
    a quota of theirs is `full`, and until when they are `away`."""
    theirs = Assignment.objects.filter(trajectory=OuterRef("pk"), annotator=user)
    rechecked = Assignment.stored.filter(recheck__trajectory=OuterRef("pk"), annotator=user)
    seen = Exposure.objects.filter(trajectory=OuterRef("pk"), user=user, kind__in=SEEN_LABELS)
    unpassed = [subset for subsets in closed.values() for subset in subsets]
    full = withheld.reached(user)
    free = Trajectory.objects.filter(
        ~Q(subset__in=unpassed) if unpassed else Q(),
        ~Q(subset__in=full.values("subset")),
        given_to_people(),
        ~Exists(theirs),
        ~Exists(rechecked),
        ~Exists(seen),
        project=OuterRef("project"),
        live=True,
        free_slots__gt=F("reserved"),
        position__gte=OuterRef("claim_cursor"),
    )
    kept = Reservation.objects.filter(annotator=user, project=OuterRef("project"))
    rows = Membership.objects.filter(user=user, project__in=[project.pk for project in projects])
    rechecks = askable(user).filter(project=OuterRef("project"))
    return rows.annotate(
        has_work=Exists(free) | Exists(kept) | Exists(rechecks),
        full=Exists(full.filter(membership=OuterRef("pk"))),
        away=withheld.away_until(withheld.today(user)),
    )


def queue_for(user: User, project: Project) -> Queue:
    """A project's queue for this person. At most six queries."""
    closed = closed_subsets(user, [project.pk])
    row = _memberships(user, [project], closed).first()
    return Queue() if row is None else _queue(row, next_turns(user, [row], closed))


def _queue(member: Membership, turns: Mapping[int, NextTurn]) -> Queue:
    """Of a membership, as `_memberships` gives it."""
    if not member.is_annotator:
        return Queue()
    if member.paused_at is not None:
        return Queue(why=withheld.PAUSED)
    away = getattr(member, "away", None)
    if away is not None:
        return Queue(why=withheld.away_text(away))
    turn = turns.get(member.project_id)
    if bool(getattr(member, "has_work", False)) or (turn is not None and turn.kind != "open"):
        return Queue(True, turn)
    return Queue(False, turn, withheld.QUOTA if getattr(member, "full", False) else "")


def _own_work(user: User, cards: dict[int, ProjectWork]) -> None:
    for project, work in own_work(user, cards).items():
        cards[project].own = work
    if any(card.own.open for card in cards.values()):
        own = Assignment.stored.filter(annotator=user, project__in=cards, state=AssignmentState.OPEN)
        newest = with_progress(own).order_by("-last_used_at", "-pk")
        for assignment in newest[: OPEN_SHOWN * PROJECTS_SHOWN]:
            card = cards[assignment.project_id]
            if len(card.open) < OPEN_SHOWN:
                card.open.append(assignment)


def _disputes(user: User, cards: dict[int, ProjectWork]) -> None:
    if not cards:
        return
    for project, n in waiting_to_decide(user, cards).values_list("project").annotate(n=Count("pk")):
        cards[project].disputes = n
    cases = Adjudication.objects.filter(adjudicator=user, project__in=cards, state=AdjudicationState.OPEN)
    for case in cases.select_related("trajectory__subset"):
        cards[case.project_id].cases.append(case)


def _for_admins(user: User, cards: dict[int, ProjectWork]) -> None:
    if not cards:
        return
    states: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for project, kinds in trajectory_counts.by_state(cards, now=False).items():
        for alike in kinds:
            states[project][alike.state] += alike.trajectories
            if alike.state == TrajectoryState.LABELLING:
                cards[project].left += alike.free_slots * alike.trajectories
    # whatever else were said of what they have open would tell that it is a recheck (policies.shown_state)
    held = list(policies.being_labelled(user).filter(project__in=cards).values_list("trajectory", flat=True))
    own = Trajectory.objects.filter(pk__in=held, live=True).order_by().values_list("project", "state")
    for project, state, n in own.annotate(n=Count("pk")):
        states[project][state] -= n
        states[project][TrajectoryState.LABELLING] += n
    for pk, by_state in states.items():
        cards[pk].counts = {state: n for state, n in by_state.items() if n > 0}
    claims = Assignment.objects.filter(project__in=cards, state=AssignmentState.OPEN).values("project")
    for claimed in claims.annotate(n=Count("pk"), ending=Count("warned_at")).order_by():
        cards[claimed["project"]].left += claimed["n"]
        cards[claimed["project"]].ending = claimed["ending"]
    for project, n in waiting(cards).values_list("project").annotate(n=Count("pk")):
        cards[project].untaken = n
    running = policies.visible(
        user, ImportFile.objects.filter(project__in=cards, state__in=UNFINISHED_IMPORTS)
    )
    for source in running.select_related("subset").defer("errors"):
        cards[source.project_id].imports.append(source)
