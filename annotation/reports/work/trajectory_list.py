"""The list of trajectories as admins read it: filters, orders, who labels each, and what was said of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connections
from django.db.models import (
    Case,
    Exists,
    F,
    FloatField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Left

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.names import folded
from annotation.core.text import escape
from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.models import (
    ACTIVE_STATES,
    Assignment,
    Consensus,
    Label,
    Membership,
    OutcomeConsensus,
    OutcomeLabel,
    Project,
    Reservation,
    Step,
    Subset,
    Tag,
    Task,
    Trajectory,
    User,
)
from annotation.models.labels import BY_PERSON
from annotation.policies import being_labelled, kept_from_lists, require, visible

from .tags import tagged

TRAJECTORY_FILTERS: Final = ("subset", "state", "model", "annotator", "tag", "q")
SORTS: Final = {
    "queue": "shown_place",
    "record": "record_id",
    "model": "policy_model",
    "steps": "step_count",
    "state": "shown_state",
    # the fewer slots are free, the more annotators there are: turned round in `ordered`
    "annotators": "shown_slots",
    "agreement": "agreement",
    "doubt": "doubt",
}
TELLING: Final = ("agreement", "doubt")
"""The orders that tell of what was said of a trajectory; they need `labels`."""
READ_OF_QUESTION: Final = 400
FIRST: Final = -1
"""The place of what its reader holds: before all others."""


def trajectories(
    *, actor: User, project: Project, filters: Mapping[str, str], sort: str = "queue", labels: bool = False
) -> QuerySet[Trajectory]:
    """The trajectories of a project that fit all `filters`, with `beginning`, the first characters of the
    question, and `state` and `free_slots` as the actor may know them. `sort` is a key of SORTS, with a hyphen
    before it the other way round. For admins.

    Raises Invalid for a value that no filter offers, for an unknown order, and for an order by what was said
    without `labels`. Two queries, three with a filter by subset, annotator, policy model or tag.
    """
    require(actor, "trajectory.list", project)
    _check(actor, project, filters)
    held = held_by(actor, project)
    # an admin may know of all that are live, which indexes tell as long as nothing else is asked
    rows = as_shown(Trajectory.objects.filter(project=project, live=True), held)
    if filters.get("subset"):
        rows = rows.filter(subset__name=filters["subset"])
    if filters.get("state"):
        rows = rows.filter(shown_state=filters["state"])
    if filters.get("model"):
        rows = rows.filter(policy_model=escape(filters["model"]))
    if filters.get("annotator"):
        rows = rows.filter(_is_given_to(filters["annotator"], actor, held))
    if filters.get("tag"):
        rows = rows.filter(tagged(actor, filters["tag"]))
    if filters.get("q"):
        words = escape(filters["q"])
        rows = rows.filter(Q(record_id__icontains=words) | Q(task__question__icontains=words))
    # no join, which every count would take along
    question = Task.objects.filter(pk=OuterRef("task")).values("question")
    shown = rows.annotate(beginning=Left(Subquery(question), READ_OF_QUESTION))
    in_order = _ordered(actor, project, shown, sort, labels=labels, holds=bool(held))
    return in_order.select_related("subset", "task").defer("task__question")


def held_by(actor: User, project: Project) -> list[int]:
    """The trajectories of a project that a person has open. One query."""
    return list(being_labelled(actor).filter(project=project).values_list("trajectory", flat=True))


def as_shown(rows: QuerySet[Trajectory], held: Collection[int]) -> QuerySet[Any]:
    """Trajectories with `shown_state`, `shown_slots`, `shown_reserved` and `shown_place`: of those that their
    reader holds, the state is that they are being labelled, free and kept slots are not told (null), and
    their place is before all others. Real ones would tell rechecks."""

    def shown(column: str, instead: int | str | None) -> Any:
        # without any, the column itself, so that an index serves filters and orders
        kind: Any = Trajectory._meta.get_field(column)
        mine = When(pk__in=held, then=Value(instead))
        return Case(mine, default=F(column), output_field=kind) if held else F(column)

    return rows.annotate(
        shown_state=shown("state", TrajectoryState.LABELLING.value),
        shown_slots=shown("free_slots", None),
        shown_reserved=shown("reserved", None),
        shown_place=shown("position", FIRST),
    )


def _is_given_to(name: str, actor: User, held: Collection[int]) -> Q:
    """The condition on trajectories that the annotator `name` labels, has submitted, or has a place of.

    As far as an admin may know who has `held` open: of these they know of themselves alone.
    """
    of_it = {"trajectory": OuterRef("pk"), "annotator__username": name}
    turns = Q(Exists(Assignment.objects.filter(**of_it, state__in=ACTIVE_STATES)))
    kept = Q(Exists(Reservation.objects.filter(**of_it)))
    if not held:
        return turns | kept
    return (turns | kept) & ~Q(pk__in=held) | (Q(pk__in=held) if name == actor.username else Q(pk__in=()))


def _check(actor: User, project: Project, filters: Mapping[str, str]) -> None:
    subset, state = filters.get("subset", ""), filters.get("state", "")
    model, annotator = filters.get("model", ""), filters.get("annotator", "")
    tag = filters.get("tag", "")
    if subset and not Subset.objects.filter(project=project, name=subset).exists():
        raise Invalid(translatable("There is no subset “{name}”.", name=subset))
    if state and state not in set(TrajectoryState):
        raise Invalid(translatable("There is no state “{name}”.", name=state))
    if (
        model
        and not Trajectory.objects.filter(project=project, live=True, policy_model=escape(model)).exists()
    ):
        raise Invalid(translatable("There is no policy model “{name}” in this project.", name=model))
    if annotator and not annotators_of(project).filter(username=annotator).exists():
        raise Invalid(translatable("There is no annotator “{name}” in this project.", name=annotator))
    if tag and not Tag.objects.filter(project=project, key=folded(tag)).exists():
        raise Invalid(translatable("There is no tag “{name}”.", name=tag))


def annotators_of(project: Project) -> QuerySet[User]:
    """The people who are annotators of a project, or have an assignment in it, by name."""
    assigned = Assignment.objects.filter(project=project, annotator=OuterRef("pk"))
    member = Membership.objects.filter(project=project, user=OuterRef("pk"), is_annotator=True)
    # One of theirs, and not whether there is one, in the order of the index by person: in any other way
    # PostgreSQL would read all of a project's for whoever has none.
    people = User.objects.alias(one=Subquery(assigned.order_by(*BY_PERSON).values("pk")[:1]))
    return people.filter(Exists(member) | Q(one__isnull=False)).order_by("username")


NEXT_MODEL: Final = f"""WITH RECURSIVE model(name) AS (
    SELECT MIN(policy_model) FROM {Trajectory._meta.db_table} WHERE project_id = %s AND live
    UNION ALL
    SELECT (SELECT MIN(t.policy_model) FROM {Trajectory._meta.db_table} t
        WHERE t.project_id = %s AND t.live AND t.policy_model > model.name)
    FROM model WHERE model.name IS NOT NULL)
    SELECT name FROM model WHERE name IS NOT NULL"""


def policy_models(project: Project) -> list[str]:
    """The policy models of a project's live trajectories, by name, for whoever has asked permission. One
    query, which steps from one model to the next in an index instead of passing by all trajectories."""
    with connections[Trajectory.objects.db].cursor() as cursor:
        cursor.execute(NEXT_MODEL, [project.pk, project.pk])
        return [name for (name,) in cursor.fetchall()]


def _ordered(
    actor: User, project: Project, rows: QuerySet[Trajectory], sort: str, *, labels: bool, holds: bool
) -> QuerySet[Trajectory]:
    """The rows in an order, those without a value last. `holds`: the actor has some of them open."""
    name = sort.removeprefix("-")
    if name not in SORTS:
        raise Invalid(translatable("There is no order “{name}”.", name=sort))
    if name in TELLING and not labels:
        raise Invalid(translatable("Sorting by labels would reveal them: show the labels first."))
    column: Any = F(SORTS[name])
    if name in TELLING and (hidden := kept_from_lists(actor, project)) is not None:
        column = Case(When(hidden, then=Value(None)), default=column, output_field=FloatField())
    backwards = sort.startswith("-") != (name == "annotators")
    # only where it is needed: of the indexes that of agreement alone has this order, on PostgreSQL one way
    last = {"nulls_last": True} if name in TELLING or (name == "annotators" and holds) else {}
    # the rest in the same direction, so that an index is read from one of its ends
    rest = F("shown_place" if name == "state" else "pk")
    first = column.desc(**last) if backwards else column.asc(**last)
    order = [first, rest.desc() if backwards else rest.asc()]
    # what the actor holds has one state and one place: the rows' own order would show through
    return rows.order_by(*order, "pk") if holds else rows.order_by(*order)


def annotators(actor: User, rows: Collection[Any]) -> dict[int, list[str]]:
    """By trajectory pk, the names of those who label it or have submitted it, as far as an admin may know: of
    what they have open, themselves alone. Of rows as `as_shown` gives them. One query."""
    held = {row.pk for row in rows if row.shown_place == FIRST}
    others = [row.pk for row in rows if row.pk not in held]
    turns = Assignment.objects.filter(trajectory__in=others, state__in=ACTIVE_STATES)
    names: dict[int, list[str]] = defaultdict(list)
    for row in turns.select_related("annotator").order_by("slot"):
        names[row.trajectory_id].append(str(row.annotator))
    return names | {pk: [str(actor)] for pk in held}


def assigned(actor: User, rows: Iterable[Trajectory]) -> dict[int, list[str]]:
    """By trajectory pk, the names of those for whom a place is kept; not of what the actor holds, of which it
    would tell that it is no recheck. One query."""
    mine = being_labelled(actor).filter(trajectory=OuterRef("trajectory"))
    kept = Reservation.objects.filter(~Exists(mine), trajectory__in=[row.pk for row in rows])
    names: dict[int, list[str]] = defaultdict(list)
    for row in visible(actor, kept).select_related("annotator").order_by("annotator__username"):
        names[row.trajectory_id].append(str(row.annotator))
    return names


class Differ:
    """Stands for the value of a step on which annotators differ, and which nobody has decided."""


DIFFER: Final = Differ()
Cell = int | Differ | None


@dataclass(slots=True)
class TrajectoryLabels:
    """The labels of a trajectory, as a list shows them.

    `steps`: for each step in order its message index and consensus, or what all annotators who have submitted
    said (`DIFFER`: not the same; None: nothing yet); `outcome`: the same of the outcome.
    """

    steps: list[tuple[int, Cell]] = field(default_factory=list)
    outcome: Cell = None

    @property
    def told(self) -> bool:
        """Whether anything was said at all."""
        return self.outcome is not None or any(cell is not None for _index, cell in self.steps)


def said(trajectories: Collection[int]) -> dict[int, TrajectoryLabels]:
    """The labels of these trajectories (by pk), drafts left out. Five queries. For services/noted_reads.py,
    which asks permission and notes what is shown."""
    submitted = {"assignment__trajectory__in": trajectories, "assignment__state": AssignmentState.SUBMITTED}
    spread = {"low": Min("value"), "high": Max("value")}
    of_steps = Label.objects.filter(**submitted, value__isnull=False).order_by().values_list("step")
    cells = {step: _cell(low, high) for step, low, high in of_steps.annotate(**spread)}
    resolved = Consensus.objects.filter(trajectory__in=trajectories).order_by()
    cells |= dict(resolved.values_list("step", "value"))
    of_outcomes = OutcomeLabel.objects.filter(**submitted, value__isnull=False).order_by()
    labels: dict[int, TrajectoryLabels] = {pk: TrajectoryLabels() for pk in trajectories}
    for pk, low, high in of_outcomes.values_list("assignment__trajectory").annotate(**spread):
        labels[pk].outcome = _cell(low, high)
    outcomes = OutcomeConsensus.objects.filter(trajectory__in=trajectories).order_by()
    for pk, value in outcomes.values_list("trajectory", "value"):
        labels[pk].outcome = value
    steps = Step.objects.filter(trajectory__in=trajectories).order_by("trajectory_id", "message_index")
    for pk, step, index in steps.values_list("trajectory_id", "pk", "message_index"):
        labels[pk].steps.append((index, cells.get(step)))
    return labels


def _cell(low: int, high: int) -> Cell:
    return low if low == high else DIFFER
