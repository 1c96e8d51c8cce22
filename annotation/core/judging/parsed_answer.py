"""The judgement in a judge's answer: the labels that were given, and a count of everything that was not."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from annotation.core.decisions.distractors import Proposal


class ProblemKind(StrEnum):
    """A fault, or something worth noting, at one place of an answer."""

    MISSING = "missing"
    """A step (or the outcome) without a label, null included."""
    EXTRA = "extra"
    """A label for a message that is not a step; it is never moved to a step nearby."""
    INVALID = "invalid"
    """A value that is not a label: `true`, `0.5`, `2`, `"good"`."""
    CONTRADICTORY = "contradictory"
    """The same step (or key) twice with different values: it has no label, and counts as invalid."""
    ORDER = "order"
    """An option of a decision whose label depends on the order in which it was shown: it has none."""
    NOTED = "noted"
    """Read all the same, but not as asked for: a label as a string, comments in the JSON."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. `where`: "steps.4", "outcome", "answer". `found`: what stood there, in short."""

    kind: ProblemKind
    where: str
    found: str = ""

    def as_dict(self) -> dict[str, str]:
        """JSON-ready."""
        return {"kind": str(self.kind), "where": self.where, "found": self.found}


class UnusableKind(StrEnum):
    """The reason why no label at all could be taken from an answer. The words are those of
    `providers.FailureKind`."""

    NOT_JSON = "not_json"
    TRUNCATED = "truncated"
    NO_LABELS = "no_labels"
    TOO_LARGE = "too_large"


@dataclass(frozen=True, slots=True)
class Unusable:
    """The whole answer is a failure: why, and one sentence about it."""

    kind: UnusableKind
    message: str


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A parsed answer.

    `labels` has every step index that was asked for, in order, and no other; `None` is a missing label,
    never 0. `reasons` holds the steps that got one. `missing`, `extra` and `invalid` count steps and
    indexes (`problems` lists the first 100 findings and may hold notes too); the outcome is not counted in
    them, but its problems are listed. `unusable` is set when no step has a label: then every label and the
    outcome are `None`. `order_dependent` holds the options of a decision that got one label in an order and
    another in its reverse, with that as their reason; they are not counted among the missing, since asking
    again would tell the same.
    """

    labels: dict[int, int | None]
    reasons: dict[int, str]
    outcome: int | None
    outcome_reason: str
    problems: tuple[Problem, ...]
    missing: int
    extra: int
    invalid: int
    unusable: Unusable | None = None
    cut: bool = False
    """The answer ended too early: its finished labels are here; the missing ones can be asked for again."""
    probabilities: dict[int, float] = field(default_factory=dict)

    """The judge's probability of its labels, by step; only of one that can say (the baseline)."""
    order_dependent: frozenset[int] = frozenset()
    proposals: tuple[Proposal | None, ...] = ()
    """The wrong actions of an answer to a prompt for distractors, None for one that cannot be read. Such an
    answer has no labels, and is usable with one action, whatever becomes of it."""
    text: str = ""
    """The whole answer to a prompt that asks for no labels."""
