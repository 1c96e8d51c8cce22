"""The kinds of projects: what each calls its labels, and which stages, figures and exports it has.

A new kind is one declaration here. What a kind has is asked of its declaration, and nowhere is a kind
compared by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, TypeVar

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable


class Feature(StrEnum):
    """Features that some kinds of projects have, and others not.

    `propagation`: an error carries on to later steps, so that −1 are proposed and have roots, and +1 may be
    carried forward. `sequence`: steps follow one another, so that the first −1, where labels go next, and the
    place of a step tell something. `runs`: a trajectory is a whole run, whose outcome says whether the policy
    model succeeded, and models' labels choose among the runs of a task (Best-of-N). `baseline`: the judge
    that is trained here. `atif`: trajectories are written as ATIF documents. `step_rewards`: releases are
    written as rewards of the steps of one run. `pairs`: the steps of a trajectory are alternatives, of which
    one may be better than another, so that releases are written as pairs and say where each is from, and
    models are scored by pairs. `step_scores`: models are scored by the labels that they give to steps, and
    recalibrated, stacked and planned for by these. `derivation`: decisions are derived from its releases.
    `judges_first`: its data have a key, so that judges who agree with it settle an item before people are
    asked.
    """

    PROPAGATION = "propagation"
    SEQUENCE = "sequence"
    RUNS = "runs"
    BASELINE = "baseline"
    ATIF = "atif"
    STEP_REWARDS = "step_rewards"
    PAIRS = "pairs"
    STEP_SCORES = "step_scores"
    DERIVATION = "derivation"
    JUDGES_FIRST = "judges_first"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepNames:
    """Names of the steps of a kind: `one` and `many` as headings; one of them by its `number` as `title`
    where a line begins, and as `inside` within a sentence."""

    one: str
    many: str
    title: str
    inside: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProjectKind:
    """A kind of project. `name` is stored and sent; all texts are English, for translation.

    `names` is what its steps are called, `records` its trajectories. `steps` and `outcomes` say what each
    label means, of a step and of a trajectory, from +1 down; `outcome` what that is a label of; `hint` is
    how to judge a step; `card` and `card_outcome` are what the card of a data set says of both.
    `elsewhere` refuses a file of this kind that meets a project of another. `lacks` holds the features
    that it does not have, and refuses each in a sentence. Its default guidelines stand in
    `core/guidelines/<name>`.
    """

    name: str
    title: str
    about: str
    names: StepNames
    records: str
    steps: Mapping[int, str]
    outcomes: Mapping[int, str]
    outcome: str
    hint: str
    card: str
    card_outcome: str
    elsewhere: str
    lacks: Mapping[Feature, str]

    @property
    def features(self) -> frozenset[Feature]:
        """Its features; templates ask whether a name is among them."""
        return frozenset(Feature) - self.lacks.keys()

    def has(self, feature: Feature | None) -> bool:
        """Whether it has `feature`; None is what every kind has."""
        return feature not in self.lacks

    def step_title(self, number: int | str) -> str:
        """A step by its number, counted from 1 in the stored order, where a line or a sentence begins."""
        return translatable(self.names.title, number=number)

    def step_inside(self, number: int | str) -> str:
        """The same within a sentence."""
        return translatable(self.names.inside, number=number)

    def require(self, feature: Feature | None) -> None:
        """Raises Conflict, in a sentence, where it does not have `feature`; None is what every kind has."""
        if feature is not None and feature in self.lacks:
            raise Conflict(self.lacks[feature], code="not_of_this_kind")


STEPS: Final = ProjectKind(
    name="steps",
    title=translatable("Steps"),
    about=translatable("whole runs of an agent: each of its steps is labelled, and then the outcome"),
    names=StepNames(
        one=translatable("Step"),
        many=translatable("Steps"),
        title=translatable("Step {number}"),
        inside=translatable("step {number}"),
    ),
    records=translatable("Trajectories"),
    steps={
        1: translatable("correct and effective"),
        0: translatable("neutral or exploratory"),
        -1: translatable("incorrect or harmful"),
    },
    outcomes={
        1: translatable("success"),
        0: translatable("neither"),
        -1: translatable("failure"),
    },
    outcome=translatable("The final result of the whole trajectory."),
    hint=translatable("Judge a step by what was known up to and including its own results."),
    card=(
        "A step is a message of the assistant, addressed by its index in `messages`, and judged without "
        "hindsight: on the messages up to and including its own tool results."
    ),
    card_outcome="The outcome has the same values.",
    elsewhere=translatable(
        "This file holds whole runs, which belong into a project of the kind “steps”; this project is of "
        "another."
    ),
    lacks={
        Feature.PAIRS: translatable(
            "In a project of steps no step is an alternative to another, so that its releases have no pairs."
        ),
        Feature.JUDGES_FIRST: translatable(
            "In a project of steps no data have a key, so that judges cannot settle anything before people "
            "are asked."
        ),
    },
)
DECISIONS: Final = ProjectKind(
    name="decisions",
    title=translatable("Decisions"),
    about=translatable(
        "one history each, and some candidates for the next action: each is labelled, and then whether the "
        "item is fit for use"
    ),
    names=StepNames(
        one=translatable("Option"),
        many=translatable("Options"),
        title=translatable("Option {number}"),
        inside=translatable("option {number}"),
    ),
    records=translatable("Decisions"),
    steps={
        1: translatable("the right next action here"),
        0: translatable("cannot be said"),
        -1: translatable("a wrong next action here"),
    },
    outcomes={
        1: translatable("fit for use"),
        0: translatable("unsure"),
        -1: translatable("to be dropped"),
    },
    outcome=translatable("Whether the item is fit for use."),
    hint=translatable("Judge each option by itself, as the next action after this history."),
    card=(
        "Each record is a decision: a history, in which responses have the role `earlier assistant`, and "
        "then the options for the next action, each a message of the role `assistant`. An option is "
        "addressed by its index in `messages` and judged by itself, as the next action after the history; "
        "the options have no order."
    ),
    card_outcome=(
        "The outcome says whether the decision is fit for use: **+1** fit for use, **0** unsure, **−1** to "
        "be dropped."
    ),
    elsewhere=translatable(
        "This file holds decisions, which belong into a project of the kind “decisions”; this project is of "
        "another."
    ),
    lacks={
        Feature.PROPAGATION: translatable(
            "In a project of decisions no error carries on: its options are alternatives, and none follows "
            "from another."
        ),
        Feature.SEQUENCE: translatable("A project of decisions has no figures of first errors."),
        Feature.RUNS: translatable("A project of decisions has no Best-of-N."),
        Feature.BASELINE: translatable("A project of decisions has no baseline judge."),
        Feature.ATIF: translatable("A project of decisions has no export as ATIF."),
        Feature.STEP_REWARDS: translatable("A project of decisions has no export of step rewards."),
        Feature.STEP_SCORES: translatable(
            "A project of decisions has no scores by steps: models are scored on pairs of options."
        ),
        Feature.DERIVATION: translatable(
            "Decisions are derived from whole runs, and not from a project of decisions."
        ),
    },
)

KINDS: Final[dict[str, ProjectKind]] = {kind.name: kind for kind in (STEPS, DECISIONS)}


class Needing(Protocol):
    """Something that not every kind of project has."""

    @property
    def needs(self) -> Feature | None:
        """The feature without which it is not there."""


_Needing = TypeVar("_Needing", bound=Needing)


def by_name(name: str) -> ProjectKind:
    """The kind called `name`. Raises Invalid, listing the known names."""
    try:
        return KINDS[name]
    except KeyError:
        raise Invalid(
            translatable("A project is of one of these kinds: {kinds}.", kinds=", ".join(KINDS)),
            fields={"kind": translatable("must be one of {choices}", choices=", ".join(KINDS))},
        ) from None


def available(kind: ProjectKind, every: Mapping[str, _Needing]) -> dict[str, _Needing]:
    """Those of `every`, by name, that a kind has: figures, kinds of judges."""
    return {name: one for name, one in every.items() if kind.has(one.needs)}


SETTINGS_NEED: Final[Mapping[str, Feature]] = {
    "carry_forward": Feature.PROPAGATION,
    "judges_first": Feature.JUDGES_FIRST,
    "judged_sample": Feature.JUDGES_FIRST,
}
"""The settings of a project that not every kind has."""


def settings_of(kind: ProjectKind, names: Iterable[str]) -> list[str]:
    """Those settings that a kind has."""
    return [name for name in names if kind.has(SETTINGS_NEED.get(name))]


def manifest_part(kind: ProjectKind) -> dict[str, str]:
    """The entry of a kind in the manifest of a release: none for steps, as before there were others."""
    return {} if kind == STEPS else {"kind": kind.name}


def of_manifest(manifest: Mapping[str, object]) -> ProjectKind:
    """The kind of a release, by its manifest."""
    return by_name(str(manifest.get("kind", STEPS.name)))


def refuse_other(project: ProjectKind, file: ProjectKind) -> None:
    """Raises Invalid where a file of trajectories is of another kind than the project that it should come
    into."""
    if file != project:
        raise Invalid(file.elsewhere, code="other_kind")
