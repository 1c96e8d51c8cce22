"""By what figures of agreement are cut, and the filters of the page, the API and the lists of steps.

A cut has parts, each with a key for URLs, a title, and a number. A filter takes one part of a cut; filters of
several cuts combine. Filters are parsed from text here and nowhere else: what does not exist is refused in a
sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

import numpy as np

from annotation.core.agreement import packed
from annotation.core.agreement.measure import IntArray
from annotation.core.agreement.paired_rows import PLACES, STEP_CUTS, PairedRows
from annotation.core.agreement.pairs import BoolArray
from annotation.core.errors import Invalid
from annotation.core.i18n import Translatable, translatable
from annotation.core.vocabulary import VALUES

ROW_CUTS: Final = ("subset", "model", "pair", "guideline", "week")
CUTS: Final = (*ROW_CUTS, *STEP_CUTS)
"""Every cut by name; the first ones are attributes of trajectories, the others of steps."""
FOR_ALL: Final = ("subset", *STEP_CUTS)
"""Cuts for those who may not know pairs of annotators: the others would leave single trajectories apart."""
ALONE: Final = frozenset({"pair", "source", "exposure"})
"""Cuts that take some pairs of annotators of a step and leave others."""
LISTED: Final = ("place", "labels", "differ", "annotator", "value", "first_error")
"""Filters of lists of steps, beside the cuts: what the cells and bars of the pictures are."""
FIRST_ERRORS: Final = ("exact", "one_step_off", "farther_off", "one_only", "neither")
"""Where two annotators' first errors lie, as `firsterror.Offsets` names it."""
PAIR: Final = 1 << 31
TWO_VERSIONS: Final = "two"
NO_MODEL: Final = "-"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a cut: `number` is its code in the arrays. `title` is empty where the key says it all."""

    key: str
    number: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """Paired labels as one person may see them, with the names of what is in them."""

    rows: PairedRows
    subsets: Mapping[int, str]
    people: Mapping[int, str]
    cuts: tuple[str, ...]
    with_people: bool

    def parts(self, cut: str) -> list[Part]:
        """The parts of a cut that occur, in their order."""
        if cut in STEP_CUTS:
            return [Part(key, number) for number, key in enumerate(STEP_CUTS[cut])]
        codes = np.unique(row_codes(self.rows, cut)).tolist()
        return sorted(
            (Part(key, code, title) for code in codes for key, title in [self._named(cut, code)]),
            key=lambda part: (part.number if cut in ("week", "guideline") else 0, part.title or part.key),
        )

    def _named(self, cut: str, code: int) -> tuple[str, str]:
        """The key and the title of a part of a cut of trajectories, by its code."""
        if cut == "subset":
            return self.subsets[code], ""
        if cut == "model":
            return self.rows.models[code] or NO_MODEL, ""
        if cut == "guideline":
            return (str(code) if code >= 0 else TWO_VERSIONS), ""
        if cut == "week":
            return date.fromordinal(code).isoformat(), ""
        first, second = divmod(code, PAIR)
        names = sorted(self.people.get(who, "?") for who in (first, second))
        return f"{first}-{second}", " · ".join(names)


def row_codes(rows: PairedRows, cut: str) -> IntArray:
    """The code of each row's part of a cut of trajectories."""
    if cut == "pair":
        return rows.first * PAIR + rows.second
    if cut == "guideline":
        return np.where(rows.first_guideline == rows.second_guideline, rows.first_guideline, -1)
    column: IntArray = getattr(rows, cut)
    return column


@dataclass(frozen=True, slots=True)
class Selection:
    """What is asked for: parts of cuts by cut, and for lists what else a step must be. Hashable."""

    parts: tuple[tuple[str, Part], ...] = ()
    listed: tuple[tuple[str, str], ...] = ()
    asked: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)

    def part(self, cut: str) -> Part | None:
        """The part of a cut that is asked for."""
        return dict(self.parts).get(cut)


def parse(view: View, asked: Mapping[str, str], *, lists: bool = False) -> Selection:
    """Filters from text: names of cuts with keys of their parts. Raises Invalid for a filter that there is
    not, and for a part that there is not."""
    parts, listed = [], []
    given = {name: value for name, value in asked.items() if value}
    for name, value in sorted(given.items()):
        if name in view.cuts:
            found = next((part for part in view.parts(name) if part.key == value), None)
            if found is None:
                raise _refused(translatable("No labels fit the filter {name} = “{value}”."), name, value)
            parts.append((name, found))
        elif lists and name in LISTED:
            if not _known(view, name, value):
                raise _refused(translatable("No labels fit the filter {name} = “{value}”."), name, value)
            listed.append((name, value))
        else:
            raise _refused(translatable("There is no filter “{name}”."), name, value)
    return Selection(tuple(parts), tuple(listed), given)


def _refused(sentence: Translatable, name: str, value: str) -> Invalid:
    return Invalid(
        translatable(sentence.pattern, name=name[:40], value=value[:80]),
        code="unknown_filter",
    )


def _known(view: View, name: str, value: str) -> bool:
    if name == "place":
        return value in {str(place) for place in range(1, PLACES + 1)}
    if name == "labels":
        return value in {f"{a},{b}" for a in VALUES for b in VALUES}
    if name == "value":
        return value in {str(one) for one in VALUES}
    if name == "annotator":
        return value.isdecimal() and int(value) in view.people
    return value in (FIRST_ERRORS if name == "first_error" else ("1",))


def select(view: View, selection: Selection) -> tuple[PairedRows, BoolArray | None]:
    """The rows that the selection leaves, and which of their steps, (steps,); None: all that are paired."""
    rows = view.rows
    keep = np.ones(len(rows), dtype=bool)
    for cut, part in selection.parts:
        if cut not in STEP_CUTS:
            keep &= row_codes(rows, cut) == part.number
    listed = dict(selection.listed)
    if "annotator" in listed:
        keep &= (rows.first == int(listed["annotator"])) | (rows.second == int(listed["annotator"]))
    rows = rows.where(keep)
    masks = [rows.step_cut(cut) == part.number for cut, part in selection.parts if cut in STEP_CUTS]
    masks += _listed_masks(rows, listed, ordered=selection.part("pair") is not None)
    return rows, (np.logical_and.reduce(masks) if masks else None)


def _listed_masks(rows: PairedRows, listed: Mapping[str, str], *, ordered: bool) -> list[BoolArray]:
    """What a list asks of steps. `ordered`: labels are those of the first and the second annotator."""
    masks: list[BoolArray] = []
    first, second = packed.values(rows.steps)
    if "place" in listed:
        masks.append(np.minimum(rows.ordinal + 1, PLACES) == int(listed["place"]))
    if "labels" in listed:
        a, b = (int(value) + 1 for value in listed["labels"].split(","))
        same = (first == a) & (second == b)
        masks.append(same if ordered else same | (first == b) & (second == a))
    if "differ" in listed:
        masks.append(first != second)
    if "value" in listed:
        code = int(listed["value"]) + 1
        here = np.repeat(rows.first == int(listed.get("annotator", -1)), rows.length)
        masks.append(np.where(here, first, second) == code)
    if "first_error" in listed:
        masks.append(rows.first_error_steps(listed["first_error"]))
    return masks
