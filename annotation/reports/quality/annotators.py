"""The labels of one annotator: their pace, and comparisons of their blind labels with those of others.

For admins, and for annotators of themselves. Only settled trajectories are compared, so that nobody learns
of labels of what they are still labelling; and below `FEWEST_PAIRS` pairs of labels, or `FEWEST`
trajectories, no figure is given, which would tell of single steps.

What annotators read of themselves is coarser, or the difference between two visits would tell what others
said of one trajectory: it grows by blocks of `FEWEST` trajectories, each once all of its cases are resolved;
it is rounded; and there are no counts to multiply it by.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

import numpy as np
from django.db.models import Count, F, Q, QuerySet, Sum

from annotation import models as m
from annotation.core.agreement import label_pair_codec
from annotation.core.agreement.counts import count_step_pairs
from annotation.core.agreement.pair_table import PairedRows
from annotation.core.agreement.summary import figure_of
from annotation.core.errors import NotFound
from annotation.core.figures.measure import Measure
from annotation.core.i18n import translatable
from annotation.core.vocabulary import RESOLVED, AssignmentState, ConsensusKind, ExposureKind, LabelSource
from annotation.models.blindness import with_blind_values
from annotation.policies import Actor, allowed, require

from ..agreement.paired_labels import paired_rows
from ..agreement.report import FEWEST
from .drift import Drift, drift, drift_json

FEWEST_PAIRS: Final = 30
TOO_FEW: Final = translatable("too few")
NOTHING: Final = Measure(None, 0, TOO_FEW)
DIGITS: Final = 2
"""To so many digits are figures rounded that annotators read of themselves."""
LEANS: Final = 0.05
"""From this difference of mean labels on somebody is called lenient or strict."""
SHY: Final = 0.5
"""Neutral-shy: they say 0 at most half as often as the others on the same steps."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """`shift` is the mean of own minus other's label, `zeros` and `others_zeros` the shares of 0."""

    shift: float
    zeros: float
    others_zeros: float

    @property
    def words(self) -> tuple[str, ...]:
        """The leaning in words, of "lenient", "strict", "neutral-shy"; none: like the others."""
        parts = []
        if abs(self.shift) >= LEANS:
            parts.append("lenient" if self.shift > 0 else "strict")
        if self.others_zeros >= 0.02 and self.zeros <= SHY * self.others_zeros:
            parts.append("neutral-shy")
        return tuple(parts)


@dataclass(frozen=True, slots=True)
class AnnotatorWeek:
    """One week, from its Monday: pairs of labels, the share that agree (None: too few), and the mean of own
    minus other's label. To annotators themselves a block is of the week in which they submitted its last."""

    monday: date
    n: int
    agreement: float | None
    shift: float | None


@dataclass(frozen=True, slots=True)
class AnnotatorFigures:
    """`seconds` is active time for a step, `per_hour` steps in an hour of it; None when it was not measured.
    `compared` trajectories stand beside others' labels. `with_consensus` is over steps that were not
    unanimous. `leaning` is None for too few labels, `drift` for whoever may not know that there are rechecks.
    `own`: as annotators read them of themselves."""

    person: m.User
    own: bool
    trajectories: int
    steps: int
    seconds: float | None
    per_hour: float | None
    confirmed: float | None
    reveals: int
    compared: int
    kappa: Measure
    agreement: Measure
    with_consensus: Measure
    leaning: Leaning | None
    weeks: tuple[AnnotatorWeek, ...]
    drift: Drift | None


def require_figures(viewer: Actor, project: m.Project, annotator: int) -> None:
    """Raise Denied, or NotFound, for whoever may not see the figures of an annotator: all but admins, and
    annotators of themselves."""
    if not allowed(viewer, "agreement.pairs", project):
        require(viewer, "claim", project)
        if not isinstance(viewer, m.User) or viewer.pk != annotator:
            raise NotFound(translatable("This does not exist, or you may not see it."))


