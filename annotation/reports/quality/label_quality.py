"""Reliability of a project's consensus, from the labels of rechecks (docs/sealing.md, "Rechecks").

Only figures: what a third person or a retest said of any one step is told to nobody, admins included.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import numpy as np
from django.db.models import Count, OuterRef, Q, Subquery, Sum

from annotation import models as m
from annotation.core.agreement.figures import FIGURES
from annotation.core.figures.measure import IntArray, Measure
from annotation.core.i18n import translatable
from annotation.core.rechecks.label_error import (
    FEWEST_WITHOUT_ERROR,
    LabelError,
    effective_labels_per_hour,
)
from annotation.core.rechecks.rater_confusion import rater_confusion
from annotation.core.vocabulary import RESOLVED, VALUES, AssignmentState, RecheckKind, RecheckState
from annotation.models.blindness import BLIND_VALUE
from annotation.policies import Actor, require

from .label_error import Strata, error_json, error_of, rechecked_trajectories, strata_of, third_labels

FEWEST: Final = 30
"""Of fewer labels nothing is said of a person."""
MOST_STEPS: Final = 20_000
"""The confusion of people is made of so many steps at most, the latest."""
NO_RETEST: Final = translatable("no retest has been labelled blind yet")
TOO_FEW: Final = translatable("too few: fewer than 30 labels")


@dataclass(frozen=True, slots=True)
class RecheckCounts:
    """Rechecks of one kind: how many were drawn, how many of them are labelled, and how many wait for
    somebody who could be asked. What is being labelled at this moment counts as not labelled."""

    drawn: int = 0
    done: int = 0
    nobody: int = 0

    @property
    def waiting(self) -> int:
        """The number still to be labelled."""
        return self.drawn - self.done


@dataclass(frozen=True, slots=True)
class StratumLine:
    """One stratum: what there is of it, and what was rechecked blind; `wrong`: steps on which the third
    person differs from the consensus."""

    subset: str
    origin: str
    doubt: str
    trajectories: int
    steps: int
    rechecked: int
    rechecked_steps: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Retest:
    """The agreement of people with themselves on steps they labelled twice; of all together (`name` empty) or
    of one person."""

    name: str
    agreement: Measure
    kappa: Measure


@dataclass(frozen=True, slots=True)
class PersonsConfusion:
    """The rates at which a person gives the label of the column where that of the row is true (−1, 0, +1),
    estimated; None in a row without labels. `n`: labels of theirs that it is made of; with fewer than 30, no
    rates."""

    name: str
    n: int
    rates: tuple[tuple[float | None, ...], ...]
    reason: str


@dataclass(frozen=True, slots=True)
class LabelQuality:
    """The data of the page, the API and `label_quality --json`. `hours` are person-hours at work on resolved
    trajectories, of which `resolved` have `steps` steps; `needed` is how many tasks without an error would
    show that fewer than 5 % of the labels are wrong."""

    project: m.Project
    third: RecheckCounts
    retest: RecheckCounts
    resolved: int
    steps: int
    needed: int
    error: LabelError
    effective: Measure
    hours: float
    strata: tuple[StratumLine, ...]
    retests: tuple[Retest, ...]
    people: tuple[PersonsConfusion, ...]


def label_quality(*, viewer: Actor, project: m.Project) -> LabelQuality:
    """For admins. Eight queries and those of the permission, however much there is."""
    require(viewer, "rechecks.view", project)
    asked = _asked(project)
    strata = strata_of(project)
    rechecked = rechecked_trajectories(project)
    lines = tuple(_lines(strata, rechecked))
    error = error_of(strata, rechecked)
    resolved = m.Trajectory.objects.filter(project=project, live=True, state__in=RESOLVED)
    size = resolved.aggregate(n=Count("pk"), steps=Sum("step_count"))
    worked = m.Assignment.objects.filter(
        project=project,
        state=AssignmentState.SUBMITTED,
        trajectory__live=True,
        trajectory__state__in=RESOLVED,
    ).aggregate(sum=Sum("active_ms"))
    milliseconds = worked["sum"] or 0
    tables, confusion = _retest_tables(project), _labels(project)
    names = {
        user.pk: str(user) for user in m.User.objects.filter(pk__in={*tables, *(row[1] for row in confusion)})
    }
    return LabelQuality(
        project=project,
        third=asked[RecheckKind.THIRD],
        retest=asked[RecheckKind.RETEST],
        resolved=size["n"],
        steps=size["steps"] or 0,
        needed=FEWEST_WITHOUT_ERROR,
        error=error,
        effective=effective_labels_per_hour(
            labels=size["steps"] or 0, error=error, milliseconds=milliseconds
        ),
        hours=milliseconds / 3_600_000,
        strata=lines,
        retests=tuple(_retests(tables, names)),
        people=tuple(_people(confusion, names)),
    )


def _asked(project: m.Project) -> dict[RecheckKind, RecheckCounts]:
    rows = m.Recheck.objects.filter(project=project, trajectory__live=True).order_by().values_list("kind")
    done, nobody = Q(state=RecheckState.DONE.value), Q(annotator__isnull=True)
    counted = rows.annotate(n=Count("pk"), done=Count("pk", filter=done), nobody=Count("pk", filter=nobody))
    return {
        **{kind: RecheckCounts() for kind in RecheckKind},
        **{RecheckKind(kind): RecheckCounts(*n) for kind, *n in counted},
    }


def _lines(strata: Strata, rechecked: list[tuple[int, int, int, int]]) -> Iterable[StratumLine]:
    found: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for stratum, _task, steps, wrong in rechecked:
        for at, one in enumerate((1, steps, wrong)):
            found[stratum][at] += one
    lines = [StratumLine(*strata[pk], *found[pk]) for pk in strata]
    return sorted(lines, key=lambda line: (line.subset, line.origin, line.doubt))


def _retest_tables(project: m.Project) -> dict[int, IntArray]:
    """By annotator: the first label in rows, the later one in columns, both blind."""
    first = m.Label.objects.filter(
        step=OuterRef("step"),
        assignment__annotator=OuterRef("assignment__annotator"),
        assignment__state=AssignmentState.SUBMITTED,
    ).annotate(blind=BLIND_VALUE)
    retests = {**third_labels(project), "assignment__recheck__kind": RecheckKind.RETEST.value}
    again = m.Label.stored.filter(**retests).annotate(
        blind=BLIND_VALUE, first=Subquery(first.values("blind")[:1])
    )
    rows = again.filter(blind__isnull=False, first__isnull=False).order_by()
    tables: dict[int, IntArray] = defaultdict(lambda: np.zeros((3, 3), dtype=np.int64))
    counted = rows.values_list("assignment__annotator", "first", "blind").annotate(n=Count("pk"))
    for person, earlier, later, n in counted:
        tables[person][VALUES.index(earlier), VALUES.index(later)] += n
    return tables


def _retests(tables: dict[int, IntArray], names: dict[int, str]) -> Iterable[Retest]:
    everybody = sum(tables.values(), np.zeros((3, 3), dtype=np.int64))
    yield _retest("", everybody)
    for person in sorted(tables, key=lambda pk: names[pk].casefold()):
        yield _retest(names[person], tables[person])


def _retest(name: str, table: IntArray) -> Retest:
    n = int(table.sum())
    if name and n < FEWEST:
        return Retest(name, Measure(None, n, TOO_FEW), Measure(None, n, TOO_FEW))
    sums = table.ravel().astype(np.float64)
    agreement, kappa = (
        replace(figure, empty=NO_RETEST).measure(float(figure.values(sums)), n)
        for figure in (FIGURES["percent_agreement"], FIGURES["kappa"])
    )
    return Retest(name, agreement, kappa)


def _labels(project: m.Project) -> list[tuple[int, int, int]]:
    """(step, annotator, blind label) of the steps that a third person has labelled too."""
    third = m.Label.stored.filter(**third_labels(project)).order_by("-step").values("step")[:MOST_STEPS]
    labels = m.Label.stored.filter(
        Q(assignment__recheck__isnull=True) | Q(assignment__recheck__kind=RecheckKind.THIRD.value),
        step__in=list(third.values_list("step", flat=True)),
        assignment__state=AssignmentState.SUBMITTED,
    )
    rows = labels.annotate(blind=BLIND_VALUE).filter(blind__isnull=False).order_by()
    return list(rows.values_list("step", "assignment__annotator", "blind"))


def _people(labels: list[tuple[int, int, int]], names: dict[int, str]) -> Iterable[PersonsConfusion]:
    """People only: judges err together, and would outvote them."""
    steps = {step: at for at, step in enumerate(sorted({row[0] for row in labels}))}
    people = {pk: at for at, pk in enumerate(sorted({row[1] for row in labels}))}
    counts = np.zeros((len(steps), len(people), 3), dtype=np.int64)
    for step, person, value in labels:
        counts[steps[step], people[person], VALUES.index(value)] += 1
    found = rater_confusion(counts)
    for pk in sorted(people, key=lambda pk: names[pk].casefold()):
        said = int(counts[:, people[pk]].sum())
        if found is None or said < FEWEST:
            yield PersonsConfusion(names[pk], said, (), TOO_FEW)
            continue
        rates = found.rates[people[pk]].tolist()
        rows = tuple(tuple(None if np.isnan(rate) else rate for rate in row) for row in rates)
        yield PersonsConfusion(names[pk], said, rows, "")


def as_json(found: LabelQuality) -> dict[str, Any]:
    """JSON-ready, numbers unrounded, null with a reason where undefined."""
    error = found.error
    return {
        "project": found.project.slug,
        "rechecks": {
            kind: {**asdict(asked), "waiting": asked.waiting}
            for kind, asked in (("third", found.third), ("retest", found.retest))
        },
        "resolved": {"trajectories": found.resolved, "steps": found.steps, "person_hours": found.hours},
        "tasks_needed": found.needed,
        "label_error": error_json(error),
        "effective_labels_per_hour": found.effective.as_json(),
        "strata": [asdict(line) for line in found.strata],
        "retests": [
            {
                "annotator": one.name or None,
                "agreement": one.agreement.as_json(),
                "kappa": one.kappa.as_json(),
            }
            for one in found.retests
        ],
        "confusion": [
            {
                "annotator": one.name,
                "n": one.n,
                "rates": [list(row) for row in one.rates],
                "reason": one.reason,
            }
            for one in found.people
        ],
    }
