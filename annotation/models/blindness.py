"""Conditions on labels by what their authors had seen: blind, and untouched (docs/design.md, "Who may see
what").

Both are conditions on querysets of labels or outcomes, to be used by whatever report counts them apart. They
read what services/exposures.py (labels that are there at an exposure) and services/label/rows.py (labels made
after one) have written; which exposures tell of a step is said there, twice.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db.models import (
    BooleanField,
    Case,
    DateTimeField,
    Exists,
    F,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotation.models import Exposure, Label, LabelEvent, OutcomeLabel

L = TypeVar("L", Label, OutcomeLabel)


def blind_value(path: str = "") -> Case:
    """The value that counts for a label: the one at its first exposure where there was one (docs/design.md,
    "Who may see what").

    `path`: how the rows asked for reach the label, such as "step__labels__".
    """
    exposed = When(**{f"{path}exposed_at__isnull": False}, then=F(f"{path}blind_value"))
    return Case(exposed, default=F(f"{path}value"))


BLIND_VALUE = blind_value()
"""The value that its author gave before seeing anything that tells of it; null without one."""

CHANGES = ("save", "root", "orphan")
"""The kinds of events that say which value a label has from then on."""

NEVER = datetime(9999, 12, 31, tzinfo=UTC)


def with_blind_values(labels: QuerySet[L]) -> QuerySet[L]:
    """Labels (or outcomes) that have a blind value, with it as `blind`. No query by itself."""
    return labels.annotate(blind=BLIND_VALUE).filter(blind__isnull=False)


def with_untouched(labels: QuerySet[L]) -> QuerySet[L]:
    """Labels (or outcomes) that have a blind value, with `blind` and with `untouched`. No query by itself.

    A label is untouched if its author had seen neither suggestions, nor a consensus, nor anybody else's label
    of anything on the whole task when they gave its blind value: not of another step, not of a sibling
    trajectory. `touched_at` is when they first saw any of it; null: never so far. A label that was given
    before that moment and is given anew after it is untouched if its value never changed.
    """
    seen = Exposure.objects.filter(
        user=OuterRef("assignment__annotator"), trajectory__task=OuterRef("assignment__trajectory__task")
    ).order_by("created_at")
    of_step: dict[str, Any] = {"step": OuterRef("step")} if labels.model is Label else {"step__isnull": True}
    events = LabelEvent.objects.filter(assignment=OuterRef("assignment"))
    changes = events.filter(kind__in=CHANGES, **of_step)
    before = changes.filter(created_at__lte=OuterRef("touched_at")).order_by("-pk")
    # what follows the label's own first exposure stands beside the blind value, and does not count
    since = changes.filter(created_at__gt=OuterRef("touched_at"), created_at__lt=OuterRef("until"))
    imported = events.filter(kind="import", created_at__lte=OuterRef("touched_at"))
    return with_blind_values(labels).annotate(
        touched_at=Subquery(seen.values("created_at")[:1]),
        until=Coalesce("exposed_at", Value(NEVER), output_field=DateTimeField()),
        untouched=Case(
            When(touched_at__isnull=True, then=Value(True)),
            When(Exists(since.exclude(value=OuterRef("blind"))), then=Value(False)),
            When(blind=Subquery(before.values("value")[:1]), then=Value(True)),
            # a label from a file has no history of its own, unless it was changed since
            When(~Exists(changes) & Exists(imported), then=Value(True)),
            default=Value(False),
            output_field=BooleanField(),
        ),
    )