def annotator_figures(*, viewer: Actor, project: m.Project, annotator: int) -> AnnotatorFigures:
    """The figures of one annotator of a project. Seven queries, eight of oneself, nine with drift, and those
    of the permission. Raises NotFound for somebody who labelled nothing here and, to whoever may see only
    themselves, for everybody else."""
    own = isinstance(viewer, m.User) and viewer.pk == annotator
    require_figures(viewer, project, annotator)
    # to themselves all that they did, as their list of work counts it: a difference would mark their rechecks
    turns, given = (m.Assignment.stored, m.Label.stored) if own else (m.Assignment.objects, m.Label.objects)
    submitted = turns.filter(project=project, annotator=annotator, state=AssignmentState.SUBMITTED)
    person = m.User.objects.filter(pk=annotator, memberships__project=project).first()
    if person is None:
        raise NotFound(translatable("This does not exist, or you may not see it."))
    done = submitted.aggregate(n=Count("pk"), active=Sum("active_ms", filter=Q(imported=False)))
    labels = given.filter(assignment__in=submitted, value__isnull=False).aggregate(
        n=Count("pk"),
        timed=Count("pk", filter=Q(assignment__active_ms__gt=0)),
        confirmed=Count("pk", filter=Q(source=LabelSource.PROPAGATED)),
    )
    reveals = m.Exposure.objects.filter(
        user=annotator, trajectory__project=project, kind=ExposureKind.SUGGESTION, step__isnull=False
    ).count()
    seconds = done["active"] / 1000 / labels["timed"] if done["active"] and labels["timed"] else None
    rows = _of(paired_rows(project).rows, annotator)
    blocks = _blocks(submitted) if own else None
    if blocks is not None:
        rows = rows.where(np.isin(rows.trajectory, list(blocks)))
        rows = replace(rows, week=np.array([blocks[pk] for pk in rows.trajectory.tolist()], dtype=np.int64))
    compared = len(np.unique(rows.trajectory))
    enough = compared >= FEWEST
    kappa, agreement = _figures(rows, enough)
    figures = AnnotatorFigures(
        person=person,
        own=own,
        trajectories=done["n"],
        steps=labels["n"],
        seconds=seconds,
        per_hour=3600 / seconds if seconds else None,
        confirmed=labels["confirmed"] / labels["n"] if labels["n"] else None,
        reveals=reveals,
        compared=compared,
        kappa=kappa,
        agreement=agreement,
        with_consensus=_with_consensus(project, annotator, blocks),
        leaning=_leaning(rows, annotator) if enough else None,
        weeks=_weeks(rows, annotator) if enough else (),
        drift=drift(viewer=viewer, project=project, annotator=annotator),
    )
    return _rounded(figures) if own else figures


def _blocks(submitted: QuerySet[m.Assignment]) -> dict[int, int]:
    """The trajectories that an annotator's own figures are made of, each with the Monday of its block: they
    are taken in the order in which they were submitted, `FEWEST` at a time, and a block counts once every
    case in it is resolved."""
    rows = submitted.filter(recheck__isnull=True, submitted_at__isnull=False).order_by("submitted_at", "pk")
    done: list[Any] = list(rows.values_list("trajectory", "trajectory__state", "submitted_at"))
    blocks = {}
    for start in range(0, len(done) - FEWEST + 1, FEWEST):
        block = done[start : start + FEWEST]
        if all(state in RESOLVED for _pk, state, _at in block):
            blocks.update(dict.fromkeys((pk for pk, _state, _at in block), _monday(block[-1][2])))
    return blocks


def _monday(at: datetime) -> int:
    return (at.date() - timedelta(days=at.weekday())).toordinal()


def _of(rows: PairedRows, annotator: int) -> PairedRows:
    return rows.where((rows.first == annotator) | (rows.second == annotator))


def _figures(rows: PairedRows, enough: bool) -> tuple[Measure, Measure]:
    counts = count_step_pairs(rows.pairs(alone=True))
    measures = (figure_of(counts, "kappa"), figure_of(counts, "percent_agreement"))
    return measures if enough and measures[0].n >= FEWEST_PAIRS else (NOTHING, NOTHING)


