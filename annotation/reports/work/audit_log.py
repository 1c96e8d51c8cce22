"""The audit log of a project: filters, and which of its objects are still there to be looked at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Exists, Model, OuterRef, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.models import (
    Adjudication,
    Assignment,
    AuditEvent,
    CrowdLink,
    Freeze,
    Guideline,
    ImportFile,
    Invitation,
    Judge,
    Membership,
    Project,
    Release,
    Subset,
    SuggestionRun,
    User,
)
from annotation.policies import require, visible

OPERATOR: Final = ":operator"
"""Stands for the operator in the filter by person; no user name has a colon."""

Key = tuple[str, str]


def events(
    *, actor: User, project: Project, filters: Mapping[str, str], verbs: Iterable[str]
) -> QuerySet[AuditEvent]:
    """The events that fit all `filters`, newest first, with their actors. For admins.

    The filters are `who` (a user name, or ":operator"), `verb` (one of `verbs`), `from` and `to` (days in the
    reader's time zone, both included) and `object` ("release:5", or "release" for all of them).

    Raises Invalid for a value that no filter offers. One query, and one to check `who`.
    """
    require(actor, "audit.view", project)
    rows = visible(actor, AuditEvent.objects.filter(project=project)).select_related("actor")
    if who := filters.get("who", ""):
        if who == OPERATOR:
            rows = rows.filter(actor=None)
        elif (person := User.objects.filter(username=who).first()) is not None and person in people(project):
            rows = rows.filter(actor=person)
        else:
            raise Invalid(translatable("This log has no person “{name}”.", name=who))
    if verb := filters.get("verb", ""):
        if verb not in set(verbs):
            raise Invalid(translatable("There is no action “{name}”.", name=verb))
        rows = rows.filter(verb=verb)
    if filters.get("from"):
        rows = rows.filter(created_at__gte=_day(filters["from"]))
    if filters.get("to"):
        rows = rows.filter(created_at__lt=_day(filters["to"]) + timedelta(days=1))
    if wanted := filters.get("object", ""):
        kind, _, pk = wanted.partition(":")
        if kind not in AUDITED_TYPES:
            raise Invalid(translatable("This log has no object “{name}”.", name=wanted))
        rows = rows.filter(object_type=kind, **({"object_id": pk} if pk else {}))
    return rows


def _day(text: str) -> datetime:
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None or not 1900 <= day.year <= 9000:
        raise Invalid(translatable("“{text}” is not a date; write it as 2026-01-31.", text=text))
    return timezone.make_aware(datetime(day.year, day.month, day.day))


def people(project: Project) -> QuerySet[User]:
    """The people who have done something in a project, by name."""
    done = AuditEvent.objects.filter(project=project, actor=OuterRef("pk"))
    return User.objects.filter(Exists(done)).order_by("username")


@dataclass(frozen=True, slots=True)
class AuditedType:
    """A type of object with a page: its model, what names it in the address, and what people call it."""

    model: type[Model]
    address: str
    title: str
    condition: Mapping[str, Any] = field(default_factory=dict)


_TRAJECTORY: Final = ("trajectory", "trajectory__record_id", {"trajectory__live": True})

# by what `services.audit.record` writes as `object_type`
AUDITED_TYPES: Final[dict[str, AuditedType]] = {
    "adjudication": AuditedType(Adjudication, *_TRAJECTORY),
    "assignment": AuditedType(Assignment, *_TRAJECTORY),
    "crowdlink": AuditedType(CrowdLink, "pk", "name"),
    "freeze": AuditedType(Freeze, "pk", "version"),
    "guideline": AuditedType(Guideline, "version", "version"),
    "importfile": AuditedType(ImportFile, "pk", "filename"),
    "invitation": AuditedType(Invitation, "pk", "name"),
    "judge": AuditedType(Judge, "pk", "name"),
    "membership": AuditedType(Membership, "pk", "user__username"),
    "release": AuditedType(Release, "version", "version"),
    "subset": AuditedType(Subset, "pk", "name"),
    "suggestionrun": AuditedType(SuggestionRun, "pk", "judge__name"),
}


def objects(*, actor: User, rows: Iterable[AuditEvent]) -> dict[Key, tuple[Any, str]]:
    """The objects of these events that are still there and that the actor may see: by (type, id), what names
    each in its address, and its title. One query for each type that occurs."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.object_type in AUDITED_TYPES:
            wanted[row.object_type].add(row.object_id)
    by_key: dict[Key, tuple[Any, str]] = {}
    for name, ids in wanted.items():
        kind = AUDITED_TYPES[name]
        some = visible(actor, kind.model._default_manager.filter(pk__in=ids, **kind.condition)).order_by()
        for pk, address, title in some.values_list("pk", kind.address, kind.title):
            by_key[(name, str(pk))] = (address, str(title))
    return by_key
