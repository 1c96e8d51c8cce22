"""Pages of a list that may be long: rows are counted up to a bound, which takes as long in any project."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from django.core.paginator import EmptyPage, Page, Paginator
from django.db.models import QuerySet

if TYPE_CHECKING:
    AnyPage: TypeAlias = Page[Any]
    AnyPaginator: TypeAlias = Paginator[Any]
else:
    AnyPage, AnyPaginator = Page, Paginator

COUNTED: Final = 10_000
"""So many rows are counted; of more a page says that there are more, and where it stands among them."""
FARTHEST: Final = 1_000_000
"""No page beyond this one is looked for."""
FAR: Final = 1_000
"""Behind so many rows a page is found by its keys: what is before it need not be fetched."""


class BoundedPage(AnyPage):
    """A page of rows that were not all counted; `more`: rows follow it."""

    def __init__(self, rows: Sequence[Any], number: int, paginator: BoundedPaginator, *, more: bool) -> None:
        super().__init__(rows, number, paginator)
        self.more = more

    def has_next(self) -> bool:
        """Whether rows follow."""
        return self.more

    def next_page_number(self) -> int:
        """The number of the next page."""
        return int(self.number) + 1

    def end_index(self) -> int:
        """The place of its last row, from 1 on."""
        return self.start_index() + len(self.object_list) - 1


class BoundedPaginator(AnyPaginator):
    """Django's, but that it counts at most `COUNTED` rows of the database. Beyond them a page is read with
    the row behind it, and any may be asked for by its number. `counted`: the number of rows, where it is
    known."""

    def __init__(
        self, rows: QuerySet[Any] | Sequence[Any], per_page: int, counted: int | None = None
    ) -> None:
        super().__init__(rows, per_page)
        self._known = counted

    @cached_property
    def _counted(self) -> int:
        if self._known is not None:
            return self._known
        rows = self.object_list
        if not isinstance(rows, QuerySet) or rows._result_cache is not None:
            return super().count
        return rows.order_by().values("pk")[: COUNTED + 1].count()

    @property
    def more(self) -> bool:
        """Whether there are more rows than were counted."""
        return isinstance(self.object_list, QuerySet) and self._known is None and self._counted > COUNTED

    @cached_property
    def count(self) -> int:
        """The number of rows, or, where there are more, the bound."""
        return COUNTED if self.more else self._counted

    def validate_number(self, number: float | str) -> int:
        """The number of a page that may be asked for. Raises EmptyPage and PageNotAnInteger as Django's."""
        try:
            return super().validate_number(number)
        except EmptyPage:
            wanted = int(number)
            if not self.more or not 1 <= wanted <= FARTHEST:
                raise
            return wanted

    def page(self, number: float | str) -> Page[Any]:
        """The page of that number. Raises EmptyPage and PageNotAnInteger as Django's."""
        if not self.more:
            return super().page(self.validate_number(number))
        wanted = self.validate_number(number)
        begins = (wanted - 1) * self.per_page
        ends = begins + self.per_page + 1
        objects: Any = self.object_list
        if begins >= FAR:
            keys = list(objects.values_list("pk", flat=True)[begins:ends])
            rows = list(objects.filter(pk__in=keys))
        else:
            rows = list(objects[begins:ends])
        if not rows:
            raise EmptyPage("no rows are there")
        return BoundedPage(rows[: self.per_page], wanted, self, more=len(rows) > self.per_page)

    def get_page(self, number: float | str | None) -> Page[Any]:
        """The page of that number; the first of what is no number, and the last that was counted of one
        behind all rows."""
        try:
            return super().get_page(number)
        except EmptyPage:
            return self.page(self.num_pages)
