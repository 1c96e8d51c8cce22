"""The audit log: one row an action, in the action's own transaction, and the chain that holds them together.

A row joins the chain after its transaction, from a worker: links need an order, and to settle it at the
commit would make everybody wait for everybody (docs/decisions/0049-the-audit-log-is-chained-afterwards.md).
"""

import logging
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Min, Model
from django.utils import timezone

from annotation.core import audit_chain
from annotation.models import AuditEvent, AuditLink, Project
from annotation.policies import Actor, recorded

log = logging.getLogger(__name__)

BATCH = 200


def record(
    *, actor: Actor, verb: str, project: Project | None = None, obj: Model | None = None, **detail: Any
) -> AuditEvent:
    """Write who did what. `detail` is JSON-ready and holds neither trajectory text nor label values."""
    return AuditEvent.objects.create(
        actor=recorded(actor),
        project=project,
        verb=verb,
        object_type=obj._meta.model_name or "" if obj is not None else "",
        object_id=str(obj.pk) if obj is not None else "",
        detail=detail,
        created_at=timezone.now(),
    )


# ── The chain ─────────────────────────────
@dataclass(frozen=True)
class Chain:
    """The result of `verify`: the last link that fits (position 0 in an empty chain), and the place after it
    if there is one that does not, with its row where that is still there.

    `waiting` rows have no link yet, the oldest of them since `waiting_since`. `kept`: is the link that was
    noted elsewhere still there?
    """

    position: int
    sha256: str
    misfit: int | None
    event: AuditEvent | None
    waiting: int
    waiting_since: datetime | None
    kept: bool

    @property
    def head(self) -> str:
        """The last link as it is noted elsewhere, "17:" and its SHA-256."""
        return f"{self.position}:{self.sha256}"

    @property
    def misfit_text(self) -> str:
        """The first place that does not fit, for the operator's terminal."""
        if self.event is None:
            return f"place {self.misfit} (row missing)"
        when = f"{self.event.created_at:%F %T}"
        return f"place {self.misfit} (row {self.event.pk}, {self.event.verb}, {when} UTC)"


def chain() -> int:
    """Append the rows that have no link yet, and return how many those were.

    Two workers at once do each other no harm: a place is one row's, and who comes second stops.
    """
    done = 0
    unchained = AuditEvent.objects.filter(link=None).order_by("pk").values_list(*audit_chain.FIELDS)
    while rows := list(unchained[:BATCH]):
        try:
            done += _append(rows)
        except IntegrityError:
            break
    if done:
        # the log of the server goes elsewhere: it is where the head of the chain is noted
        position, sha256 = _last()
        log.info("audit log chained", extra={"rows": done, "head": f"{position}:{sha256}"})
    return done


def _last() -> tuple[int, str]:
    links = AuditLink.objects.order_by("-position").values_list("position", "sha256")
    return links.first() or (0, audit_chain.FIRST)


@transaction.atomic
def _append(rows: list[tuple[Any, ...]]) -> int:
    last, sha256 = _last()
    links = []
    for position, row in enumerate(rows, last + 1):
        sha256 = audit_chain.linked(sha256, row)
        links.append(AuditLink(event_id=row[0], position=position, sha256=sha256))
    return len(AuditLink.objects.bulk_create(links))


def verify(*, noted: tuple[int, str] | None = None) -> Chain:
    """Compute the chain anew, up to the first place that does not fit. `noted` is a link (position, SHA-256)
    that was noted elsewhere. Reads the whole log, in a fixed number of queries."""
    links = AuditLink.objects.order_by("position").values_list(
        "position", "sha256", *(f"event__{name}" for name in audit_chain.FIELDS)
    )
    last = _last()[0]
    position, sha256 = 0, audit_chain.FIRST
    misfit: int | None = None
    event = None
    for stored_position, stored, *row in links.iterator(chunk_size=BATCH):
        expected = audit_chain.linked(sha256, tuple(row))
        if (stored_position, stored) != (position + 1, expected):
            misfit = position + 1
            if stored_position == misfit:
                event = AuditEvent.objects.get(pk=row[0])
            break
        position, sha256 = stored_position, stored
    if misfit is None and position < last:
        misfit = position + 1
    waiting, oldest = (
        AuditEvent.objects.filter(link=None).aggregate(n=Count("pk"), at=Min("created_at")).values()
    )
    return Chain(
        position=position,
        sha256=sha256,
        misfit=misfit,
        event=event,
        waiting=waiting,
        waiting_since=oldest,
        kept=noted is None or AuditLink.objects.filter(position=noted[0], sha256=noted[1]).exists(),
    )
