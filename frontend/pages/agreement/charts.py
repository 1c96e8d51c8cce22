"""Data of the charts on the agreement page, with links to the steps behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.agreement.figures import FIGURES
from annotation.core.agreement.pair_table import PLACES
from annotation.core.vocabulary import SIGNS, VALUE_NAMES, VALUES
from annotation.reports.agreement.cuts import NO_MODEL, TWO_VERSIONS, CutPart
from annotation.reports.agreement.pictures import CutFigure
from annotation.reports.agreement.report import Agreement
from frontend.pages.shared.figure_cells import ARM_NAMES
from frontend.pages.shared.heat import Heat, HeatCell
from frontend.rendering import charts
from frontend.templatetags.tristep import percent

CUT_TITLES = {
    "subset": gettext_lazy("Subset"),
    "model": gettext_lazy("Policy model"),
    "pair": gettext_lazy("Pair of annotators"),
    "guideline": gettext_lazy("Guidelines"),
    "week": gettext_lazy("Week"),
    "position": gettext_lazy("Part of the trajectory"),
    "kind": gettext_lazy("Call or reply"),
    "source": gettext_lazy("Source"),
    "exposure": gettext_lazy("Exposure"),
    "arm": gettext_lazy("Arm"),
}
PART_TITLES = {
    ("position", "early"): gettext_lazy("first third"),
    ("position", "middle"): gettext_lazy("middle third"),
    ("position", "late"): gettext_lazy("last third"),
    ("kind", "reply"): gettext_lazy("replies"),
    ("kind", "call"): gettext_lazy("tool calls"),
    ("source", "explicit"): gettext_lazy("both pressed"),
    ("source", "confirmed"): gettext_lazy("a confirmed proposal"),
    ("exposure", "untouched"): gettext_lazy("both untouched"),
    ("exposure", "touched"): gettext_lazy("one had seen something of the task"),
    **{("arm", name): title for name, title in ARM_NAMES.items()},
    ("guideline", TWO_VERSIONS): gettext_lazy("two versions"),
    ("model", NO_MODEL): gettext_lazy("not named"),
}
FIRST_ERROR_TITLES = {
    "exact": gettext_lazy("the same step"),
    "one_step_off": gettext_lazy("one step apart"),
    "farther_off": gettext_lazy("farther apart"),
    "one_only": gettext_lazy("found by one only"),
    "neither": gettext_lazy("found by neither"),
}


def part_title(cut: str, part: CutPart) -> str:
    """The title of a cut's part on the page."""
    if (cut, part.key) in PART_TITLES:
        return str(PART_TITLES[cut, part.key])
    if cut == "guideline":
        return _("version {number}").format(number=part.key)
    return part.title or part.key


