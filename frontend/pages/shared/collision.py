"""Collisions: what somebody typed, beside what was saved after they had begun.

A form carries what its reader saw (rendering/began.py). When that is no longer what is there, nothing is
saved: the page comes back with 409, with what both have changed, and with what was typed. The next answer of
the same form begins from what is there now, and so is saved over it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django import forms
from django.db.models import Model
from django.utils.translation import gettext as _

from annotation import policies
from annotation.core.versions import plain
from annotation.models import AuditEvent
from frontend.pages.shared.common import ProjectPage
from frontend.rendering.began import BEGAN, read
from frontend.rendering.tables import Column, Table, cells
from frontend.rendering.text_diff import DiffLine
from frontend.templatetags.tristep import readable


@dataclass(frozen=True)
class Difference:
    """One field: what is there now, and what was typed (None where nothing was)."""

    label: str
    theirs: str
    mine: str | None
    both: bool


@dataclass(frozen=True)
class Collision:
    """A collision, as a page shows it. `event` tells who saved when, `take` is where one finds theirs.

    `values` are theirs with what was typed over it; on a page of many small forms `kept` goes to `action` in
    hidden fields, and `subject` says which of them it is. `changes` is the difference of a long text.
    """

    event: AuditEvent | None
    take: str
    values: dict[str, Any] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    changes: list[DiffLine] | None = None
    action: str = ""
    kept: Mapping[str, str] = field(default_factory=dict)
    subject: str = ""

    @property
    def table(self) -> Table:
        """The fields that either has changed."""

        def name(one: Difference) -> str:
            return cells.beside(one.label, cells.badge(_("both changed"), "badge--warn") if one.both else "")

        def mine(one: Difference) -> str:
            return cells.soft(_("not changed")) if one.mine is None else cells.strong(readable(one.mine))

        columns = [
            Column("field", _("Field"), cell=name),
            Column("theirs", _("Saved now"), cell=lambda one: readable(one.theirs), look="break"),
            Column("mine", _("Yours"), cell=mine, look="break"),
        ]
        return Table(columns, self.differences)


def last_change(opened: ProjectPage, row: Model) -> AuditEvent | None:
    """The author of a row's last change, as the audit log has it."""
    rows = AuditEvent.objects.filter(
        project=opened.project, object_type=row._meta.model_name, object_id=str(row.pk)
    )
    return policies.visible(opened.user, rows).select_related("actor").order_by("-pk").first()


def collide(
    opened: ProjectPage,
    row: Model,
    form: forms.Form,
    theirs: Mapping[str, Any],
    *,
    take: str,
    subject: str = "",
    began: str = "",
) -> Collision:
    """Hold what a valid form says against what is there now, from what its reader began from.

    With a `subject` (one of many small forms on a page) what was typed is kept in hidden fields.
    """
    before = read(opened.request.POST).values
    values = dict(theirs)
    differences = []
    for name, given in form.fields.items():
        now, mine = theirs.get(name, given.initial), form.cleaned_data.get(name)
        base = before.get(name, now)
        typed, changed = not _same(mine, base), not _same(now, base)
        if typed:
            values[name] = mine
        if (typed or changed) and not (typed and _same(mine, now)):
            shown = _text(given, mine) if typed else None
            differences.append(
                Difference(str(given.label or name), _text(given, now), shown, typed and changed)
            )
    collision = Collision(last_change(opened, row), take, values, differences)
    if not subject:
        return collision
    kept = {BEGAN: began, **{name: "on" for name, value in values.items() if value}}
    return replace(collision, action=opened.request.path, kept=kept, subject=subject)


def _settled(value: Any) -> Any:
    value = plain(value)
    if isinstance(value, str):
        value = value.replace("\r\n", "\n")
    return None if value in ("", {}) else value


def _same(one: Any, other: Any) -> bool:
    return bool(_settled(one) == _settled(other))


def _text(given: forms.Field, value: Any) -> str:
    value = _settled(value)
    if value is None:
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(given, forms.ChoiceField):
        return str(dict(cast(Iterable[tuple[Any, Any]], given.choices)).get(value, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
