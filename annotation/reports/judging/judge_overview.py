"""The judges of a project side by side, and the failed items of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum

from annotation import models as m
from annotation.core.vocabulary import SETTLED, AssignmentState, SuggestionItemState
from annotation.models.blindness import blind_value
from annotation.policies import Actor, visible

from . import runs


@dataclass(frozen=True, slots=True)
class JudgeOverview:
    """One judge in the list.

    `failed`: judgements that brought no label: failed items of its newest run, or failed lines of its files.
    `compared` and `agreed` count labels that people gave before seeing a suggestion, of steps that the judge
    has labelled too, and those of them that are the same. `cost` in US dollars, over all its runs.
    """

    judge: m.Judge
    suggestions: int
    failed: int
    compared: int
    agreed: int
    cost: Decimal
    run: m.SuggestionRun | None

    @property
    def agreement(self) -> float | None:
        """The share of steps labelled alike; None without a label to compare with."""
        return self.agreed / self.compared if self.compared else None


def overview(*, viewer: Actor, project: m.Project) -> list[JudgeOverview]:
    """All judges of a project by name, retired ones too. Six queries and those of the permission.

    Raises Denied. Only trajectories whose labels are all in are compared, as in every agreement figure.
    """
    rows = runs.judges(viewer=viewer, project=project, retired=True)
    judges = [row.judge for row in rows]
    costs = _costs(judges)
    empty = _empty(judges)
    compared, agreed = _compared(judges)
    return [
        JudgeOverview(
            judge=row.judge,
            suggestions=row.suggestions - empty[row.judge.pk],
            failed=empty[row.judge.pk] + _failed_at(row.run),
            compared=compared[row.judge.pk],
            agreed=agreed[row.judge.pk],
            cost=costs.get(row.judge.pk, Decimal(0)),
            run=row.run,
        )
        for row in rows
    ]


def _failed_at(run: m.SuggestionRun | None) -> int:
    """The trajectories that a run could not label."""
    return run.progress_failed if run is not None and run.options is None else 0


def _costs(judges: Iterable[m.Judge]) -> dict[int, Decimal]:
    runs = m.SuggestionRun.objects.filter(judge__in=judges).order_by()
    return dict(runs.values_list("judge").annotate(cost=Sum("cost")))


def _empty(judges: Iterable[m.Judge]) -> Counter[int]:
    """Suggestions without a single label: failed judgements that a file brought, kept with their reason."""
    labels = m.SuggestedLabel.objects.filter(suggestion=OuterRef("pk"), value__isnull=False)
    rows = m.Suggestion.objects.filter(~Exists(labels), judge__in=judges).order_by()
    return Counter(dict(rows.values_list("judge").annotate(n=Count("pk"))))


def _compared(judges: Iterable[m.Judge]) -> tuple[Counter[int], Counter[int]]:
    """Pairs of a judge's and a person's label of one step, and those that are the same, by judge."""
    blind = blind_value("step__labels__")
    rows = (
        m.SuggestedLabel.objects.filter(
            suggestion__judge__in=judges,
            suggestion__trajectory__live=True,
            suggestion__trajectory__state__in=SETTLED,
            value__isnull=False,
            step__labels__assignment__recheck__isnull=True,
            step__labels__assignment__state=AssignmentState.SUBMITTED,
        )
        .annotate(blind=blind)
        .filter(blind__isnull=False)
        .order_by()
        .values_list("suggestion__judge")
        .annotate(n=Count("pk"), same=Count("pk", filter=Q(value=F("blind"))))
    )
    compared: Counter[int] = Counter()
    agreed: Counter[int] = Counter()
    for judge, n, same in rows:
        compared[judge], agreed[judge] = n, same
    return compared, agreed


def locked(judge: m.Judge) -> bool:
    """Whether what its answers depend on is fixed: it has suggestions, or a run that may bring some, or that
    wrote distractors."""
    fixing = Q(state__in=m.UNFINISHED_RUNS) | Q(options__isnull=False)
    runs = m.SuggestionRun.objects.filter(fixing, judge=judge)
    return m.Suggestion.objects.filter(judge=judge).exists() or runs.exists()


def failed(*, viewer: Actor, run: m.SuggestionRun) -> QuerySet[m.SuggestionItem]:
    """The items that failed in a run, in its order, each with its trajectory and, as `answer`, the id of its
    last raw answer: null where nothing came back, or when the viewer is labelling that trajectory."""
    last = visible(
        viewer, m.JudgeAnswer.objects.filter(run=OuterRef("run"), trajectory=OuterRef("trajectory"))
    )
    rows = m.SuggestionItem.objects.filter(run=run, state=SuggestionItemState.FAILED)
    return (
        visible(viewer, rows)
        .select_related("trajectory")
        .annotate(answer=Subquery(last.order_by("-created_at").values("pk")[:1]))
        .order_by("pk")
    )
