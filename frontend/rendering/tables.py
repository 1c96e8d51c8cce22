"""Tables: their columns, each with what a file holds of a row and what a page shows of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

from django.urls import reverse
from django.utils.formats import date_format, number_format
from django.utils.timezone import localtime

from annotation.core.text import unescape

from .jinja import Macros

cells: Final = Macros("table")
"""The macros of `frontend/jinja2/frontend/macros/table.html`."""


def at(name: str, *args: Any) -> str:
    """The address of a page by its name."""
    return reverse(f"frontend:{name}", args=args)


def short_time(moment: datetime) -> str:
    """A moment in the reader's time zone and short form, to stand in a sentence."""
    return date_format(localtime(moment), "SHORT_DATETIME_FORMAT")


@dataclass(frozen=True)
class Column:
    """A column of a table.

    name: what it is called in files; without one it is on the page only.
    title: its heading; without one it is in files only.
    value: an attribute of the row (`"judge.name"`; by default the name), or a function of it.
    cell: what a page shows of a row; by default the value.
    look: classes of its cells, such as "number", "main" or "actions".
    sort: the order that a click on the heading asks for.
    """

    name: str
    title: str = ""
    value: str | Callable[[Any], Any] = ""
    cell: Callable[[Any], Any] | None = None
    look: str = ""
    sort: str = ""

    def value_of(self, row: Any) -> Any:
        """The value of a row; a stored text (core.text) as it came in."""
        source = self.value or self.name
        value = source(row) if callable(source) else attrgetter(source)(row)
        return unescape(value) if isinstance(value, str) else value

    def shown(self, row: Any) -> Any:
        """The cell of a row; a dash when it is empty."""
        value = self.value_of(row) if self.cell is None else self.cell(row)
        if value is None or value == "":
            return "" if self.look == "actions" else "–"
        if isinstance(value, datetime):
            return cells.when(value)
        if isinstance(value, int):
            return number_format(value, 0, force_grouping=True)
        return value


@dataclass(frozen=True)
class Table:
    """Rows under their columns, for the macro `table.table`.

    sort, address: the present order, and the address of the list in another one; without it the headings do
    not sort.
    form: the id of the form that the rows' checkboxes belong to; "" for none.
    labelledby: the id of its heading, which `table.card` writes with the `title`; `foot`: sentences below.
    """

    columns: Sequence[Column]
    rows: Iterable[Any]
    sort: str = ""
    address: Callable[[str], str] | None = None
    form: str = ""
    may_choose: Callable[[Any], bool] = bool
    look: str = "table--cards"
    look_of: Callable[[Any], str] = lambda row: ""
    caption: str = ""
    labelledby: str = ""
    title: str = ""
    foot: Sequence[str] = ()

    @property
    def shown_columns(self) -> list[Column]:
        """The columns that a page shows."""
        return [column for column in self.columns if column.title]

    def direction(self, column: Column) -> str:
        """The direction in which the rows are sorted by a column, as `aria-sort` says it."""
        if not column.sort or self.sort.removeprefix("-") != column.sort.removeprefix("-"):
            return ""
        return "descending" if self.sort.startswith("-") else "ascending"

    def sorted_by(self, column: Column) -> str:
        """The address of the list sorted by a column, the other way round when it is so already; or ""."""
        if not column.sort or self.address is None:
            return ""
        present = self.direction(column)
        name = column.sort.removeprefix("-")
        turned = name if present == "descending" else f"-{name}"
        return self.address(turned if present else column.sort)
