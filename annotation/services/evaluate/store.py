"""Make or extend what a model predicts of a release, whole or not at all."""

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.text import escape
from annotation.models import PredictionReasons, PredictionSet, Release
from annotation.policies import Actor, recorded

from .. import audit
from .fitting import ask_to_fit

REASONS_AT_ONCE = 100
NO_REASONS = canonical_json({})
COMPRESSION = 1  # as of what is imported (services/ingest/rows.py)
MAX_MODEL = 120
MAX_PROMPT_VERSION = 80
MAX_COST = Decimal(10**8)

Reasons = tuple[int, int, bytes]
"""Reasons for up to 100 records: the first and last of them, and the packed bytes."""


@dataclass(frozen=True, slots=True)
class PredictionSetDetails:
    """Facts that an importer gives of a prediction set besides its labels; None leaves them as they are.
    `cost` is in US dollars, of the whole set."""

    prompt_version: str | None = None
    judged_on: date | None = None
    cost: Decimal | None = None


def model_name(name: str) -> str:
    """A model's name as it is stored. Raises Invalid."""
    name = escape(name.strip())
    if not name or len(name) > MAX_MODEL:
        problem = translatable("A model needs a name of at most {n} characters.", n=MAX_MODEL)
        raise Invalid(problem, fields={"model": problem})
    return name


def checked(about: PredictionSetDetails) -> dict[str, Any]:
    """The given facts by field. Raises Invalid."""
    values = {field.name: getattr(about, field.name) for field in fields(about)}
    values = {name: value for name, value in values.items() if value is not None}
    if "prompt_version" in values:
        values["prompt_version"] = escape(values["prompt_version"].strip())
        if len(values["prompt_version"]) > MAX_PROMPT_VERSION:
            problem = translatable("At most {n} characters.", n=MAX_PROMPT_VERSION)
            raise Invalid(problem, fields={"prompt_version": problem})
    if "cost" in values and not (values["cost"].is_finite() and 0 <= values["cost"] < MAX_COST):
        problem = translatable("The cost must be an amount of US dollars, from 0.")
        raise Invalid(problem, fields={"cost": problem})
    if "cost" in values:
        values["cost"] = values["cost"].quantize(Decimal("0.0001"))
    return values


def packed_reasons(by_place: Mapping[int, bytes]) -> Iterator[Reasons]:
    """Reasons for some records, each as canonical JSON, by their places in ascending order, as they are
    stored; nothing without any."""
    lines = [b'"%d":%s' % one for one in by_place.items() if one[1] != NO_REASONS]
    if lines:
        yield min(by_place), max(by_place), zlib.compress(b"{%s}" % b",".join(lines), COMPRESSION)


def store(
    *,
    actor: Actor,
    release: Release,
    name: str,
    released: ReleasedLabels,
    predictions: Predictions,
    unlabelled: Predictions | None,
    fresh: list[int],
    reasons: Iterable[Reasons],
    details: dict[str, Any],
    before: PredictionSet | None,
    put_off_fit: bool = False,
) -> PredictionSet:
    """Make the set of that name, or extend the one read `before` by the `fresh` records of `predictions` and
    by its `details` (`checked`). `unlabelled` are all its predictions for the unlabelled part, if it has any.

    Raises Conflict when the set is not what was read any more.
    """
    with _at_once():
        now = timezone.now()
        if unlabelled is not None:
            details = details | {"unlabelled": unlabelled.packed()}
        changed: dict[str, Any] = {}
        if before is None:
            row = PredictionSet.objects.create(
                release=release,
                model=name,
                record_count=len(fresh),
                labels=predictions.packed(),
                created_by=recorded(actor),
                created_at=now,
                updated_at=now,
                **details,
            )
        else:
            changed = {key: value for key, value in details.items() if _kept(before, key) != value}
            if not fresh and not changed:
                return before
            stored = Predictions.unpacked(bytes(before.labels), released)
            new = np.isin(np.arange(released.n_records), fresh)
            both = stored.merged(predictions, new, released.record)
            rows = PredictionSet.objects.filter(pk=before.pk, updated_at=before.updated_at)
            count = int(both.there.sum())
            if not rows.update(record_count=count, labels=both.packed(), updated_at=now, **changed):
                raise _overtaken()
            row = PredictionSet.objects.get(pk=before.pk)
        PredictionReasons.objects.bulk_create(
            PredictionReasons(prediction_set=row, first=first, last=last, body=body)
            for first, last, body in reasons
        )
        if fresh or "unlabelled" in changed:
            # what is new has nothing fitted yet
            ask_to_fit(release=release, changed=before and row, put_off=put_off_fit)
        audit.record(
            actor=actor,
            verb="predictions.import",
            project=release.project,
            obj=row,
            release=release.version,
            model=name,
            created=len(fresh),
        )
        return row


def _kept(row: PredictionSet, key: str) -> Any:
    value = getattr(row, key)
    return bytes(value) if isinstance(value, memoryview) else value


@contextmanager
def _at_once() -> Iterator[None]:
    """All or nothing; Conflict when somebody else made or changed the set meanwhile."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise _overtaken() from error


def _overtaken() -> Conflict:
    return Conflict(
        translatable("Somebody else is changing the predictions of this model right now; try again."),
        code="overtaken",
    )
