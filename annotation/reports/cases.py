"""Labels of one trajectory side by side: an adjudicator's case, or an admin's inspection of a
trajectory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.core.text import unescape
from annotation.core.vocabulary import REASON_CODES_BY_CODE, AssignmentState
from annotation.models import (
    Adjudication,
    Assignment,
    Consensus,
    Decision,
    Discussion,
    Label,
    OutcomeConsensus,
    OutcomeLabel,
    Step,
    Trajectory,
    User,
)
from annotation.policies import FieldAccess, Viewer, field_access

from .letters import LETTERS, in_order
from .suggestions import JudgeSuggestion, StepSuggestions, revealed_to, suggestions_for_admin
from .transcripts import Transcript, transcript


@dataclass(frozen=True, slots=True)
class AnnotatorLabel:
    """What one annotator said of a step or of the outcome. `name` is empty for whoever sees only letters."""

    letter: str
    name: str
    value: int | None
    source: str = ""
    unsure: bool = False
    flagged: bool = False
    note: str = ""
    reason: str = ""


@dataclass(slots=True)
class Item:
    """One step (or with `step` None the outcome) and everything said about it.

    `suggestions` is empty for whoever has not revealed them, and where `revealed` is not true.
    """

    step: Step | None
    labels: list[AnnotatorLabel] = field(default_factory=list)
    decision: Decision | None = None
    consensus: int | None = None
    kind: str = ""
    revealed: bool = False
    suggestions: tuple[JudgeSuggestion, ...] = ()

    @property
    def disputed(self) -> bool:
        """Whether the annotators gave different values."""
        return len({label.value for label in self.labels if label.value is not None}) > 1

    @property
    def told(self) -> bool:
        """Whether a judge says anything here."""
        return any(one.value is not None or one.reason or one.comment for one in self.suggestions)

    @property
    def decision_note(self) -> str:
        """The note of the decision, as it was written."""
        return unescape(self.decision.note) if self.decision else ""


@dataclass(frozen=True, slots=True)
class Side:
    """One annotator's part: the letter, the name where it may be seen, the state, the flags on the whole,
    and, where the name may be seen, the whole minutes at work."""

    letter: str
    name: str
    state: str
    needs_discussion: bool = False
    broken: bool = False
    minutes: int | None = None


@dataclass(slots=True)
class SideBySide:
    """A trajectory with all labels a viewer may see: `steps` in order, then the outcome."""

    trajectory: Trajectory
    access: FieldAccess
    transcript: Transcript
    steps: list[Item]
    outcome: Item
    sides: list[Side]
    adjudication: Adjudication | None = None

    @property
    def disputed(self) -> list[Item]:
        """Everything that is disputed, in order, the outcome last."""
        return [item for item in (*self.steps, self.outcome) if item.disputed]


def case(*, actor: Viewer, adjudication: Adjudication) -> SideBySide:
    """A case as its adjudicator works on it (or as an admin reads it). A constant number of queries.

    `adjudication` comes with its trajectory's project, subset and task. Raises Denied without access to the
    labels.
    """
    shown = _side_by_side(actor, adjudication.trajectory, seed=adjudication.letter_seed)
    shown.adjudication = adjudication
    rows = Decision.objects.filter(adjudication=adjudication).select_related("root")
    decisions = {row.step_id: row for row in rows}
    for item in (*shown.steps, shown.outcome):
        item.decision = decisions.get(item.step.pk if item.step else None)
    if isinstance(actor, User) and adjudication.adjudicator_id == actor.pk:
        _add_suggestions(shown, revealed_to(actor, adjudication.trajectory))
    return shown


def inspection(*, actor: Viewer, trajectory: Trajectory) -> SideBySide:
    """A trajectory with everything that is known about it, for admins; drafts of open assignments and judges'
    suggestions included."""
    shown = _side_by_side(actor, trajectory)
    steps = [item.step for item in shown.steps if item.step is not None]
    _add_suggestions(shown, suggestions_for_admin(trajectory=trajectory, access=shown.access, steps=steps))
    return shown


def discussed(*, actor: Viewer, discussion: Discussion) -> SideBySide:
    """The submitted labels that a discussion is about, under its letters. A constant number of queries.

    `discussion` comes with its trajectory's project, subset and task. Raises Denied to whoever takes no part.
    """
    return _side_by_side(actor, discussion.trajectory, seed=discussion.letter_seed)


def plain(*, actor: Viewer, trajectory: Trajectory) -> SideBySide:
    """A trajectory without anybody's labels, as far as the viewer may see it."""
    access = field_access(actor, trajectory)
    return SideBySide(
        trajectory=trajectory,
        access=access,
        transcript=transcript(trajectory=trajectory, access=access),
        steps=[Item(step) for step in Step.objects.filter(trajectory=trajectory).order_by("message_index")],
        outcome=Item(None),
        sides=[],
    )


