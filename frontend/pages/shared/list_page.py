"""Lists: their filters, orders, pages and files, declared once for each list."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

from django.contrib import messages
from django.core.paginator import Page
from django.db.models import F, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from annotation import policies
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.language import translated
from annotation.services.chosen import Outcome
from frontend.pages.shared.common import PER_PAGE, ProjectPage, paginate
from frontend.pages.shared.saved_views import SavedViews
from frontend.rendering import csv_lines
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, Table, cells

Words: TypeAlias = str | Promise
MAX_ASKED = 200
CSV_ROWS_AT_ONCE = 500
DIGITS = "[0-9]{1,18}"
MAX_NAMES = 10

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Field:
    """A field beside a list: a choice of (value, words), or without choices one to type into."""

    name: str
    title: Words
    choices: Iterable[tuple[str, Any]] | None = None
    type: str = "search"


@dataclass(frozen=True)
class Filter(Field):
    """A field above a list.

    default: the value that is asked for where none is; "" leaves nothing out.
    """

    default: str = ""


@dataclass(frozen=True)
class Tabs:
    """The lists of one page: (value, title, number of rows), told apart by `name` in the query string."""

    name: str
    title: str
    tabs: Sequence[tuple[str, Words, int]]
    present: str


@dataclass(frozen=True)
class BulkAct:
    """An act on chosen rows: the words on its button, and the fields beside it.

    address: where the keys of the rows go as `chosen`, with the query string of the list.
    may_choose: which rows have a box.
    more: other acts on the same rows, beside it.
    """

    title: str
    address: str
    fields: Sequence[Field] = ()
    may_choose: Callable[[Any], bool] = lambda row: True
    more: Sequence[BulkAct] = ()


@dataclass(frozen=True)
class Empty:
    """The text of a list without rows: a title, a sentence, and a next step."""

    title: Words
    text: Words = ""
    action: str = ""


@dataclass
class ListPage:
    """A list, shown as a page and written as a file. The query string is its state.

    rows: the rows, or a function of what is asked (filters by name, and "sort") that gives those that fit, in
    their order; it raises Invalid for what it does not know.
    items: what the columns are given of some rows, by default the rows; for a page, or a block of a file.
    order: the order of the rows when none is asked for; `orders` are (value, title) of those no column has.
    kept: names in the query string that mean something else, and outlive a change of the filter.
    bulk: what can be done with chosen rows, which have a `pk`.
    file: the name of the file, "" for none; it has the columns `in_file`, by default all that have a name.
    below: what stands below the table.
    asks: there are no rows before something is asked, so the form is there without any.
    views: its saved views; the page takes POST too, which `show` answers.
    counted: the number of rows while no filter leaves any out, where it is known already.
    """

    request: HttpRequest
    columns: Sequence[Column]
    rows: Any
    empty: Empty = Empty("")
    filters: Sequence[Filter] = ()
    items: Callable[[list[Any]], Iterable[Any]] = list
    order: str = ""
    orders: Sequence[tuple[str, Words]] = ()
    kept: Sequence[str] = ()
    file: str = ""
    in_file: Sequence[str] = ()
    below: str = ""
    asks: bool = False
    tabs: Tabs | None = None
    bulk: BulkAct | None = None
    views: SavedViews | None = None
    counted: int | None = None

    @cached_property
    def fields(self) -> list[Filter]:
        """The filters, and after them the order when there is a choice."""
        columns = [(column.sort, column.title) for column in self.columns if column.sort]
        offered = dict([*self.orders, *columns])
        if not offered:
            return list(self.filters)
        present = self.request.GET.get("sort", "")
        if present not in offered:
            titles = {value.removeprefix("-"): title for value, title in offered.items()}
            if title := titles.get(present.removeprefix("-")):
                offered[present] = title
        return [*self.filters, Filter("sort", _("Order"), tuple(offered.items()), default=self.order)]

    @cached_property
    def asked(self) -> dict[str, str]:
        """The value of each field."""
        read = {field.name: self.request.GET.get(field.name, "") for field in self.fields}
        clean = {name: value.strip()[:MAX_ASKED].replace("\x00", "") for name, value in read.items()}
        return {field.name: clean[field.name] or field.default for field in self.fields}

    @property
    def narrowed(self) -> bool:
        """Whether a filter leaves anything out."""
        return any(map(self._changed, self.filters))

    @property
    def query(self) -> str:
        """The query string of what is asked for, without what is asked for anyway."""
        return urlencode({one.name: self.asked[one.name] for one in self.fields if self._changed(one)})

    def _changed(self, field: Filter) -> bool:
        return self.asked[field.name] != field.default

    @property
    def has_form(self) -> bool:
        """Whether there is anything to be filtered or sorted."""
        return bool(self.fields) and bool(self.asks or self.page.object_list or self.narrowed or self.refusal)

    @property
    def controls(self) -> Iterator[dict[str, Any]]:
        """The fields with their choices and values, for the form above the list."""
        for field in self.fields:
            value = self.asked[field.name]
            choices = {} if field.default else {"": _("all")}
            choices |= dict(field.choices or ())
            choices.setdefault(value, value)
            yield {"field": field, "choices": choices.items(), "value": value, "filters": True}

    @property
    def bulk_acts(self) -> Iterator[dict[str, Any]]:
        """The acts on chosen rows: the words on the button, the address, and the fields beside it. The answer
        leads back to the same list."""
        back = self.address(page=self.request.GET.get("page"))
        for one in (self.bulk, *self.bulk.more) if self.bulk else ():
            controls = [{"field": field, "choices": field.choices, "value": ""} for field in one.fields]
            yield {"title": one.title, "address": f"{one.address}{back}", "controls": controls}

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """Hidden fields that the form carries along."""
        view = [("view", str(view.pk))] if self.views and (view := self.views.current) else []
        return [*self._kept, *view]

    @property
    def _kept(self) -> list[tuple[str, str]]:
        kept = [*([self.tabs.name] if self.tabs else []), *self.kept]
        return [(name, self.request.GET[name]) for name in kept if name in self.request.GET]

    @property
    def whole(self) -> str:
        """The address of the list without a filter."""
        return f"?{urlencode(self._kept)}"

    @property
    def view_links(self) -> Iterator[dict[str, Any]]:
        """The saved views with their addresses, and whether they are open, and asked for as they are kept."""
        for view in self.views.rows if self.views else ():
            address = f"{self.whole}&{view.query}&view={view.pk}".replace("?&", "?")
            present = self.views is not None and view == self.views.current
            yield {"view": view, "address": address, "open": present}

    @property
    def view_changed(self) -> bool:
        """Whether the open view is asked for otherwise than it is kept."""
        return bool(self.views and self.views.current and self.views.current.query != self.query)

    def address(self, **changes: str | None) -> str:
        """The address of the list's first page with changes in its query string; None takes out."""
        query = self.request.GET.copy()
        left_out = dict.fromkeys(self._left_out)
        for name, value in {"page": None, **left_out, **changes}.items():
            if value is None:
                query.pop(name, None)
            else:
                query[name] = value
        return f"?{query.urlencode()}"

    @property
    def file_address(self) -> str:
        """The address of the rows as a file, all pages of them."""
        return self.address(**{"as": "csv"})

    def _found(self) -> Any:
        if callable(self.rows):
            return self.rows(self.asked)
        sort = self.asked.get("sort", "")
        return self.rows if sort == self.order else ordered(self.rows, self.columns, sort)

    @cached_property
    def _shown(self) -> tuple[Page[Any], str]:
        counted = None if self.narrowed else self.counted
        try:
            return paginate(self.request, self._found(), PER_PAGE, counted), ""
        except Invalid as error:
            if self.views and self.views.current:
                self._leave_out()
                return paginate(self.request, self._found(), PER_PAGE), ""
            return paginate(self.request, []), translated(error.message)

    @cached_property
    def _left_out(self) -> dict[str, str]:
        """The parts of a saved view that the list refuses, with the reasons; `_leave_out` fills it."""
        return {}

    def _leave_out(self) -> None:
        """Take what the list refuses out of what is asked, one by one."""
        asked, self.asked = self.asked, {field.name: field.default for field in self.fields}
        for name, value in asked.items():
            accepted, self.asked = self.asked, {**self.asked, name: value}
            try:
                self._found()
            except Invalid as error:
                self.asked, self._left_out[name] = accepted, translated(error.message)

    @property
    def left_out(self) -> list[str]:
        """Sentences about what an open view asks for and the list does not know (any more)."""
        if self.views is None or self.refusal:
            return []
        gone = self.views.gone({field.name for field in self.fields})
        sentence = _("%(reason)s It is left out of the view.")
        return [*(sentence % {"reason": reason} for reason in self._left_out.values()), *gone]

    @property
    def page(self) -> Page[Any]:
        """The page that is asked for; without rows when what is asked is not known."""
        return self._shown[0]

    @property
    def refusal(self) -> str:
        """The reason for refusing the query, in words."""
        return self._shown[1]

    @cached_property
    def table(self) -> Table:
        """The table of the page."""
        items = list(self.items(list(self.page)))
        sort = self.asked.get("sort", "")
        table = Table(self.columns, items, sort=sort, address=lambda order: self.address(sort=order))
        if self.bulk and any(map(self.bulk.may_choose, items)):
            return replace(table, form="bulk", may_choose=self.bulk.may_choose)
        return table

    @property
    def wants_file(self) -> bool:
        """Whether the rows are asked for as a file."""
        return bool(self.file) and self.request.GET.get("as") == "csv"

    def csv(self, prefix: str = "") -> HttpResponseBase:
        """The rows as CSV, streamed. Raises Invalid for what is not known."""
        named = {column.name: column for column in self.columns if column.name}
        columns = [named[name] for name in self.in_file if name in named] or list(named.values())
        heading = [column.name for column in columns]
        return csv_lines.download(f"{prefix}{self.file}.csv", heading, self._lines(self._found(), columns))

    def _lines(self, rows: Any, columns: Sequence[Column]) -> Iterator[list[Any]]:
        left = rows.iterator(CSV_ROWS_AT_ONCE) if isinstance(rows, QuerySet) else iter(rows)
        while block := list(islice(left, CSV_ROWS_AT_ONCE)):
            for item in self.items(block):
                yield [_written(column.value_of(item)) for column in columns]


