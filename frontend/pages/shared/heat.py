"""Heat maps of two labels of the same steps: as a picture, and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotation.core.vocabulary import SIGNS, VALUES
from frontend.rendering.charts import CELL, Cell, cell
from frontend.rendering.tables import Column, Table, cells
from frontend.templatetags.judging import count
from frontend.templatetags.tristep import mark


@dataclass(frozen=True)
class HeatCell:
    """A count of steps labelled `a` (in rows) and `b` (in columns; None: no label), linked to them."""

    a: int
    b: int | None
    count: int
    url: str = ""
    words: str = ""


@dataclass(frozen=True)
class Heat:
    """The cells of one map, for figures/heat.html.

    titles: of rows and columns in the table; one where it does not matter whose label is which.
    tints_equal: whether the diagonal is tinted too; else differences show among themselves.
    """

    cells: Sequence[HeatCell]
    titles: Sequence[str]
    tints_equal: bool = True

    @property
    def columns(self) -> list[int | None]:
        """The labels over the columns."""
        return [*VALUES, *([None] if any(each.b is None for each in self.cells) else [])]

    @property
    def width(self) -> int:
        """The width of the picture."""
        return (len(self.columns) + 1) * CELL + 8

    @property
    def heads(self) -> Iterator[tuple[str, int, int | None]]:
        """The sign of each label, its place along the top and down the side."""
        for place, value in enumerate(self.columns, 1):
            yield (
                "–" if value is None else SIGNS[value],
                CELL * place + CELL // 2,
                None if value is None else CELL * place,
            )

    @property
    def tiles(self) -> Iterator[tuple[HeatCell, Cell]]:
        """Each cell with its place and tint."""
        columns = self.columns
        tints = [each.count if self.tints_equal or each.a != each.b else 0 for each in self.cells]
        for each, tint in zip(self.cells, tints, strict=True):
            yield each, cell(VALUES.index(each.a), columns.index(each.b), tint, max(tints))

    @property
    def table(self) -> Table:
        """The same as a table."""

        def number(each: HeatCell) -> str:
            return cells.link(count(each.count), each.url) if each.url else count(each.count)

        if len(self.titles) == 1:
            labels = [
                Column("labels", self.titles[0], cell=lambda each: cells.beside(mark(each.a), mark(each.b)))
            ]
        else:
            labels = [
                Column("a", self.titles[0], cell=lambda each: mark(each.a)),
                Column(
                    "b", self.titles[1], cell=lambda each: _("no label") if each.b is None else mark(each.b)
                ),
            ]
        return Table([*labels, Column("n", "n", cell=number, look="number")], self.cells, look="table--dense")