def _side_by_side(actor: Viewer, trajectory: Trajectory, *, seed: int | None = None) -> SideBySide:
    """All labels of a trajectory in the order of the slots; with the seed of a case or a discussion, the
    submitted ones in the order of its letters."""
    shown = plain(actor=actor, trajectory=trajectory)
    if not (shown.access.others_labels or (seed is not None and shown.access.discussed)):
        raise Denied(translatable("You may not see other people’s labels here."))
    rows = Assignment.objects.filter(trajectory=trajectory).select_related("annotator").order_by("slot", "pk")
    if seed is None:
        found = list(rows)
    else:
        submitted = {row.annotator_id: row for row in rows.filter(state=AssignmentState.SUBMITTED)}
        found = [submitted[pk] for pk in in_order(seed, trajectory.pk, submitted)]
    letters: dict[int, tuple[str, str]] = {}
    for number, row in enumerate(found):
        letter = LETTERS[number % len(LETTERS)]
        name = str(row.annotator) if shown.access.names else ""
        letters[row.pk] = (letter, name)
        minutes = round(row.active_ms / 60_000) if shown.access.names else None
        shown.sides.append(Side(letter, name, row.state, row.needs_discussion, row.broken, minutes))
    _add_labels(shown, letters)
    if shown.access.consensus:
        _add_consensus(shown)
    return shown


def _add_labels(shown: SideBySide, letters: dict[int, tuple[str, str]]) -> None:
    labels = {(row.step_id, row.assignment_id): row for row in Label.objects.filter(assignment__in=letters)}
    outcomes = {row.assignment_id: row for row in OutcomeLabel.objects.filter(assignment__in=letters)}
    for item in shown.steps:
        assert item.step is not None
        item.labels = [_annotator_label(*letters[pk], labels.get((item.step.pk, pk))) for pk in letters]
    shown.outcome.labels = [_annotator_label(*letters[pk], outcomes.get(pk)) for pk in letters]


def _annotator_label(letter: str, name: str, row: Label | OutcomeLabel | None) -> AnnotatorLabel:
    if row is None:
        return AnnotatorLabel(letter, name, None)
    known = REASON_CODES_BY_CODE.get(row.reason)
    return AnnotatorLabel(
        letter=letter,
        name=name,
        value=row.value,
        source=getattr(row, "source", ""),
        unsure=row.unsure,
        flagged=row.flagged,
        note=unescape(row.note),
        reason=known.title if known else row.reason,
    )


def _add_consensus(shown: SideBySide) -> None:
    resolved = {row.step_id: row for row in Consensus.objects.filter(trajectory=shown.trajectory)}
    for item in shown.steps:
        row = resolved.get(item.step.pk) if item.step else None
        if row is not None:
            item.consensus, item.kind = row.value, row.kind
    outcome = OutcomeConsensus.objects.filter(trajectory=shown.trajectory).first()
    if outcome is not None:
        shown.outcome.consensus, shown.outcome.kind = outcome.value, outcome.kind


def _add_suggestions(shown: SideBySide, revealed: Iterable[StepSuggestions]) -> None:
    by_step = {one.step: one.suggestions for one in revealed}
    for item in (*shown.steps, shown.outcome):
        step = item.step.pk if item.step else None
        item.revealed, item.suggestions = step in by_step, by_step.get(step, ())
