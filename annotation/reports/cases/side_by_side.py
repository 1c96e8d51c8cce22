"""Labels of one trajectory side by side: an adjudicator's case, or an admin's inspection of a
trajectory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from annotation.core.error_graph import Judged
from annotation.core.errors import Denied
from annotation.core.i18n import translatable
from annotation.core.resolution import AnnotatorPosition, is_disputed, majority
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
    Revision,
    Step,
    Trajectory,
    User,
)
from annotation.policies import FieldAccess, Viewer, field_access

from ..judging.suggestions import JudgeSuggestion, StepSuggestions, revealed_to, suggestions_for_admin
from ..shared.pseudonyms import LETTERS, in_order, letter_seed
from ..shared.transcripts import Transcript, transcript

ROOTS_OFFERED = 50
"""So many earlier steps are offered as the beginning of an error, of either kind."""


@dataclass(frozen=True, slots=True)
class LabelWithRoot:
    """A label: its value, and of an error the step at which it began and its reason code."""

    value: int | None
    root: Step | None = None
    code: str = ""

    @property
    def judged(self) -> Judged:
        """The same, as core.error_graph reads it."""
        return Judged(self.value, self.root.message_index if self.root is not None else None, self.code)


@dataclass(slots=True)
class AnnotatorLabel:
    """A label that one annotator submitted of a step or of the outcome, and in `now` the changed one, of
    which it may be the root or the reason alone. `name` is empty for whoever sees only letters."""

    letter: str
    name: str
    value: int | None
    source: str = ""
    unsure: bool = False
    flagged: bool = False
    note: str = ""
    reason: str = ""
    code: str = ""
    root: Step | None = None
    now: LabelWithRoot | None = None

    @property
    def says(self) -> LabelWithRoot:
        """The present label, with all changes."""
        return self.now if self.now is not None else LabelWithRoot(self.value, self.root, self.code)


@dataclass(slots=True)
class SideBySideItem:
    """One step (or with `step` None the outcome) and everything said about it.

    `suggestions` is empty for whoever has not revealed them, and where `revealed` is not true.
    """

    step: Step | None
    labels: list[AnnotatorLabel] = field(default_factory=list)
    decision: Decision | None = None
    consensus: int | None = None
    kind: str = ""
    resolved: LabelWithRoot | None = None
    revealed: bool = False
    suggestions: tuple[JudgeSuggestion, ...] = ()

    @property
    def disputed(self) -> bool:
        """Whether the annotators gave different values."""
        return len({label.value for label in self.labels if label.value is not None}) > 1

    @property
    def contested(self) -> bool:
        """Whether they differed, or differ after what they have changed."""
        return self.disputed or is_disputed(self.positions)

    @property
    def agreed_now(self) -> int | None:
        """The value on which all agree after what they have changed; None where they differ."""
        values = {label.says.value for label in self.labels}
        return values.pop() if len(values) == 1 else None

    @property
    def roots_differ(self) -> bool:
        """Whether all say −1 now, and name different steps at which the error began."""
        return self.agreed_now == -1 and len({label.says.root for label in self.labels}) > 1

    @property
    def named(self) -> LabelWithRoot:
        """The root and the reason code on which all agree who say −1 now."""
        errors = [label.says for label in self.labels if label.says.value == -1]
        roots, codes = {one.root for one in errors}, {one.code for one in errors if one.code}
        return LabelWithRoot(
            -1, roots.pop() if len(roots) == 1 else None, codes.pop() if len(codes) == 1 else ""
        )

    @property
    def positions(self) -> list[AnnotatorPosition]:
        """The present label of each annotator, as core.resolution reads it (the time of a change is left
        out)."""
        return [
            AnnotatorPosition(
                submitted=label.value,
                value=label.says.value,
                root=label.says.root.pk if label.says.root is not None else None,
                reason=label.says.code,
            )
            for label in self.labels
            if label.value is not None and label.says.value is not None
        ]

    @property
    def majority(self) -> int | None:
        """The value that most of at least three annotators say now, while they differ; None without one."""
        positions = self.positions
        return majority(positions) if is_disputed(positions) else None

    @property
    def told(self) -> bool:
        """Whether a judge says anything here."""
        return any(one.value is not None or one.reason or one.comment for one in self.suggestions)

    @property
    def decision_note(self) -> str:
        """The note of the decision, as it was written."""
        return unescape(self.decision.note) if self.decision else ""


def _roots(item: SideBySideItem) -> list[Step]:
    """The steps at which an error of this one began, as anybody says."""
    roots = [label.says.root for label in item.labels]
    decided = item.decision.root if item.decision is not None else None
    return [root for root in (*roots, decided) if root is not None]


@dataclass(frozen=True, slots=True)
class AnnotatorSide:
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
    """A trajectory with all labels a viewer may see: `steps` in order, then the outcome. `revisions` are all
    changes of mind, in the order in which they were made."""

    trajectory: Trajectory
    access: FieldAccess
    transcript: Transcript
    steps: list[SideBySideItem]
    outcome: SideBySideItem
    sides: list[AnnotatorSide]
    adjudication: Adjudication | None = None
    revisions: list[tuple[AnnotatorSide, Revision]] = field(default_factory=list)
    _begun: list[Step] | None = field(default=None, init=False, repr=False)

    def roots_before(self, item: SideBySideItem) -> list[Step]:
        """The earlier steps that a form offers as the beginning of an error of this one: the nearest, the
        nearest at which somebody says that one began, and those named for this step. All of a short run; of a
        thousand steps each form would hold a thousand."""
        if item.step is None:
            return []
        before = item.step.ordinal
        if self._begun is None:
            self._begun = sorted(
                {root.ordinal: root for one in self.steps for root in _roots(one)}.values(),
                key=attrgetter("ordinal"),
            )
        nearest = [one.step for one in self.steps[max(0, before - ROOTS_OFFERED) : before] if one.step]
        end = bisect_left(self._begun, before, key=attrgetter("ordinal"))
        begun = self._begun[max(0, end - ROOTS_OFFERED) : end]
        offered = {step.ordinal: step for step in (*begun, *nearest, *_roots(item)) if step.ordinal < before}
        return [offered[ordinal] for ordinal in sorted(offered)]

    @property
    def contested(self) -> list[SideBySideItem]:
        """The items on which the annotators differ or differed, in order, the outcome last."""
        return [item for item in (*self.steps, self.outcome) if item.contested]


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


def inspection(*, actor: Viewer, trajectory: Trajectory, access: FieldAccess | None = None) -> SideBySide:
    """A trajectory with everything that is known about it, for admins; drafts of open assignments and judges'
    suggestions included. Its letters are those of its case."""
    seed = letter_seed(trajectory)
    shown = _side_by_side(actor, trajectory, seed=seed, drafts=True, access=access)
    steps = [item.step for item in shown.steps if item.step is not None]
    _add_suggestions(shown, suggestions_for_admin(trajectory=trajectory, access=shown.access, steps=steps))
    return shown


def discussed(*, actor: Viewer, discussion: Discussion) -> SideBySide:
    """The submitted labels that a discussion is about, under its letters. A constant number of queries.

    `discussion` comes with its trajectory's project, subset and task. Raises Denied to whoever takes no part.
    """
    return _side_by_side(actor, discussion.trajectory, seed=discussion.letter_seed)


def plain(*, actor: Viewer, trajectory: Trajectory, access: FieldAccess | None = None) -> SideBySide:
    """A trajectory without anybody's labels, as far as the viewer may see it. `access`: as `field_access` has
    it, where it is known already."""
    access = access or field_access(actor, trajectory)
    return SideBySide(
        trajectory=trajectory,
        access=access,
        transcript=transcript(trajectory=trajectory, access=access),
        steps=[
            SideBySideItem(step)
            for step in Step.objects.filter(trajectory=trajectory).order_by("message_index")
        ],
        outcome=SideBySideItem(None),
        sides=[],
    )


def _side_by_side(
    actor: Viewer,
    trajectory: Trajectory,
    *,
    seed: int | None,
    drafts: bool = False,
    access: FieldAccess | None = None,
) -> SideBySide:
    """The submitted labels of a trajectory in the order of their letters, which `seed` draws (without one,
    that of the slots); behind them, with `drafts`, those of all other assignments."""
    shown = plain(actor=actor, trajectory=trajectory, access=access)
    if not (shown.access.others_labels or (shown.access.discussed and not drafts)):
        raise Denied(translatable("You may not see other people’s labels here."))
    rows = Assignment.objects.filter(trajectory=trajectory).select_related("annotator").order_by("slot", "pk")
    labellings = list(rows if drafts else rows.filter(state=AssignmentState.SUBMITTED))
    if seed is not None:
        submitted = [row.annotator_id for row in labellings if row.state == AssignmentState.SUBMITTED]
        place = {pk: number for number, pk in enumerate(in_order(seed, trajectory.pk, submitted))}
        labellings.sort(key=lambda row: place.get(row.annotator_id, len(place)))
    sides: dict[int, AnnotatorSide] = {}
    for number, row in enumerate(labellings):
        letter = LETTERS[number % len(LETTERS)]
        name = str(row.annotator) if shown.access.names else ""
        minutes = round(row.active_ms / 60_000) if shown.access.names else None
        sides[row.pk] = AnnotatorSide(letter, name, row.state, row.needs_discussion, row.broken, minutes)
    shown.sides = list(sides.values())
    _add_labels(shown, sides)
    if shown.access.consensus:
        _add_consensus(shown)
    return shown


def _add_labels(shown: SideBySide, sides: dict[int, AnnotatorSide]) -> None:
    labels = {(row.step_id, row.assignment_id): row for row in Label.objects.filter(assignment__in=sides)}
    outcomes = {row.assignment_id: row for row in OutcomeLabel.objects.filter(assignment__in=sides)}
    revisions = Revision.objects.filter(assignment__in=sides).order_by("pk")
    shown.revisions = [(sides[row.assignment_id], row) for row in revisions]
    changed = {(row.step_id, row.assignment_id): row for _side, row in shown.revisions}
    steps = {item.step.pk: item.step for item in shown.steps if item.step is not None}
    for item in (*shown.steps, shown.outcome):
        step = item.step.pk if item.step is not None else None
        for pk, side in sides.items():
            row = outcomes.get(pk) if step is None else labels.get((step, pk))
            label = _annotator_label(side, row, steps)
            if (change := changed.get((step, pk))) is not None:
                label.now = LabelWithRoot(change.value, steps.get(change.root_id or 0), change.reason)
            item.labels.append(label)


def _annotator_label(
    side: AnnotatorSide, row: Label | OutcomeLabel | None, steps: Mapping[int, Step]
) -> AnnotatorLabel:
    if row is None:
        return AnnotatorLabel(side.letter, side.name, None)
    reason_code = REASON_CODES_BY_CODE.get(row.reason)
    return AnnotatorLabel(
        letter=side.letter,
        name=side.name,
        value=row.value,
        source=getattr(row, "source", ""),
        unsure=row.unsure,
        flagged=row.flagged,
        note=unescape(row.note),
        reason=reason_code.title if reason_code else row.reason,
        code=row.reason,
        root=steps.get(row.root_id or 0) if isinstance(row, Label) else None,
    )


def _add_consensus(shown: SideBySide) -> None:
    resolved = {row.step_id: row for row in Consensus.objects.filter(trajectory=shown.trajectory)}
    steps = {item.step.pk: item.step for item in shown.steps if item.step is not None}
    for item in shown.steps:
        row = resolved.get(item.step.pk) if item.step else None
        if row is not None:
            item.consensus, item.kind = row.value, row.kind
            item.resolved = LabelWithRoot(row.value, steps.get(row.root_id or 0), row.reason)
    outcome = OutcomeConsensus.objects.filter(trajectory=shown.trajectory).first()
    if outcome is not None:
        shown.outcome.consensus, shown.outcome.kind = outcome.value, outcome.kind
        shown.outcome.resolved = LabelWithRoot(outcome.value, None, outcome.reason)


def _add_suggestions(shown: SideBySide, revealed: Iterable[StepSuggestions]) -> None:
    by_step = {one.step: one.suggestions for one in revealed}
    for item in (*shown.steps, shown.outcome):
        step = item.step.pk if item.step else None
        item.revealed, item.suggestions = step in by_step, by_step.get(step, ())
