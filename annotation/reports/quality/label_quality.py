"""Reliability of a project's labels: the certificate of its newest audit, and what people say twice
(docs/sealing.md, "Rechecks").

What a reader or a retest said of any one step is told to nobody, admins included.
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
from annotation.core.rechecks.rater_confusion import rater_confusion
from annotation.core.vocabulary import RESOLVED, VALUES, AssignmentState, RecheckKind, RecheckState
from annotation.models.blindness import BLIND_VALUE
from annotation.policies import Actor, require

from ..agreement.report import kappa
from ..judging.judges_first import JudgesFirstSummary, summary
from ..judging.second_person import SecondReading, second_reading
from .label_audit import AuditReport, audit_report, certificate_json, newest_audit, progress_json
from .reader_scores import reader_scores

FEWEST: Final = 30
"""Of fewer labels nothing is said of a person."""
MOST_STEPS: Final = 20_000
"""The confusion of people is made of so many steps at most, the latest."""
NO_RETEST: Final = translatable("no retest has been labelled blind yet")
TOO_FEW: Final = translatable("too few: fewer than 30 labels")


@dataclass(frozen=True, slots=True)
class RetestCounts:
    """Retests: how many were drawn, and how many of them are labelled. What is being labelled at this moment
    counts as not labelled."""

    drawn: int
    done: int

    @property
    def waiting(self) -> int:
        """The number still to be labelled."""
        return self.drawn - self.done


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
    """The data of the page, the API and `label_quality --json`. `audit` is None before the first one;
    `readers` is what its readers earn against the consensus, by figure; of what is resolved there are
    `resolved` trajectories with `steps` steps. `between` is the agreement of people with one another, beside
    that with themselves in `retests`; `second_reading` what judges as the second reader save, None where they
    are not; `judges_first` what judges settled before people were asked, None where they are not."""

    project: m.Project
    audit: AuditReport | None
    readers: dict[str, Measure]
    retest: RetestCounts
    resolved: int
    steps: int
    retests: tuple[Retest, ...]
    between: Retest
    second_reading: SecondReading | None
    judges_first: JudgesFirstSummary | None
    people: tuple[PersonsConfusion, ...]


def label_quality(*, viewer: Actor, project: m.Project) -> LabelQuality:
    """For admins. At most thirty-seven queries and those of the permission, however much there is."""
    require(viewer, "rechecks.view", project)
    newest = newest_audit(project)
    resolved = m.Trajectory.objects.filter(project=project, live=True, state__in=RESOLVED)
    size = resolved.aggregate(n=Count("pk"), steps=Sum("step_count"))
    tables, confusion = _retest_tables(project), _labels(project)
    names = {
        user.pk: str(user) for user in m.User.objects.filter(pk__in={*tables, *(row[1] for row in confusion)})
    }
    return LabelQuality(
        project=project,
        audit=audit_report(viewer=viewer, audit=newest) if newest is not None else None,
        readers=reader_scores(newest) if newest is not None else {},
        retest=_retest_counts(project),
        resolved=size["n"],
        steps=size["steps"] or 0,
        retests=tuple(_retests(tables, names)),
        between=Retest("", *kappa(viewer=viewer, project=project)),
        second_reading=second_reading(project),
        judges_first=summary(project),
        people=tuple(_people(confusion, names)),
    )


def _retest_counts(project: m.Project) -> RetestCounts:
    rows = m.Recheck.objects.filter(project=project, kind=RecheckKind.RETEST, trajectory__live=True)
    return RetestCounts(
        **rows.aggregate(drawn=Count("pk"), done=Count("pk", filter=Q(state=RecheckState.DONE)))
    )


def _rechecked(project: m.Project, kind: RecheckKind) -> dict[str, Any]:
    """Conditions on labels: what was submitted in rechecks of a kind, of what is resolved."""
    return {
        # by its rechecks, of which there are few: of a project's own there are as many as submissions
        "assignment__recheck__project": project,
        "assignment__recheck__kind": kind.value,
        "assignment__state": AssignmentState.SUBMITTED,
        "assignment__trajectory__live": True,
        "assignment__trajectory__state__in": RESOLVED,
    }


def _retest_tables(project: m.Project) -> dict[int, IntArray]:
    """By annotator: the first label in rows, the later one in columns, both blind."""
    first = m.Label.objects.filter(
        step=OuterRef("step"),
        assignment__annotator=OuterRef("assignment__annotator"),
        assignment__state=AssignmentState.SUBMITTED,
    ).annotate(blind=BLIND_VALUE)
    again = m.Label.stored.filter(**_rechecked(project, RecheckKind.RETEST)).annotate(
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
    """(step, annotator, blind label) of the steps that an audit's readers have labelled too."""
    read = m.Label.stored.filter(**_rechecked(project, RecheckKind.AUDIT)).order_by("-step")
    steps = list(dict.fromkeys(read.values_list("step", flat=True)[: 2 * MOST_STEPS]))[:MOST_STEPS]
    labels = m.Label.stored.filter(
        Q(assignment__recheck__isnull=True) | Q(assignment__recheck__kind=RecheckKind.AUDIT.value),
        step__in=steps,
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
    confusions = rater_confusion(counts)
    for pk in sorted(people, key=lambda pk: names[pk].casefold()):
        named = int(counts[:, people[pk]].sum())
        if confusions is None or named < FEWEST:
            yield PersonsConfusion(names[pk], named, (), TOO_FEW)
            continue
        rates = confusions.rates[people[pk]].tolist()
        rows = tuple(tuple(None if np.isnan(rate) else rate for rate in row) for row in rates)
        yield PersonsConfusion(names[pk], named, rows, "")


def as_json(quality: LabelQuality) -> dict[str, Any]:
    """JSON-ready, numbers unrounded, null with a reason where undefined."""
    saved = quality.second_reading
    return {
        "project": quality.project.slug,
        **certificate_json(quality.audit),
        "progress": progress_json(quality.audit) if quality.audit is not None else None,
        "readers": {name: one.as_json() for name, one in quality.readers.items()},
        "retest": {**asdict(quality.retest), "waiting": quality.retest.waiting},
        "resolved": {"trajectories": quality.resolved, "steps": quality.steps},
        "retests": [{"annotator": one.name or None, **_retest_json(one)} for one in quality.retests],
        "between_annotators": _retest_json(quality.between),
        "second_reading": saved and {**asdict(saved), "labels_a_trajectory": saved.labels_a_trajectory},
        "judges_first": quality.judges_first and quality.judges_first.as_json(),
        "confusion": [
            {
                "annotator": one.name,
                "n": one.n,
                "rates": [list(row) for row in one.rates],
                "reason": one.reason,
            }
            for one in quality.people
        ],
    }


def _retest_json(retest: Retest) -> dict[str, Any]:
    return {"agreement": retest.agreement.as_json(), "kappa": retest.kappa.as_json()}
