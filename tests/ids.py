"""Ids of rows in the world of the tests."""

from __future__ import annotations

from django.db.models import Model


class Id(int):
    """The id of a row, which knows its table: so many ids are the same number."""

    table: type[Model]

    @classmethod
    def of(cls, row: Model) -> Id:
        """This row's."""
        made = cls(row.pk)
        made.table = type(row)
        return made
