"""How one annotator labels: their pace, and how their blind labels stand beside those of others.

For admins, and for annotators of themselves. Only settled trajectories are compared, so that nobody learns
of labels of what they are still labelling; and below `FEWEST_PAIRS` pairs of labels, or `FEWEST`
trajectories, no figure is given, which would tell of single steps.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

import numpy as np
from django.db.models import Count, F, Q, Sum

from annotation import models as m
from annotation.core.agreement import label_pair_codec
from annotation.core.agreement.counts import count_step_pairs
from annotation.core.agreement.measure import Measure
from annotation.core.agreement.pair_table import PairedRows
from annotation.core.agreement.summary import figure_of
from annotation.core.errors import NotFound
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState, ConsensusKind, ExposureKind, LabelSource
from annotation.models.blindness import with_blind_values
from annotation.policies import Actor, allowed, require

from ..agreement.paired_labels import paired_rows
from ..agreement.pictures import measure_json
from ..agreement.report import FEWEST
from .drift import Drift, drift, drift_json

FEWEST_PAIRS: Final = 30
TOO_FEW: Final = translatable("too few")
NOTHING: Final = Measure(None, 0, TOO_FEW)
"""Without its n, which would tell annotators when others have submitted, and on how much they differ."""
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
        """What the numbers say: of "lenient", "strict", "neutral-shy"; none: like the others."""
        found = []
        if abs(self.shift) >= LEANS:
            found.append("lenient" if self.shift > 0 else "strict")
        if self.others_zeros >= 0.02 and self.zeros <= SHY * self.others_zeros:
            found.append("neutral-shy")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Week:
    """One week, from its Monday: pairs of labels, the share that agree (None: too few), and the mean of own
    minus other's label."""

    monday: date
    n: int
    agreement: float | None
    shift: float | None


@dataclass(frozen=True, slots=True)
class AnnotatorFigures:
    """`seconds` is active time for a step, `per_hour` steps in an hour of it; None when it was not measured.
    `with_consensus` is over steps that were not unanimous. `leaning` is None for too few labels, `drift` for
    whoever may not know that there are rechecks."""

    person: m.User
    trajectories: int
    steps: int
    seconds: float | None
    per_hour: float | None
    confirmed: float | None
    reveals: int
    kappa: Measure
    agreement: Measure
    with_consensus: Measure
    leaning: Leaning | None
    weeks: tuple[Week, ...]
    drift: Drift | None


def annotator_figures(*, viewer: Actor, project: m.Project, annotator: int) -> AnnotatorFigures:
    """Everything about one annotator of a project. Seven queries, nine with drift, and those of the
    permission. Raises NotFound for somebody who labelled nothing here and, to whoever may see only
    themselves, for everybody else."""
    own = isinstance(viewer, m.User) and viewer.pk == annotator
    if not allowed(viewer, "agreement.pairs", project):
        require(viewer, "claim", project)
        if not own:
            raise NotFound(translatable("This does not exist, or you may not see it."))
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
    enough = len(np.unique(rows.trajectory)) >= FEWEST
    kappa, agreement = _figures(rows, enough)
    return AnnotatorFigures(
        person=person,
        trajectories=done["n"],
        steps=labels["n"],
        seconds=seconds,
        per_hour=3600 / seconds if seconds else None,
        confirmed=labels["confirmed"] / labels["n"] if labels["n"] else None,
        reveals=reveals,
        kappa=kappa,
        agreement=agreement,
        with_consensus=_with_consensus(project, annotator),
        leaning=_leaning(rows, annotator) if enough else None,
        weeks=_weeks(rows, annotator) if enough else (),
        drift=drift(viewer=viewer, project=project, annotator=annotator),
    )


def _of(rows: PairedRows, annotator: int) -> PairedRows:
    return rows.where((rows.first == annotator) | (rows.second == annotator))


def _figures(rows: PairedRows, enough: bool) -> tuple[Measure, Measure]:
    counts = count_step_pairs(rows.pairs(alone=True))
    found = (figure_of(counts, "kappa"), figure_of(counts, "percent_agreement"))
    return found if enough and found[0].n >= FEWEST_PAIRS else (NOTHING, NOTHING)


def _with_consensus(project: m.Project, annotator: int) -> Measure:
    """How often the consensus is what they had said blind, of steps on which annotators differed."""
    labels = m.Label.objects.filter(
        assignment__project=project,
        assignment__annotator=annotator,
        assignment__state=AssignmentState.SUBMITTED,
        step__consensus__kind__in=(ConsensusKind.ADJUDICATED, ConsensusKind.DISCUSSED),
    )
    found = with_blind_values(labels).aggregate(
        n=Count("pk"),
        same=Count("pk", filter=Q(step__consensus__value=F("blind"))),
        trajectories=Count("assignment", distinct=True),
    )
    if found["n"] < FEWEST_PAIRS or found["trajectories"] < FEWEST:
        return NOTHING
    return Measure(found["same"] / found["n"], found["n"])


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


def _weeks(rows: PairedRows, annotator: int) -> tuple[Week, ...]:
    own, other, row = _own_and_others(rows, annotator)
    week = rows.week[row]
    found = []
    for monday in np.unique(week).tolist():
        here = week == monday
        n = int(here.sum())
        enough = n >= FEWEST_PAIRS and len(np.unique(rows.trajectory[row[here]])) >= FEWEST
        found.append(
            Week(
                date.fromordinal(monday),
                n,
                float((own[here] == other[here]).mean()) if enough else None,
                float((own[here] - other[here]).mean()) if enough else None,
            )
        )
    return tuple(found)


def as_json(found: AnnotatorFigures) -> dict[str, Any]:
    """JSON-ready, numbers unrounded, null where there is too little to say, or with a reason."""
    lean = found.leaning
    return {
        "annotator": str(found.person),
        "submitted": {"trajectories": found.trajectories, "steps": found.steps},
        "active_seconds_per_step": found.seconds,
        "steps_per_hour": found.per_hour,
        "confirmed_proposals": found.confirmed,
        "reveals": found.reveals,
        "percent_agreement": measure_json(found.agreement),
        "kappa": measure_json(found.kappa),
        "with_consensus": measure_json(found.with_consensus),
        "leaning": lean and {**asdict(lean), "words": list(lean.words)},
        "weeks": [{**asdict(week), "monday": week.monday.isoformat()} for week in found.weeks],
        "drift": found.drift and drift_json(found.drift),
    }
