"""Columns that many lists of trajectories have."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.template.defaultfilters import truncatechars
from django.utils.translation import gettext as _

from annotation.core.text import unescape
from frontend.rendering.identity import short_identity
from frontend.rendering.tables import Column, cells

MAX_QUESTION = 120


def record_column(
    address: Callable[[Any], str],
    of: str = "trajectory",
    title: str = "",
    sort: str = "",
    note: str = "",
    look: str = "record",
) -> Column:
    """The record of a trajectory (the attribute `of` of a row), linked where there is an address; below it
    another attribute of the row."""
    record_id = attrgetter(f"{of}.record_id" if of else "record_id")

    def cell(row: Any) -> str:
        name, page = short_identity(record_id(row)), address(row)
        shown = cells.link(name, page, "break") if page else cells.broken(name)
        return cells.lines(shown, cells.soft(attrgetter(note)(row)) if note else "")

    return Column("record_id", title or _("Record"), record_id, cell, look, sort)


def question_column(look: str = "main") -> Column:
    """A column with the beginning of a trajectory's question."""
    question = attrgetter("trajectory.task.question")
    return Column(
        "question",
        _("Question"),
        question,
        lambda row: truncatechars(unescape(question(row)), MAX_QUESTION),
        look,
    )


def subset_column(of: str = "trajectory.subset.name") -> Column:
    """The name of a trajectory's subset."""
    return Column("subset", _("Subset"), of, look="slug")


def person_column(of: str, title: str) -> Column:
    """A person (the attribute `of` of a row): by user name in files."""
    return Column(of, title, f"{of}.username", attrgetter(of), sort=f"{of}__username")