class Charts:
    """The charts of one page, each made when a template asks for it."""

    def __init__(self, slug: str, figures: Agreement, asked: Mapping[str, str]) -> None:
        self.slug = slug
        self.found = figures
        self.shown = figures.pictures
        self.asked = dict(asked)
        self.figure = FIGURES[figures.pictures.figure]

    def steps_url(self, **more: str) -> str:
        """The list of the steps that are asked for, and are `more`; none for those who may not open it."""
        if not self.found.with_people:
            return ""
        url = reverse("frontend:agreement-steps", args=[self.slug])
        return f"{url}?{urlencode({**self.asked, **more})}"

    def _csv(self, chart: str) -> str:
        url = reverse("frontend:agreement-csv", args=[self.slug, chart])
        return f"{url}?{urlencode({**self.asked, 'by': self.shown.cut})}"

    @property
    def json(self) -> str:
        """The same numbers as JSON."""
        return (
            f"{reverse('api:agreement', args=[self.slug])}?{urlencode({**self.asked, 'by': self.shown.cut})}"
        )

    @property
    def all_steps(self) -> str:
        """All steps that are asked for."""
        return self.steps_url()

    @property
    def differing_steps(self) -> str:
        """The address of the steps on which annotators differ."""
        return self.steps_url(differ="1")

    @property
    def differing(self) -> int:
        """The number of differing steps."""
        return sum(cell.count for cell in self.confusion["heat"].cells if cell.a != cell.b)

    @cached_property
    def after_discussion(self) -> dict[str, Any] | None:
        """The figure after discussion, how many pairs of labels were changed, and how many differ still; None
        where nobody changed a label of a step."""
        after = self.found.overall.after_discussion
        if after is None or not after.changed:
            return None
        table = after.steps.confusion
        return {
            "measure": after.steps.figures[self.figure.name],
            "changed": after.changed,
            "changed_url": self.steps_url(changed="1"),
            "differ": int(table.sum() - table.trace()) // 2,
            "differ_url": self.steps_url(differ="1", when="after"),
        }

    @cached_property
    def tabs(self) -> list[dict[str, Any]]:
        """The cuts of the figure."""
        return [
            {"key": cut, "title": CUT_TITLES[cut], "current": cut == self.shown.cut}
            for cut in self.found.view.cuts
        ]

    @cached_property
    def groups(self) -> dict[str, Any]:
        """The figure by the parts of the cut, as dots with intervals."""
        on = charts.scale(_ends(self.shown.groups))
        return {
            "title": CUT_TITLES[self.shown.cut],
            "ticks": [{"value": tick, "x": on.at(tick)} for tick in on.ticks],
            "csv": self._csv("cut"),
            "rows": [
                {
                    "title": part_title(self.shown.cut, group.part),
                    "n": group.n,
                    "measure": group.measure,
                    "dot": charts.dot(on, *_bounds(group)),
                    "url": self.steps_url(**{self.shown.cut: group.part.key}),
                }
                for group in self.shown.groups
            ],
        }

    @cached_property
    def trend(self) -> dict[str, Any] | None:
        """The figure by week; none below two weeks."""
        weeks = [week for week in self.shown.weeks if week.measure.value is not None]
        if len(weeks) < 2:
            return None
        curve = charts.trend(charts.scale(_ends(weeks)), [_bounds(week) for week in weeks])  # type: ignore[misc]
        points = [
            {
                "point": point,
                "title": week.part.key,
                "n": week.n,
                "measure": week.measure,
                "url": self.steps_url(week=week.part.key),
            }
            for point, week in zip(curve.points, weeks, strict=True)
        ]
        return {"curve": curve, "points": points, "csv": self._csv("weeks"), "height": charts.TREND_HEIGHT}

    @cached_property
    def places(self) -> dict[str, Any]:
        """The share of differing labels by place in the trajectory and subset, as a map."""
        largest = max((p.differ / p.n for _n, row in self.shown.places for p in row if p.n), default=0.0)
        rows = []
        for name, places in self.shown.places:
            shares = [place.differ / place.n if place.n else None for place in places]
            tiles = charts.tiles([None if share is None else share / (largest or 1.0) for share in shares])
            cells = [
                {
                    "place": place,
                    "share": share,
                    "hundredths": round(100 * (share or 0.0)),
                    "words": f"{name}, {place.place}: {percent(share)} (n = {place.n})",
                    "tile": tile,
                    "url": self.steps_url(subset=name, place=str(place.place)) if place.n else "",
                }
                for place, share, tile in zip(places, shares, tiles, strict=True)
            ]
            rows.append({"subset": name, "cells": cells})
        heads = [
            {"title": f"{place}+" if place == PLACES else str(place), "tile": tile}
            for place, tile in enumerate(charts.tiles([None] * PLACES), 1)
        ]
        return {"rows": rows, "heads": heads, "csv": self._csv("places")}

    @cached_property
    def annotators(self) -> dict[str, Any]:
        """The distribution of each annotator's labels, as stacked bars."""
        rows = []
        for pk, counts in self.shown.annotators:
            bars = charts.stacked(
                (VALUE_NAMES[value], count) for value, count in zip(VALUES, counts, strict=True)
            )
            values = [
                {
                    "value": value,
                    "count": count,
                    "share": count / sum(counts),
                    "url": self.steps_url(annotator=str(pk), value=str(value)),
                }
                for value, count in zip(VALUES, counts, strict=True)
            ]
            name = self.found.people.get(pk, "?")
            page = reverse("frontend:annotator-figures", args=[self.slug, pk])
            rows.append({"name": name, "bars": bars, "values": values, "n": sum(counts), "url": page})
        return {"rows": sorted(rows, key=lambda row: row["name"]), "csv": self._csv("annotators")}

    @cached_property
    def first_errors(self) -> dict[str, Any] | None:
        """The distances between first errors, as bars; None where steps follow no sequence."""
        offsets = self.found.overall.steps.offsets
        if offsets is None:
            return None
        counts = asdict(offsets)
        largest = max(counts.values())
        return {
            "n": sum(counts.values()),
            "csv": self._csv("first_errors"),
            "rows": [
                {
                    "title": FIRST_ERROR_TITLES[name],
                    "count": count,
                    "width": charts.bar(count, largest),
                    "url": self.steps_url(first_error=name) if count else "",
                }
                for name, count in counts.items()
            ],
        }

    @cached_property
    def confusion(self) -> dict[str, Any]:
        """The confusion matrix, each pair of labels in one cell. Of a named pair the first annotator's are in
        rows; of several it does not matter whose is which, and half of the cells go."""
        summary = self.found.overall.steps
        named = len(summary.pairs) == 1
        table = summary.table.tolist()
        cells = []
        for i, a in enumerate(VALUES):
            for j, b in enumerate(VALUES):
                count = table[i][j] // 2 if i == j and not named else table[i][j]
                if named or i <= j:
                    url = self.steps_url(labels=f"{a},{b}", **self._pair()) if count else ""
                    cells.append(HeatCell(a, b, count, url, f"{SIGNS[a]}, {SIGNS[b]}: {count}"))
        people = [self.found.people.get(who, "?") for who in self._people()] if named else []
        return {
            "heat": Heat(cells, people or [_("Labels")]),
            "named": named,
            "people": people,
            "csv": self._csv("confusion"),
        }

    def _people(self) -> tuple[int, int]:
        pair = self.found.overall.steps.pairs[0]
        return pair.first, pair.second

    def _pair(self) -> dict[str, str]:
        if len(self.found.overall.steps.pairs) != 1:
            return {}
        first, second = self._people()
        return {"pair": f"{first}-{second}"}

    @property
    def _first_errors(self) -> dict[str, Callable[[], Iterable[list[Any]]]]:
        offsets = self.found.overall.steps.offsets
        if offsets is None:
            return {}
        return {"first_errors": lambda: [["first_errors", "n"], *map(list, asdict(offsets).items())]}

    @property
    def tables(self) -> dict[str, Callable[[], Iterable[list[Any]]]]:
        """The numbers of each chart as rows, the first with the names of the columns."""
        return {
            "cut": lambda: _figure_rows(self.shown.cut, self.figure.name, self.shown.groups),
            "weeks": lambda: _figure_rows("week", self.figure.name, self.shown.weeks),
            "places": lambda: [
                ["subset", "place", "n", "differ"],
                *([name, p.place, p.n, p.differ] for name, row in self.shown.places for p in row),
            ],
            "annotators": lambda: [
                ["annotator", *VALUES],
                *([self.found.people.get(pk, "?"), *counts] for pk, counts in self.shown.annotators),
            ],
            **self._first_errors,
            "confusion": lambda: [
                ["first", "second", "n"],
                *([cell.a, cell.b, cell.count] for cell in self.confusion["heat"].cells),
            ],
        }


def _figure_rows(cut: str, figure: str, groups: Iterable[CutFigure]) -> list[list[Any]]:
    return [
        [cut, "n", figure, "low", "high"],
        *([group.part.title or group.part.key, group.n, *_bounds(group)] for group in groups),
    ]


def _bounds(group: CutFigure) -> tuple[float | None, float | None, float | None]:
    interval = group.measure.interval
    return group.measure.value, interval.low if interval else None, interval.high if interval else None


def _ends(groups: Iterable[CutFigure]) -> list[float]:
    return [bound for group in groups for bound in _bounds(group)[:2] if bound is not None]
