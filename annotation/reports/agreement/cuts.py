"""Cuts of agreement figures, and the filters of the page, the API and the lists of steps.

A cut has parts, each with a key for URLs, a title, and a number. A filter takes one part of a cut; filters of
several cuts combine. Filters are parsed from text here and nowhere else: what does not exist is refused in a
sentence.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

import numpy as np

from annotation.core.agreement.after_discussion import RevisedLabels
from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_counts import CountedRows
from annotation.core.agreement.pair_table import PLACES, STEP_CUTS, PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.disputes import DisputeKind
from annotation.core.errors import Invalid
from annotation.core.figures.grouping import distinct, ranks
from annotation.core.figures.measure import IntArray
from annotation.core.i18n import Translatable, translatable
from annotation.core.influence.experiment import ARMS
from annotation.core.kinds import STEPS, Feature, ProjectKind, available
from annotation.core.vocabulary import REASON_CODES_BY_CODE, VALUES

ROW_CUTS: Final = ("subset", "model", "pair", "guideline", "week", "arm")
CUTS: Final = (*ROW_CUTS, *STEP_CUTS)
"""Every cut by name; the first ones are attributes of trajectories, the others of steps."""
FOR_ALL: Final = ("subset", *STEP_CUTS)
"""Cuts for those who may not know pairs of annotators: the others would leave single trajectories apart."""
ALONE: Final = frozenset({"pair", "guideline", "week", "source", "exposure"})
"""Cuts that take some pairs of annotators of a step and leave others."""
BY_NUMBER: Final = frozenset({"guideline", "week", "arm"})
"""Cuts whose parts are in the order of their numbers; those of the others are in that of their names."""
LISTED: Final = (
    *("place", "labels", "differ", "annotator", "value", "reason", "first_error"),
    *("figure", "of", "when", "changed"),
)
"""Filters of lists of steps, beside the cuts: what the figures, cells and bars are. `figure` takes what a
figure is made of, `of=outcome` outcomes instead of steps, `when=after` what is said after discussion,
`changed` what was changed in it, and `reason` what one of the two labels has for a reason."""
DIFFERENCES: Final[Mapping[str, int | None]] = {
    "1": None,
    DisputeKind.SIGN_FLIP.value: 2,
    DisputeKind.NEUTRAL_BOUNDARY.value: 1,
}
"""The distance of two labels of a step, by the kind of difference; None: any."""
FIRST_ERRORS: Final = ("exact", "one_step_off", "farther_off", "one_only", "neither")
"""Offsets of two annotators' first errors, as `first_errors.Offsets` names them."""
CUTS_NEED: Final = {
    "model": Feature.RUNS,
    "position": Feature.SEQUENCE,
    "source": Feature.PROPAGATION,
}
LISTED_NEEDS: Final = {"place": Feature.SEQUENCE, "first_error": Feature.SEQUENCE}
"""Cuts, and filters of lists, that not every kind of project has."""
PAIR: Final = 1 << 31
TWO_VERSIONS: Final = "two"
NO_MODEL: Final = "-"


@dataclass(frozen=True, slots=True)
class CutPart:
    """One part of a cut: `number` is its code in the arrays. `title` is empty where the key says it all."""

    key: str
    number: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class TaskArms:
    """The arms of tasks in the experiment: `task` sorted, `number` an index into `experiment.ARMS`."""

    task: IntArray
    number: IntArray


@dataclass(frozen=True, slots=True)
class LabelView:
    """Paired labels as one person may see them, with the names of what is in them. `changes` is what was
    changed in discussions; `occurring` has the codes of the parts of each cut of trajectories. Of the same
    paired labels and the same `state` every figure is the same. `without`: trajectories that are left out
    because the person labelled them. `kind` is the project's."""

    counted: CountedRows
    subsets: Mapping[int, str]
    people: Mapping[int, str]
    cuts: tuple[str, ...]
    with_people: bool
    state: Hashable
    changes: RevisedLabels
    occurring: Mapping[str, Sequence[int]]
    arms: TaskArms | None = None
    without: tuple[int, ...] = ()
    kind: ProjectKind = STEPS

    @property
    def rows(self) -> PairedRows:
        """The labels themselves."""
        return self.counted.rows

    def codes(self, cut: str) -> IntArray:
        """The code of each row's part of a cut of trajectories."""
        return codes(self.rows, cut, self.arms)

    def parts(self, cut: str) -> list[CutPart]:
        """The parts of a cut that occur, in their order."""
        if cut in STEP_CUTS:
            return [CutPart(key, number) for number, key in enumerate(STEP_CUTS[cut])]
        return sorted(
            (
                CutPart(key, code, title)
                for code in self.occurring[cut]
                for key, title in [self._named(cut, code)]
            ),
            key=lambda part: (part.number if cut in BY_NUMBER else 0, part.title or part.key),
        )

    def _named(self, cut: str, code: int) -> tuple[str, str]:
        """The key and the title of a part of a cut of trajectories, by its code."""
        if cut == "subset":
            return self.subsets[code], ""
        if cut == "model":
            return self.rows.models[code] or NO_MODEL, ""
        if cut == "guideline":
            return (str(code) if code >= 0 else TWO_VERSIONS), ""
        if cut == "arm":
            return ARMS[code].value, ""
        if cut == "week":
            return date.fromordinal(code).isoformat(), ""
        first, second = divmod(code, PAIR)
        names = sorted(self.people.get(who, "?") for who in (first, second))
        return f"{first}-{second}", " · ".join(names)


