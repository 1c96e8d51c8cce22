"""The list of trajectories as admins read it: filters, orders, who labels each, and what was said of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import Case, Exists, F, FloatField, Max, Min, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Left

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.core.vocabulary import AssignmentState, TrajectoryState
from annotation.models import (
    ACTIVE_STATES,
    Assignment,
    Consensus,
    Label,
    OutcomeConsensus,
    OutcomeLabel,
    Project,
    Step,
    Subset,
    Trajectory,
    User,
)
from annotation.policies import kept_from_lists, require, visible

TRAJECTORY_FILTERS: Final = ("subset", "state", "model", "annotator", "q")
SORTS: Final = {
    "queue": "position",
    "record": "record_id",
    "model": "policy_model",
    "steps": "step_count",
    "state": "state",
    # the fewer slots are free, the more annotators there are: turned round in `ordered`
    "annotators": "free_slots",
    "agreement": "agreement",
    "doubt": "doubt",
}
TELLING: Final = ("agreement", "doubt")
"""The orders that tell of what was said of a trajectory; they need `labels`."""
READ_OF_QUESTION: Final = 400


def trajectories(
    *, actor: User, project: Project, filters: Mapping[str, str], sort: str = "queue", labels: bool = False
) -> QuerySet[Trajectory]:
    """The trajectories of a project that fit all `filters`, with `beginning`, the first characters of the
    question. `sort` is a key of SORTS, with a hyphen before it the other way round. For admins.

    Raises Invalid for a value that no filter offers, for an unknown order, and for an order by what was said
    without `labels`. One query, two with a filter by subset, annotator or policy model.
    """
    require(actor, "trajectory.list", project)
    _check(actor, project, filters)
    rows = visible(actor, Trajectory.objects.filter(project=project))
    if filters.get("subset"):
        rows = rows.filter(subset__name=filters["subset"])
    if filters.get("state"):
        rows = rows.filter(state=filters["state"])
    if filters.get("model"):
        rows = rows.filter(policy_model=escape(filters["model"]))
    if filters.get("annotator"):
        theirs = Assignment.objects.filter(
            trajectory=OuterRef("pk"), annotator__username=filters["annotator"], state__in=ACTIVE_STATES
        )
        rows = rows.filter(Exists(visible(actor, theirs)))
    if filters.get("q"):
        words = escape(filters["q"])
        rows = rows.filter(Q(record_id__icontains=words) | Q(task__question__icontains=words))
    shown = rows.annotate(beginning=Left("task__question", READ_OF_QUESTION))
    return (
        _ordered(actor, project, shown, sort, labels).select_related("subset", "task").defer("task__question")
    )


def _check(actor: User, project: Project, filters: Mapping[str, str]) -> None:
    subset, state = filters.get("subset", ""), filters.get("state", "")
    model, annotator = filters.get("model", ""), filters.get("annotator", "")
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


def annotators_of(project: Project) -> QuerySet[User]:
    """The people who are annotators of a project, or have an assignment in it, by name."""
    assigned = Assignment.objects.filter(project=project, annotator=OuterRef("pk"))
    member = Q(memberships__project=project, memberships__is_annotator=True)
    return User.objects.filter(member | Exists(assigned)).distinct().order_by("username")


def _ordered(
    actor: User, project: Project, rows: QuerySet[Trajectory], sort: str, labels: bool
) -> QuerySet[Trajectory]:
    """The rows in an order, those without a value last."""
    name = sort.removeprefix("-")
    if name not in SORTS:
        raise Invalid(translatable("There is no order “{name}”.", name=sort))
    if name in TELLING and not labels:
        raise Invalid(translatable("Sorting by labels would reveal them: show the labels first."))
    column: Any = F(SORTS[name])
    if name == "doubt" and (hidden := kept_from_lists(actor, project)) is not None:
        column = Case(When(hidden, then=Value(None)), default=column, output_field=FloatField())
    backwards = sort.startswith("-") != (name == "annotators")
    last = {"nulls_last": True} if name in TELLING else {}
    # the rest in the same direction, so that an index is read from one of its ends
    rest = F("position" if name == "state" else "pk")
    first = column.desc(**last) if backwards else column.asc(**last)
    return rows.order_by(first, rest.desc() if backwards and not last else rest.asc())


def annotators(actor: User, rows: Iterable[Trajectory]) -> dict[int, list[str]]:
    """By trajectory pk, the names of those who label it or have submitted it, as far as the actor may know.
    One query."""
    found = Assignment.objects.filter(trajectory__in=[row.pk for row in rows], state__in=ACTIVE_STATES)
    names: dict[int, list[str]] = defaultdict(list)
    for row in visible(actor, found).select_related("annotator").order_by("slot"):
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
    found: dict[int, TrajectoryLabels] = {pk: TrajectoryLabels() for pk in trajectories}
    for pk, low, high in of_outcomes.values_list("assignment__trajectory").annotate(**spread):
        found[pk].outcome = _cell(low, high)
    outcomes = OutcomeConsensus.objects.filter(trajectory__in=trajectories).order_by()
    for pk, value in outcomes.values_list("trajectory", "value"):
        found[pk].outcome = value
    steps = Step.objects.filter(trajectory__in=trajectories).order_by("trajectory_id", "message_index")
    for pk, step, index in steps.values_list("trajectory_id", "pk", "message_index"):
        found[pk].steps.append((index, cells.get(step)))
    return found


def _cell(low: int, high: int) -> Cell:
    return low if low == high else DIFFER
