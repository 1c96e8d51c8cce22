"""The certified label error of a project, from the labels of rechecks (docs/sealing.md, "Rechecks")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, F, Q, Sum

from annotation import models as m
from annotation.core.rechecks.label_error import LabelError, RecheckedTrajectory, label_error
from annotation.core.vocabulary import RESOLVED, AssignmentState, RecheckKind
from annotation.models.blindness import BLIND_VALUE
from annotation.policies import Actor, require


def certified_error(*, viewer: Actor, project: m.Project) -> LabelError:
    """The label error of a project alone, which adjudicators may know too: a release holds it. Two
    queries."""
    require(viewer, "release.view", project)
    return error_of(strata_of(project), rechecked_trajectories(project))


def error_of(strata: Strata, rechecked: list[tuple[int, int, int, int]]) -> LabelError:
    """In one order, whatever the database's is: sums of floats depend on it."""
    by_name = {pk: row[:3] for pk, row in strata.items()}
    found = [
        RecheckedTrajectory(_key(by_name[pk]), task, steps, wrong)
        for pk, task, steps, wrong in rechecked
        if pk in by_name
    ]
    found.sort(key=lambda one: (one.stratum, one.task, one.steps, one.wrong))
    return label_error(found, dict(sorted((_key(row), steps) for *row, _n, steps in strata.values())))


Strata = dict[int, tuple[str, str, str, int, int]]


def strata_of(project: m.Project) -> Strata:
    """By stratum: subset, origin and doubt, resolved trajectories and their steps."""
    rows = m.Trajectory.objects.filter(
        project=project, live=True, state__in=RESOLVED, stratum__isnull=False
    ).order_by()
    columns = ("stratum", "stratum__subset__name", "stratum__origin", "stratum__doubt")
    counted = rows.values_list(*columns).annotate(n=Count("pk"), all_steps=Sum("step_count"))
    return {pk: (subset, origin, doubt, n, steps) for pk, subset, origin, doubt, n, steps in counted}


def _key(row: Iterable[Any]) -> tuple[str, ...]:
    """A stratum as core.rechecks.label_error names it: what it shares with others when it is empty comes
    first."""
    subset, origin, doubt = tuple(row)[:3]
    return (origin, subset, doubt)


def third_labels(project: m.Project) -> dict[str, Any]:
    """Conditions on labels: what a third person submitted of what is resolved."""
    return {
        "assignment__project": project,
        "assignment__recheck__kind": RecheckKind.THIRD.value,
        "assignment__state": AssignmentState.SUBMITTED,
        "assignment__trajectory__live": True,
        "assignment__trajectory__state__in": RESOLVED,
    }


def rechecked_trajectories(project: m.Project) -> list[tuple[int, int, int, int]]:
    """(stratum, task, steps labelled blind, wrong ones) of each trajectory that a third person has
    labelled."""
    labels = (
        m.Label.stored.filter(**third_labels(project)).annotate(blind=BLIND_VALUE).filter(blind__isnull=False)
    )
    path = "assignment__trajectory__"
    rows = labels.order_by().values_list("assignment__trajectory", f"{path}stratum", f"{path}task")
    wrong = Count("pk", filter=~Q(blind=F("step__consensus__value")))
    return [row[1:] for row in rows.annotate(n=Count("pk"), wrong=wrong) if row[1] is not None]


def error_json(error: LabelError) -> dict[str, Any]:
    """A label error with its bound as JSON, null with a reason where undefined."""
    return {
        **error.error.as_json(),
        "bound": error.bound,
        "bound_reason": error.bound_reason,
        "design_effect": error.deff,
        "tasks": error.tasks,
        "trajectories": error.trajectories,
        "covered": error.covered,
    }