def cuts_of(kind: ProjectKind, cuts: Iterable[str]) -> tuple[str, ...]:
    """Those cuts that a kind of project has."""
    return tuple(cut for cut in cuts if kind.has(CUTS_NEED.get(cut)))


def codes(rows: PairedRows, cut: str, arms: TaskArms | None) -> IntArray:
    """The code of each row's part of a cut of trajectories."""
    if cut == "pair":
        return rows.first * PAIR + rows.second
    if cut == "guideline":
        return np.where(rows.first_guideline == rows.second_guideline, rows.first_guideline, -1)
    if cut == "arm":
        assert arms is not None, "only projects with an experiment are cut by arm"
        return arms.number[np.searchsorted(arms.task, rows.task)]
    column: IntArray = getattr(rows, cut)
    return column


def occurring(rows: PairedRows, cuts: Iterable[str], arms: TaskArms | None) -> dict[str, list[int]]:
    """The codes of the parts of each cut of trajectories that there are rows of."""
    codes_of = {}
    for cut in cuts:
        if cut == "pair":
            rows_of_pairs, _ = distinct(rows.first, rows.second)
            codes_of[cut] = codes(rows, cut, arms)[rows_of_pairs].tolist()
        elif cut in ROW_CUTS:
            codes_of[cut] = ranks(codes(rows, cut, arms))[0].tolist()
    return codes_of


@dataclass(frozen=True, slots=True)
class LabelSelection:
    """The selected parts of cuts, by cut, and further conditions on listed steps. Hashable. Hashable."""

    parts: tuple[tuple[str, CutPart], ...] = ()
    listed: tuple[tuple[str, str], ...] = ()
    asked: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)

    @property
    def of_steps(self) -> bool:
        """Whether it takes some steps of a trajectory and leaves others."""
        return any(name in STEP_CUTS for name, _ in self.parts)

    @property
    def alone(self) -> bool:
        """Whether it takes some pairs of annotators of a step and leaves others."""
        return any(name in ALONE for name, _ in self.parts)

    def part(self, cut: str) -> CutPart | None:
        """The part of a cut that is asked for."""
        return dict(self.parts).get(cut)


def parse(view: LabelView, asked: Mapping[str, str], *, lists: bool = False) -> LabelSelection:
    """Filters from text: names of cuts with keys of their parts. Raises Invalid for an unknown filter or
    part."""
    parts, listed = [], []
    given = {name: value for name, value in asked.items() if value}
    for name, value in sorted(given.items()):
        if name in view.cuts:
            chosen = next((part for part in view.parts(name) if part.key == value), None)
            if chosen is None:
                raise _refused(translatable("No labels fit the filter {name} = “{value}”."), name, value)
            parts.append((name, chosen))
        elif lists and name in LISTED:
            if not _known(view, name, value):
                raise _refused(translatable("No labels fit the filter {name} = “{value}”."), name, value)
            listed.append((name, value))
        else:
            raise _refused(translatable("There is no filter “{name}”."), name, value)
    return LabelSelection(tuple(parts), tuple(listed), given)


def _refused(sentence: Translatable, name: str, value: str) -> Invalid:
    return Invalid(
        translatable(sentence.pattern, name=name[:40], value=value[:80]),
        code="unknown_filter",
    )


def _known(view: LabelView, name: str, value: str) -> bool:
    if name == "place":
        return value in {str(place) for place in range(1, PLACES + 1)}
    if name == "labels":
        return value in {f"{a},{b}" for a in VALUES for b in VALUES}
    if name == "value":
        return value in {str(one) for one in VALUES}
    if name == "annotator":
        return value.isdecimal() and int(value) in view.people
    if name == "reason":
        return value in REASON_CODES_BY_CODE
    if name == "differ":
        return value in DIFFERENCES
    if not view.kind.has(LISTED_NEEDS.get(name)):
        return False
    only = {
        "first_error": FIRST_ERRORS,
        "figure": available(view.kind, FIGURES),
        "of": ("outcome",),
        "when": ("after",),
    }
    return value in only.get(name, ("1",))


def select_rows(view: LabelView, selection: LabelSelection) -> BoolArray | None:
    """A mask (rows,) of the rows that the cuts of a selection leave; None: all."""
    masks = [view.codes(cut) == part.number for cut, part in selection.parts if cut not in STEP_CUTS]
    return np.logical_and.reduce(masks) if masks else None


def select(view: LabelView, selection: LabelSelection) -> tuple[PairedRows, BoolArray | None]:
    """The rows that the cuts of a selection leave, and which of their steps, (steps,); None: all that are
    paired."""
    chosen = select_rows(view, selection)
    rows = view.rows if chosen is None else view.rows.where(chosen)
    masks = [rows.step_cut(cut) == part.number for cut, part in selection.parts if cut in STEP_CUTS]
    return rows, (np.logical_and.reduce(masks) if masks else None)


def select_outcomes(rows: PairedRows, selection: LabelSelection) -> tuple[PairedRows, BoolArray | None]:
    """The outcomes of selected rows as rows of one step, and which of them; None: all that are paired. Of
    the cuts of steps only exposure says something of an outcome; the others leave none."""
    outcomes = rows.of_outcomes()
    masks = [
        outcomes.step_cut(cut) == part.number if cut == "exposure" else np.zeros(len(rows), dtype=bool)
        for cut, part in selection.parts
        if cut in STEP_CUTS
    ]
    return outcomes, (np.logical_and.reduce(masks) if masks else None)
