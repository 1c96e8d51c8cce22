"""Compare two releases: which records came and went, and what changed of those that both have.

A record is known by its subset and id. Both releases are read in the order of these, side by side, as two
sorted files are merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from ..scoring.labels import ReleasedLabels
from .details import NO_ROOT, ReleasedDetails

What = Literal["added", "removed", "labels", "outcome", "reasons", "text", "fields"]
# in the order in which a person asks; "reasons": where an error began, or why a label is what it is
WHATS: Final[tuple[What, ...]] = ("added", "removed", "labels", "outcome", "reasons", "text", "fields")


class ReleasedLabel(NamedTuple):
    """One label of one release: its value, how it was reached, its root (a message index), and its reason."""

    value: int
    kind: str
    root: int | None
    reason: str


class LabelChange(NamedTuple):
    """One label that is not the same in both; `message_index` and `number` (the how-manieth step, from 1) are
    None for the outcome, `before` or `after` where the record has no such step."""

    message_index: int | None
    number: int | None
    before: ReleasedLabel | None
    after: ReleasedLabel | None

    @property
    def of_value(self) -> bool:
        """Whether the value changed, rather than its root or its reason alone."""
        return self.before is None or self.after is None or self.before.value != self.after.value


class RecordChange(NamedTuple):
    """One record that is not the same in both releases. Of added and removed ones nothing is compared.
    `before` and `after` are its ordinals in both, None where one does not have it."""

    subset: str
    record_id: str
    policy_model: str
    what: frozenset[What]
    labels: tuple[LabelChange, ...]
    before: int | None
    after: int | None


@dataclass(slots=True)
class DiffCounts:
    """Counts of two releases: records and steps of each; `records` in which something of a kind changed, and
    `changed` in which anything did; `labels` of steps whose value changed."""

    before: int = 0
    after: int = 0
    steps_before: int = 0
    steps_after: int = 0
    records: Counter[What] = field(default_factory=Counter)
    changed: int = 0
    labels: int = 0

    @property
    def unchanged(self) -> int:
        """Records of both in which nothing at all changed."""
        return self.before - self.records["removed"] - self.changed


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """All changes from one release to another, by (subset, record id).

    `values` and `outcomes` count all labels of both releases by value. `moved` counts steps of both by (value
    before, value after), `moved_outcomes` outcomes, equal ones included; `reasons` the steps whose value
    changed by the reason code after it ("": none), and `kinds` by (how the label was reached before, and
    after).
    """

    whole: DiffCounts
    subsets: dict[str, DiffCounts]
    changes: tuple[RecordChange, ...]
    values: tuple[Counter[int], Counter[int]]
    outcomes: tuple[Counter[int], Counter[int]]
    moved: Counter[tuple[int, int]]
    moved_outcomes: Counter[tuple[int, int]]
    reasons: Counter[str]
    kinds: Counter[tuple[str, str]]
    sides: tuple[_Side, _Side] = field(repr=False)

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return not self.changes

    def labels_of(self, change: RecordChange) -> tuple[LabelChange, ...]:
        """The labels of a record that changed; of an added or removed one, all that it has."""
        old, new = self.sides
        if change.before is None and change.after is not None:
            return tuple(
                LabelChange(at, number, None, label) for at, number, label in new.labels(change.after)
            )
        if change.after is None and change.before is not None:
            return tuple(
                LabelChange(at, number, label, None) for at, number, label in old.labels(change.before)
            )
        return change.labels


@dataclass(frozen=True, slots=True)
class ComparedRelease:
    """A release without its messages."""

    labels: ReleasedLabels
    details: ReleasedDetails


class _Side:
    """One release as lists, and its records in the order of their keys."""

    def __init__(self, outline: ComparedRelease) -> None:
        labels = outline.labels
        self.details = outline.details
        self.model = labels.policy_model
        self.outcome = labels.outcome.tolist()
        self.value = labels.value.tolist()
        self.index = labels.message_index.tolist()
        self.starts = labels.starts().tolist()
        names = [labels.subsets[at] for at in labels.subset.tolist()]
        self.keys = list(zip(names, labels.record_id, strict=True))
        self.order = sorted(range(len(self.keys)), key=self.keys.__getitem__)

    def steps(self, at: int) -> range:
        return range(self.starts[at], self.starts[at + 1])

    def said(self, place: int) -> ReleasedLabel:
        details = self.details
        root = details.root[place]
        return ReleasedLabel(
            self.value[place],
            details.words[details.kind[place]],
            None if root == NO_ROOT else root,
            details.words[details.reason[place]],
        )

    def labels(self, at: int) -> Iterator[tuple[int | None, int | None, ReleasedLabel]]:
        """All labels of a record, each by message index and number, which the outcome has not."""
        for number, place in enumerate(self.steps(at), start=1):
            yield self.index[place], number, self.said(place)
        yield None, None, self.outcome_said(at)

    def outcome_said(self, at: int) -> ReleasedLabel:
        details = self.details
        kind, reason = details.words[details.outcome_kind[at]], details.words[details.outcome_reason[at]]
        return ReleasedLabel(self.outcome[at], kind, None, reason)


def compare(old: ComparedRelease, new: ComparedRelease) -> ReleaseDiff:
    """The changes from `old` to `new`. Linear in their steps; nothing of it depends on their order."""
    before, after = _Side(old), _Side(new)
    whole, subsets = (
        DiffCounts(),
        {name: DiffCounts() for name in sorted({*old.labels.subsets, *new.labels.subsets})},
    )
    moved, moved_outcomes = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    reasons, kinds = Counter[str](), Counter[tuple[str, str]]()
    changes = []
    for old_place, new_place in _merged(before, after):
        change = _change(before, after, old_place, new_place)
        subset = change.subset
        for counts in (whole, subsets[subset]):
            _count(counts, before, after, old_place, new_place, change)
        if old_place is not None and new_place is not None:
            _move(moved, before, after, old_place, new_place)
            moved_outcomes[before.outcome[old_place], after.outcome[new_place]] += 1
        if change.what:
            changes.append(change)
            for label in change.labels:
                if label.message_index is not None and label.of_value:
                    reasons[label.after.reason if label.after else ""] += 1
                    kinds[
                        label.before.kind if label.before else "", label.after.kind if label.after else ""
                    ] += 1
    values = Counter(before.value), Counter(after.value)
    outcomes = Counter(before.outcome), Counter(after.outcome)
    return ReleaseDiff(
        *(whole, subsets, tuple(changes), values, outcomes, moved, moved_outcomes, reasons, kinds),
        sides=(before, after),
    )


def _merged(old: _Side, new: _Side) -> Iterator[tuple[int | None, int | None]]:
    """The places of the same record in both, None where one has none, in the order of their keys."""
    i = j = 0
    while i < len(old.order) or j < len(new.order):
        key = old.keys[old.order[i]] if i < len(old.order) else None
        other = new.keys[new.order[j]] if j < len(new.order) else None
        takes_old = other is None or (key is not None and key <= other)
        takes_new = key is None or (other is not None and other <= key)
        yield (old.order[i] if takes_old else None), (new.order[j] if takes_new else None)
        i, j = i + takes_old, j + takes_new


def _change(old: _Side, new: _Side, place: int | None, other: int | None) -> RecordChange:
    if other is None:
        assert place is not None
        return RecordChange(*old.keys[place], old.model[place], frozenset({"removed"}), (), place, None)
    key, model = new.keys[other], new.model[other]
    if place is None:
        return RecordChange(*key, model, frozenset({"added"}), (), None, other)
    what: set[What] = set()
    if old.details.messages[place] != new.details.messages[other]:
        what.add("text")
    if old.details.fields[place] != new.details.fields[other]:
        what.add("fields")
    labels = [*_steps(old, new, place, other), *_outcome(old, new, place, other)]
    for label in labels:
        if not label.of_value:
            what.add("reasons")
        else:
            what.add("labels" if label.message_index is not None else "outcome")
    return RecordChange(*key, model, frozenset(what), tuple(labels), place, other)


def _steps(old: _Side, new: _Side, one: int, other: int) -> Iterator[LabelChange]:
    theirs, ours = old.steps(one), new.steps(other)
    if _same(old, new, theirs, ours):
        return
    before = {old.index[place]: place for place in theirs}
    after = {new.index[place]: place for place in ours}
    for index in sorted({*before, *after}):
        was = old.said(before[index]) if index in before else None
        now = new.said(after[index]) if index in after else None
        if _differ(was, now):
            place = after[index] - ours.start if index in after else before[index] - theirs.start
            yield LabelChange(index, place + 1, was, now)


def _same(old: _Side, new: _Side, theirs: range, ours: range) -> bool:
    """Whether the labels of two records are equal at a glance: most are."""
    a, b = slice(theirs.start, theirs.stop), slice(ours.start, ours.stop)
    if old.value[a] != new.value[b] or old.index[a] != new.index[b]:
        return False
    # reasons are numbered by each release for itself
    return (
        old.details.root[a] == new.details.root[b]
        and not any(old.details.reason[a])
        and not any(new.details.reason[b])
    )


def _outcome(old: _Side, new: _Side, one: int, other: int) -> Iterator[LabelChange]:
    was, now = old.outcome_said(one), new.outcome_said(other)
    if _differ(was, now):
        yield LabelChange(None, None, was, now)


def _differ(was: ReleasedLabel | None, now: ReleasedLabel | None) -> bool:
    if was is None or now is None:
        return True
    return (was.value, was.root, was.reason) != (now.value, now.root, now.reason)


def _count(
    counts: DiffCounts, old: _Side, new: _Side, one: int | None, other: int | None, change: RecordChange
) -> None:
    if one is not None:
        counts.before += 1
        counts.steps_before += len(old.steps(one))
    if other is not None:
        counts.after += 1
        counts.steps_after += len(new.steps(other))
    counts.records.update(change.what)
    counts.changed += bool(change.what) and one is not None and other is not None
    counts.labels += sum(label.of_value and label.message_index is not None for label in change.labels)


def _move(moved: Counter[tuple[int, int]], old: _Side, new: _Side, one: int, other: int) -> None:
    theirs, ours = old.steps(one), new.steps(other)
    if _aligned(old.index, new.index, theirs, ours):
        moved.update(
            zip(old.value[theirs.start : theirs.stop], new.value[ours.start : ours.stop], strict=True)
        )
        return
    before = {old.index[place]: old.value[place] for place in theirs}
    moved.update((before[new.index[at]], new.value[at]) for at in ours if new.index[at] in before)


def _aligned(old: Sequence[int], new: Sequence[int], theirs: range, ours: range) -> bool:
    return old[theirs.start : theirs.stop] == new[ours.start : ours.stop]
