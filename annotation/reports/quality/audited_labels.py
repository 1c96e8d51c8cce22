"""The three labels of a trajectory that an audit has drawn: its consensus and what both readers say.

For the service that compares them, and for the adjudicator who decides: they see values in a drawn order, and
neither whose they are nor which is the consensus.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.core.rechecks.sampling import READERS, fraction
from annotation.core.resolution import AnnotatorPosition, Resolution
from annotation.core.vocabulary import AssignmentState, ConsensusKind
from annotation.models import (
    Assignment,
    AuditedTrajectory,
    AuditRuling,
    Consensus,
    Label,
    OutcomeConsensus,
    OutcomeLabel,
    Step,
    ruling_drafts,
)
from annotation.models.blindness import BLIND_VALUE


@dataclass(frozen=True, slots=True)
class AuditedLabels:
    """The three labels of each step (by pk; None: the outcome): the consensus, and the two readers' in the
    order of their readings."""

    consensus: Mapping[int | None, Resolution]
    readers: Mapping[int | None, tuple[AnnotatorPosition, ...]]

    @property
    def differing(self) -> tuple[int | None, ...]:
        """Steps where the three differ, in the order of the trajectory."""
        return tuple(
            step
            for step, it in self.consensus.items()
            if {it.value} != {label.value for label in self.readers.get(step, ())}
        )


def audited_labels(row: AuditedTrajectory) -> AuditedLabels:
    """The consensus and the readers' labels of a trajectory. Four queries.

    A reader's label is the blind one; where a project shows suggestions at once, none is, and the one that
    was submitted counts.
    """
    readings = Assignment.stored.filter(recheck__audited=row, state=AssignmentState.SUBMITTED)
    order = list(readings.order_by("recheck").values_list("pk", flat=True))[:READERS]
    positions: dict[int | None, dict[int, AnnotatorPosition]] = {}
    labels = Label.stored.filter(assignment__in=order).annotate(blind=BLIND_VALUE)
    outcomes = OutcomeLabel.stored.filter(assignment__in=order).annotate(blind=BLIND_VALUE)
    rows: list[Label | OutcomeLabel] = [*labels, *outcomes]
    for one in rows:
        blind: int | None = getattr(one, "blind", None)
        value = one.value if blind is None else blind
        if value is None:
            continue
        changed = value != one.value
        step, root = (one.step_id, one.root_id) if isinstance(one, Label) else (None, None)
        position = AnnotatorPosition(
            value, value, root=None if changed else root, reason="" if changed else one.reason
        )
        positions.setdefault(step, {})[one.assignment_id] = position
    return AuditedLabels(
        consensus=_resolutions(row.trajectory_id),
        readers={step: tuple(by[pk] for pk in order if pk in by) for step, by in positions.items()},
    )


def undecided(row: AuditedTrajectory, labels: AuditedLabels) -> list[int | None]:
    """Steps (by pk; None: the outcome) that are still to be decided, in the order of the trajectory. What was
    decided before the consensus was taken back stays decided. Two queries."""
    rulings = AuditRuling.objects.filter(audited=row)
    drafts = set(rulings.filter(ruling_drafts()).values_list("pk", flat=True))
    ruled = {step for pk, step in rulings.values_list("pk", "step") if pk not in drafts}
    return [step for step in labels.differing if step not in ruled]


def _resolutions(trajectory: int) -> dict[int | None, Resolution]:
    """The consensus of a trajectory as it stands: of each step by its pk, in order, and under None of the
    outcome. Two queries."""
    resolutions: dict[int | None, Resolution] = {}
    steps = list(Consensus.objects.filter(trajectory=trajectory).order_by("step__message_index"))
    rows: list[Consensus | OutcomeConsensus] = [*steps]
    rows += OutcomeConsensus.objects.filter(trajectory=trajectory)
    for row in rows:
        resolutions[row.step_id if isinstance(row, Consensus) else None] = Resolution(
            value=row.value,
            kind=ConsensusKind(row.kind),
            root=row.root_id if isinstance(row, Consensus) else None,
            reason=row.reason,
            note=row.note,
            by_ruling=row.resolved_by_id is not None,
            at=row.resolved_at,
        )
    return resolutions


@dataclass(frozen=True, slots=True)
class UnnamedLabels:
    """The three labels of a step (None: of the outcome) in a drawn order; and what the adjudicator has chosen
    so far, if anything, and why (a stored text)."""

    step: Step | None
    values: tuple[int, ...]
    chosen: int | None = None
    note: str = ""


def to_decide(row: AuditedTrajectory) -> list[UnnamedLabels]:
    """The labels of a trajectory to be decided, in its order, each step's labels in an order of their own:
    else whoever came first would come first again. Eight queries."""
    labels = audited_labels(row)
    kept = {one.step_id: one for one in AuditRuling.objects.filter(ruling_drafts(), audited=row)}
    steps = {step.pk: step for step in Step.objects.filter(trajectory=row.trajectory_id)}

    def drawn(step: int | None) -> tuple[int, ...]:
        values = (labels.consensus[step].value, *(label.value for label in labels.readers[step]))
        places = sorted(range(len(values)), key=lambda at: fraction(row.letter_seed, "label", step or 0, at))
        return tuple(values[at] for at in places)

    def unnamed(step: int | None) -> UnnamedLabels:
        place, draft = None if step is None else steps[step], kept.get(step)
        chosen = (draft.value, draft.note) if draft else (None, "")
        return UnnamedLabels(place, drawn(step), *chosen)

    return [unnamed(step) for step in undecided(row, labels)]