def _with_consensus(project: m.Project, annotator: int, only: Collection[int] | None) -> Measure:
    """The share of steps on which annotators differed where the consensus is their own blind label; `only` of
    these trajectories, if it is not None."""
    labels = m.Label.objects.filter(
        assignment__project=project,
        assignment__annotator=annotator,
        assignment__state=AssignmentState.SUBMITTED,
        step__consensus__kind__in=(ConsensusKind.ADJUDICATED, ConsensusKind.DISCUSSED),
    )
    counted = (
        with_blind_values(labels)
        .order_by()
        .values_list("assignment__trajectory")
        .annotate(n=Count("pk"), same=Count("pk", filter=Q(step__consensus__value=F("blind"))))
    )
    compared = [(n, same) for pk, n, same in counted if only is None or pk in only]
    steps = sum(n for n, _same in compared)
    if steps < FEWEST_PAIRS or len(compared) < FEWEST:
        return NOTHING
    return Measure(sum(same for _n, same in compared) / steps, steps)


def _own_and_others(rows: PairedRows, annotator: int) -> tuple[Any, Any, Any]:
    """Own and other's value of every pair of labels, and the row of each."""
    paired = np.flatnonzero(label_pair_codec.paired(rows.steps))
    row = rows.row_of_step[paired]
    first, second = (values.astype(np.int64) - 1 for values in label_pair_codec.values(rows.steps[paired]))
    own_first = (rows.first == annotator)[row]
    return np.where(own_first, first, second), np.where(own_first, second, first), row


def _leaning(rows: PairedRows, annotator: int) -> Leaning | None:
    own, other, _row = _own_and_others(rows, annotator)
    if len(own) < FEWEST_PAIRS:
        return None
    return Leaning(float((own - other).mean()), float((own == 0).mean()), float((other == 0).mean()))


def _weeks(rows: PairedRows, annotator: int) -> tuple[AnnotatorWeek, ...]:
    own, other, row = _own_and_others(rows, annotator)
    week = rows.week[row]
    weeks = []
    for monday in np.unique(week).tolist():
        here = week == monday
        n = int(here.sum())
        enough = n >= FEWEST_PAIRS and len(np.unique(rows.trajectory[row[here]])) >= FEWEST
        weeks.append(
            AnnotatorWeek(
                date.fromordinal(monday),
                n,
                float((own[here] == other[here]).mean()) if enough else None,
                float((own[here] - other[here]).mean()) if enough else None,
            )
        )
    return tuple(weeks)


def _rounded(figures: AnnotatorFigures) -> AnnotatorFigures:
    """The figures as their annotator reads them: without counts of labels, and without intervals, which say
    the same more exactly."""

    def measure(exact: Measure) -> Measure:
        return Measure(exact.value and round(exact.value, DIGITS), 0, exact.reason)

    def value(exact: float | None) -> float | None:
        return exact and round(exact, DIGITS)

    lean = figures.leaning
    return replace(
        figures,
        kappa=measure(figures.kappa),
        agreement=measure(figures.agreement),
        with_consensus=measure(figures.with_consensus),
        leaning=lean
        and Leaning(*(round(exact, DIGITS) for exact in (lean.shift, lean.zeros, lean.others_zeros))),
        weeks=tuple(
            replace(week, n=0, agreement=value(week.agreement), shift=value(week.shift))
            for week in figures.weeks
        ),
    )


def as_json(figures: AnnotatorFigures) -> dict[str, Any]:
    """JSON-ready, numbers as in the figures, null where there is too little to say, or with a reason; without
    counts and intervals of what annotators read of themselves."""
    lean = figures.leaning
    hidden = ("n", "interval", "interval_reason") if figures.own else ()

    def shown(fields: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in fields.items() if name not in hidden}

    return {
        "annotator": str(figures.person),
        "submitted": {"trajectories": figures.trajectories, "steps": figures.steps},
        "active_seconds_per_step": figures.seconds,
        "steps_per_hour": figures.per_hour,
        "confirmed_proposals": figures.confirmed,
        "reveals": figures.reveals,
        "compared_trajectories": figures.compared,
        "percent_agreement": shown(figures.agreement.as_json()),
        "kappa": shown(figures.kappa.as_json()),
        "with_consensus": shown(figures.with_consensus.as_json()),
        "leaning": lean and {**asdict(lean), "words": list(lean.words)},
        "weeks": [shown({**asdict(week), "monday": week.monday.isoformat()}) for week in figures.weeks],
        "drift": figures.drift and drift_json(figures.drift),
    }
