"""Gold: the running accuracy of each annotator, and the items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, QuerySet

from annotation.core.training.accuracy import Accuracy, GoldMark, accuracy
from annotation.core.training.record_shapes import unlike
from annotation.core.vocabulary import AssignmentState, RecheckKind
from annotation.models import Assignment, Membership, Project, Recheck, Trajectory, User
from annotation.policies import Actor, require
from annotation.policies.gold import gold_items


@dataclass(frozen=True, slots=True)
class AnnotatorGold:
    """One annotator: `given` gold trajectories were ever dealt to them, `submitted` of these are in;
    `accuracy` is over those that are held against their key since `membership.gold_since`. `last_good` is
    when they submitted the last one on which they reached the bound; None: none."""

    membership: Membership
    given: int
    submitted: int
    accuracy: Accuracy
    last_good: datetime | None

    @property
    def person(self) -> User:
        """Its person."""
        return self.membership.user


def _marked(membership: Membership) -> QuerySet[Recheck]:
    return Recheck.objects.filter(
        project=membership.project_id,
        annotator=membership.user_id,
        kind=RecheckKind.GOLD.value,
        agreed__isnull=False,
    )


def running_accuracy(membership: Membership) -> Accuracy:
    """The accuracy of a member since they were last resumed. One query."""
    rows = _marked(membership)
    if membership.gold_since is not None:
        rows = rows.filter(answered_at__gt=membership.gold_since)
    marks = rows.order_by("answered_at", "pk").values_list("keyed", "agreed")
    return accuracy([GoldMark(keyed or 0, agreed or 0) for keyed, agreed in marks])


def last_good(membership: Membership) -> Recheck | None:
    """The last gold on which a member reached the project's bound. One query; `membership` comes with its
    project."""
    good = _marked(membership).annotate(
        share=F("agreed") * 100, bound=F("keyed") * membership.project.gold_bound
    )
    return good.filter(share__gte=F("bound")).order_by("-answered_at", "-pk").first()


def annotators_on_gold(*, actor: Actor, project: Project) -> list[AnnotatorGold]:
    """All annotators of a project, by username. For admins. Two queries and that of the permission."""
    require(actor, "training.view", project)
    members = list(
        Membership.objects.filter(project=project, is_annotator=True)
        .select_related("user")
        .order_by("user__username")
    )
    turns: dict[int, list[tuple[str, datetime | None, int | None, int | None]]] = defaultdict(list)
    rows = Assignment.stored.filter(project=project, recheck__kind=RecheckKind.GOLD.value)
    columns = ("state", "recheck__answered_at", "recheck__keyed", "recheck__agreed")
    for annotator, *turn in rows.order_by("recheck__answered_at", "pk").values_list("annotator", *columns):
        turns[annotator].append(tuple(turn))
    return [_of(member, turns[member.user_id], project.gold_bound / 100) for member in members]


def _of(
    member: Membership, turns: Iterable[tuple[str, datetime | None, int | None, int | None]], bound: float
) -> AnnotatorGold:
    given = submitted = 0
    marks, good = [], None
    for state, at, keyed, agreed in turns:
        given += 1
        submitted += state == AssignmentState.SUBMITTED
        if at is None or keyed is None or agreed is None:
            continue
        mark = GoldMark(keyed, agreed)
        if mark.share >= bound:
            good = at
        if member.gold_since is None or at > member.gold_since:
            marks.append(mark)
    return AnnotatorGold(member, given, submitted, accuracy(marks), good)


@dataclass(frozen=True, slots=True)
class GoldInSubset:
    """The gold of a subset: `dealt` items can be given to somebody, `ended` cannot any more; `unlike` are
    record ids that do not look like those of the subset."""

    name: str
    dealt: int
    ended: int
    unlike: tuple[str, ...]


def gold_in_subsets(*, actor: Actor, project: Project) -> list[GoldInSubset]:
    """The subsets with gold, by name. For admins. Two queries and that of the permission."""
    require(actor, "training.view", project)
    items: dict[tuple[int, str], list[tuple[str, int]]] = defaultdict(list)
    columns = ("subset", "subset__name", "record_id", "free_slots")
    for subset, name, record, places in gold_items(project).order_by("record_id").values_list(*columns):
        items[subset, name].append((record, places))
    live = Trajectory.objects.filter(subset__in=[subset for subset, _name in items], live=True).order_by()
    named = defaultdict(list)
    for subset, record in live.values_list("subset", "record_id"):
        named[subset].append(record)
    listed = []
    for (subset, name), rows in sorted(items.items(), key=lambda item: item[0][1]):
        dealt = [record for record, places in rows if places]
        listed.append(
            GoldInSubset(name, len(dealt), len(rows) - len(dealt), tuple(unlike(dealt, named[subset])))
        )
    return listed
