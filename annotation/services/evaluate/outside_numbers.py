"""Set numbers of models that come from elsewhere, beside which a leaderboard is read."""

import math
from collections.abc import Mapping
from typing import Final

from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import escape
from annotation.models import OutsideNumber, Release
from annotation.policies import Actor, require

from .. import audit
from .store import model_name

MAX_TITLE: Final = 80
MAX_NUMBERS: Final = 1000
"""Of a release, of all titles together."""


@transaction.atomic
def set_outside_numbers(
    *, actor: Actor, release: Release, title: str, numbers: Mapping[str, float | None]
) -> int:
    """Set the number of each model under a title; None takes it away, and models that are not named keep
    theirs. Returns how many are set or taken away.

    Raises Invalid for a title or a name that cannot be, a number that is not finite, and too many."""
    require(actor, "predictions.change", release)
    title = escape(title.strip())
    if not title or len(title) > MAX_TITLE:
        problem = translatable("Numbers need a title of at most {n} characters.", n=MAX_TITLE)
        raise Invalid(problem, fields={"title": problem})
    if not all(value is None or math.isfinite(value) for value in numbers.values()):
        raise Invalid(translatable("A number of a model must be finite."), code="not_a_number")
    by_name = {model_name(name): value for name, value in numbers.items()}
    rows = OutsideNumber.objects.filter(release=release)
    now = timezone.now()
    gone = [name for name, value in by_name.items() if value is None]
    taken, _ = rows.filter(title=title, model__in=gone).delete()
    made = [
        OutsideNumber(release=release, title=title, model=name, value=value, updated_at=now)
        for name, value in by_name.items()
        if value is not None
    ]
    OutsideNumber.objects.bulk_create(
        made,
        update_conflicts=True,
        unique_fields=["release", "title", "model"],
        update_fields=["value", "updated_at"],
    )
    if rows.count() > MAX_NUMBERS:
        raise Invalid(translatable("A release may have {n} numbers from elsewhere.", n=MAX_NUMBERS))
    audit.record(
        actor=actor,
        verb="predictions.outside",
        project=release.project,
        obj=release,
        version=release.version,
        title=title,
        set=len(made),
        removed=taken,
    )
    return len(made) + taken