def _written(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def ordered(rows: Any, columns: Sequence[Column], sort: str) -> Any:
    """Rows sorted by a column, those without a value last. Raises Invalid for an unknown order."""
    name, backwards = sort.removeprefix("-"), sort.startswith("-")
    column = next(
        (column for column in columns if column.sort and column.sort.removeprefix("-") == name), None
    )
    if column is None:
        raise Invalid(translatable("There is no order “{name}”.", name=sort))
    if isinstance(rows, QuerySet):
        by = F(name)
        return rows.order_by(by.desc(nulls_last=True) if backwards else by.asc(nulls_last=True), "pk")
    with_values = [row for row in rows if column.value_of(row) is not None]
    last = [row for row in rows if column.value_of(row) is None]
    return sorted(with_values, key=column.value_of, reverse=backwards) + last


def show(
    opened: ProjectPage,
    section: str,
    listed: ListPage,
    template: str = "list.html",
    *,
    status: int = 200,
    **context: Any,
) -> HttpResponseBase:
    """A list of a project: its page, or the file when the query string says `as=csv`."""
    if listed.wants_file:
        return listed.csv(f"{opened.project.slug}-")
    status = 400 if listed.refusal else status
    if opened.request.method == "POST" and listed.views and not listed.refusal:
        query = listed.views.act(listed.query)
        if query is not None:
            return redirect(f"{opened.request.path}{listed.whole}&{query}".replace("?&", "?"))
        status = 400
    return opened.render(template, section, status=status, list=listed, page=listed.page, **context)


def show_site(
    request: HttpRequest,
    title: str,
    listed: ListPage,
    template: str = "list.html",
    *,
    status: int = 200,
    **context: Any,
) -> HttpResponseBase:
    """The same for a list that is of no one project."""
    if listed.wants_file:
        return listed.csv()
    status = 400 if listed.refusal else status
    shown = {"list": listed, "page": listed.page, "title": title, **context}
    return render(request, f"frontend/{template}", shown, status=status)


def act(request: HttpRequest, text: Any, address: str, **parameters: Any) -> str:
    """A small button that posts; `of` tells screen readers of what, `name` and `value` go with it."""
    return cells.act(get_token(request), text, address, **parameters)


def act_on_chosen(
    request: HttpRequest,
    rows: QuerySet[M],
    address: str,
    act: Callable[[list[M]], Outcome[Any, M]],
    sentence: Callable[[list[Any]], str],
    record: str = "trajectory.record_id",
) -> HttpResponse:
    """Do something with the chosen ones of these rows, and go back to the list as it was.

    The page says what was done (`sentence`), and by name what was refused, those with the same reason
    together. Raises Http404 when the person may not see one of them; nothing is done then.
    """
    keys = set(request.POST.getlist("chosen"))
    numbers = {int(key) for key in keys if re.fullmatch(DIGITS, key)}
    chosen_rows = list(policies.visible(request.user, rows.filter(pk__in=numbers)))
    if len(chosen_rows) < len(keys):
        raise Http404
    outcome: Outcome[Any, M] = Outcome([], [])
    try:
        if not chosen_rows:
            raise Invalid(_("Choose at least one."))
        outcome = act(chosen_rows)
    except (Conflict, Invalid) as error:
        messages.error(request, translated(error.message))
    if outcome.done:
        messages.success(request, sentence(outcome.done))
    by_reason: dict[str, list[str]] = {}
    for row, refused in outcome.refused:
        by_reason.setdefault(translated(refused.message), []).append(short_identity(attrgetter(record)(row)))
    for reason, names in by_reason.items():
        listed_names, more = ", ".join(names[:MAX_NAMES]), len(names) - MAX_NAMES
        if more > 0:
            listed_names = _("%(names)s and %(n)d more") % {"names": listed_names, "n": more}
        messages.warning(request, f"{listed_names}: {reason}")
    return redirect(f"{address}?{request.GET.urlencode()}")
