"""Keep the figures of a page, and renew them in the background once they are no longer fresh."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar, cast

from django.utils import timezone

from annotation import dispatch
from annotation.core.errors import NotFound, TristepError
from annotation.core.i18n import translatable
from annotation.core.vocabulary import AssignmentState
from annotation.models import Assignment, KeptFigures, Project, User
from annotation.policies import OPERATOR, Actor
from annotation.services.job_lease import passed

from . import stored_form

log = logging.getLogger(__name__)

R = TypeVar("R")

LARGE: Final = 10_000
"""Of at most so many submissions figures are worked out anew each time."""
FRESH: Final = timedelta(minutes=5)
"""Figures that are no older are not renewed."""
PATIENCE: Final = timedelta(minutes=10)
"""After so long without newer figures they are asked for again."""
LONGEST: Final = 400
"""Characters of what is asked of a report that is kept."""
FORGOTTEN: Final = timedelta(days=30)
"""Figures that nobody has asked for so long are deleted."""


@dataclass(frozen=True, slots=True)
class Kept(Generic[R]):
    """Figures, and when they were worked out if that is not now; `renewing`: newer ones are on their way."""

    figures: R
    as_of: datetime | None = None
    renewing: bool = False


def oldest(of: Iterable[Kept[Any]]) -> Kept[Any] | None:
    """The figures of a page that were worked out first; None where all are of now."""
    old = [one for one in of if one.as_of is not None]
    return min(old, key=lambda one: cast(datetime, one.as_of), default=None)


@dataclass(frozen=True, slots=True)
class Report(Generic[R]):
    """A kept report: its name and type.

    `make` works it out for an `actor`, of a `project` and of what else is asked; it raises Denied or NotFound
    for whoever may not see it, as `check` does. `personal`: what one person sees is not what another does.
    """

    name: str
    kind: Any
    make: Callable[..., R]
    check: Callable[..., None]
    personal: bool


reports: Final[dict[str, Report[Any]]] = {}


def register(report: Report[R]) -> Report[R]:
    """A report that a worker can renew by its name."""
    reports[report.name] = report
    return report


def is_large(project: Project, annotator: int | None = None) -> bool:
    """Whether so much was submitted, by all or by one, that figures of it are kept. One query, which counts
    at most one more than `LARGE` in an index."""
    rows = Assignment.stored.filter(project=project, state=AssignmentState.SUBMITTED).order_by()
    if annotator is not None:
        rows = rows.filter(annotator=annotator)
    return rows.values("pk")[: LARGE + 1].count() > LARGE


def kept(
    report: Report[R], *, actor: Actor, project: Project, only: int | None = None, **asked: Any
) -> Kept[R]:
    """The figures of a report: worked out now where little was submitted (by annotator `only`), else kept.

    Whoever asks first waits for them; later ones get them at once, and ask for newer ones if need be. At most
    six queries besides those of the report.
    """
    if not is_large(project, only):
        return Kept(report.make(actor=actor, project=project, **asked))
    report.check(actor=actor, project=project, **asked)
    whose = {"viewer": actor.pk} if report.personal and isinstance(actor, User) else {}
    words = json.dumps(asked | whose, sort_keys=True, ensure_ascii=False)
    if len(words) > LONGEST:
        return Kept(report.make(actor=actor, project=project, **asked))
    row = KeptFigures.objects.filter(project=project, report=report.name, asked=words).first()
    if row is not None and (figures := _read(row, report, project)) is not None:
        return Kept(figures, row.as_of, _renewed(row))
    now = timezone.now()
    made = report.make(actor=actor, project=project, **asked)
    KeptFigures.objects.update_or_create(
        project=project, report=report.name, asked=words, defaults=_new(report, made, now)
    )
    return Kept(made, now)


def _new(report: Report[R], figures: R, as_of: datetime) -> dict[str, Any]:
    return {
        "figures": stored_form.dumps(figures, report.kind),
        "as_of": as_of,
        "renewal_asked_at": None,
        "renewal_begun_at": None,
    }


def _read(row: KeptFigures, report: Report[R], project: Project) -> R | None:
    try:
        return cast(R, stored_form.loads(row.figures, report.kind, project))
    except Exception as error:  # of an older version, or of somebody who is gone: as good as none
        log.info("%s of project %s is worked out anew (%s)", row.report, row.project_id, type(error).__name__)
        return None


def _renewed(row: KeptFigures) -> bool:
    """Whether newer figures are on their way; they are asked for here, by the first who sees old ones."""
    now = timezone.now()
    if now - row.as_of <= FRESH:
        return False
    waiting = KeptFigures.objects.filter(passed("renewal_asked_at", now - PATIENCE), pk=row.pk)
    if (row.renewal_asked_at is None or row.renewal_asked_at < now - PATIENCE) and waiting.update(
        renewal_asked_at=now
    ):
        dispatch.send("renew_figures", row.pk)
    return True


def renew(*, row_id: int) -> bool:
    """Work figures out anew that were asked for; False when they are not, or another worker does it."""
    now = timezone.now()
    due = KeptFigures.objects.filter(
        passed("renewal_begun_at", now - PATIENCE), pk=row_id, renewal_asked_at__isnull=False
    )
    if not due.update(renewal_begun_at=now):
        return False
    row = KeptFigures.objects.select_related("project").get(pk=row_id)
    mine = KeptFigures.objects.filter(pk=row_id, renewal_begun_at=now)
    asked = json.loads(row.asked)
    viewer = asked.pop("viewer", None)
    actor = OPERATOR if viewer is None else User.objects.filter(pk=viewer).first()
    report = reports.get(row.report)
    try:
        if report is None or actor is None:
            raise NotFound(translatable("This does not exist, or you may not see it."))
        made = report.make(actor=actor, project=row.project, **asked)
    except TristepError:  # whoever they were made for may not see them any more
        mine.delete()
        return False
    return mine.update(**_new(report, made, now)) == 1


def sweep() -> int:
    """Every worker calls this now and then: delete what nobody has asked for in a month; how much it was."""
    deleted, _by_model = KeptFigures.objects.filter(as_of__lt=timezone.now() - FORGOTTEN).delete()
    return deleted
