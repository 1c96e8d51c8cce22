"""Import what a model predicts of a release; all of a file or nothing of it."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date
from decimal import Decimal
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO, cast

import numpy as np
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core.canonical import canonical_json, sha256_hex
from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonlines import RecordError
from annotation.core.label_files import excerpt
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.reading import PredictionFile, read_predictions
from annotation.core.text import escape
from annotation.models import PredictionReasons, PredictionSet, Release, ReleaseOutline
from annotation.policies import Actor, recorded, require
from annotation.reports import release_labels as report

from .. import audit
from .fitting import ask_to_fit

IN_MEMORY = 1 << 20
REASONS_AT_ONCE = 100
MAX_MODEL = 120
MAX_PROMPT_VERSION = 80
MAX_COST = Decimal(10**8)


@dataclass(frozen=True, slots=True)
class About:
    """What an importer says of a prediction set besides its labels; None leaves what is known. `cost` is in
    US dollars, of the whole set."""

    prompt_version: str | None = None
    judged_on: date | None = None
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PredictionImport:
    """What came of a file. `created`, `unchanged`: records. `missing`: steps of these records without a
    label; `invalid`: entries of these that are not a label; `failed`: judgements that say of themselves that
    they failed; all three count the file, stored now or before. `superseded`: lines that a newer one
    replaced."""

    prediction_set: PredictionSet
    created: int
    unchanged: int
    missing: int
    invalid: int
    failed: int
    superseded: int


def import_predictions(
    *,
    actor: Actor,
    release: Release,
    model: str,
    stream: BinaryIO,
    filename: str,
    subset: str = "",
    about: About | None = None,
) -> PredictionImport:
    """Store a prediction file (docs/formats.md, "Label and prediction files") as what a model predicts of a
    release; a set of that name is extended by records that it lacks.

    Of several lines about a record the newest counts. What is missing or invalid stays missing, and is
    counted. The same again changes nothing. The file is read before anything is locked, in the memory of one
    line and of the labels.

    Raises ImportRefused naming every line about a record that is not in the release (or in several subsets,
    when none is named), a message that is no step, or a record of which this model has predicted something
    else; Invalid for a name or a subset that cannot be; Conflict when somebody else changes the same set at
    this moment.
    """
    require(actor, "predictions.change", release)
    name = _model(model)
    said = _checked(about or About())
    released = report.released_labels(release)
    if subset and subset not in released.subsets:
        unknown = translatable("There is no subset “{name}” in this release.", name=subset)
        raise Invalid(unknown, fields={"subset": unknown})
    with SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
        reasons = cast(IO[bytes], spool)
        file = read_predictions(stream, filename, released, reasons=reasons, subset=subset)
        before = PredictionSet.objects.filter(release=release, model=name).first()
        fresh = _fresh(file, before, name)
        if file.errors:
            raise file.errors.refusal()
        chunks = list(_chunks(file, fresh))
    given = file.predictions()
    try:
        with transaction.atomic():
            stored = _store(actor, release, name, released, given, fresh, chunks, said, before)
    except IntegrityError as error:
        raise _overtaken() from error
    return PredictionImport(
        prediction_set=stored,
        created=len(fresh),
        unchanged=len(file.records) - len(fresh),
        missing=int((given.steps[given.there[released.record]] == MISSING).sum()),
        invalid=sum(one.invalid for one in file.records.values()),
        failed=int(given.failed.sum()),
        superseded=file.superseded,
    )


def _model(name: str) -> str:
    name = escape(name.strip())
    if not name or len(name) > MAX_MODEL:
        problem = translatable("A model needs a name of at most {n} characters.", n=MAX_MODEL)
        raise Invalid(problem, fields={"model": problem})
    return name


def _checked(about: About) -> dict[str, Any]:
    """What is given, by field. Raises Invalid."""
    given = {one.name: getattr(about, one.name) for one in fields(about)}
    given = {name: value for name, value in given.items() if value is not None}
    if "prompt_version" in given:
        given["prompt_version"] = escape(given["prompt_version"].strip())
        if len(given["prompt_version"]) > MAX_PROMPT_VERSION:
            problem = translatable("At most {n} characters.", n=MAX_PROMPT_VERSION)
            raise Invalid(problem, fields={"prompt_version": problem})
    if "cost" in given and not (given["cost"].is_finite() and 0 <= given["cost"] < MAX_COST):
        problem = translatable("The cost must be an amount of US dollars, from 0.")
        raise Invalid(problem, fields={"cost": problem})
    if "cost" in given:
        given["cost"] = given["cost"].quantize(Decimal("0.0001"))
    return given


def _fresh(file: PredictionFile, before: PredictionSet | None, name: str) -> list[int]:
    """The records of the file that the set lacks, in order; others must say the same, or are errors of the
    file."""
    if before is None:
        return sorted(file.records)
    known = Predictions.unpacked(bytes(before.labels), file.released)
    starts = file.released.starts()
    fresh: list[int] = []
    again: list[int] = []
    for place in sorted(file.records):
        (again if known.there[place] else fresh).append(place)
    digests = _digests(before, set(again))
    for place in again:
        one = file.records[place]
        steps = known.steps[starts[place] : starts[place + 1]].astype(np.int8).tobytes()
        stored = (steps, int(known.outcome[place]), bool(known.failed[place]), digests[place])
        if stored != (one.steps, one.outcome, one.failed, one.digest):
            reason = (
                f"{excerpt(file.released.record_id[place])} has another prediction of {excerpt(name)} already"
            )
            file.errors.add(RecordError(file.errors.filename, one.line, "record_id", reason))
    return fresh


def _digests(row: PredictionSet, places: set[int]) -> dict[int, str]:
    """The digest of the stored reasons of these records."""
    found = dict.fromkeys(places, sha256_hex(canonical_json({})))
    if places:
        for body in row.reasons.values_list("body", flat=True).iterator(chunk_size=20):
            said = json.loads(zlib.decompress(bytes(body)))
            kept = {int(place): reasons for place, reasons in said.items() if int(place) in places}
            found |= {place: sha256_hex(canonical_json(reasons)) for place, reasons in kept.items()}
    return found


def _chunks(file: PredictionFile, fresh: list[int]) -> Iterator[tuple[int, int, bytes]]:
    """What is said of the records that are new, 100 together: the first and last of them, and the bytes."""
    for at in range(0, len(fresh), REASONS_AT_ONCE):
        places = fresh[at : at + REASONS_AT_ONCE]
        said = {str(place): file.reasons_of(place) for place in places}
        told = {place: reasons for place, reasons in said.items() if reasons}
        if told:
            yield places[0], places[-1], zlib.compress(canonical_json(told), 6)


def _store(
    actor: Actor,
    release: Release,
    name: str,
    released: ReleasedLabels,
    given: Predictions,
    fresh: list[int],
    chunks: list[tuple[int, int, bytes]],
    said: dict[str, Any],
    before: PredictionSet | None,
) -> PredictionSet:
    """Make or extend the set, in the caller's transaction. Raises Conflict when it is not what was read."""
    now = timezone.now()
    ReleaseOutline.objects.get_or_create(release=release, defaults={"labels": released.packed()})
    if before is None:
        row = PredictionSet.objects.create(
            release=release,
            model=name,
            record_count=len(fresh),
            labels=given.packed(),
            created_by=recorded(actor),
            created_at=now,
            updated_at=now,
            **said,
        )
    else:
        changed = {key: value for key, value in said.items() if getattr(before, key) != value}
        if not fresh and not changed:
            return before
        merged = _merged(Predictions.unpacked(bytes(before.labels), released), given, fresh, released)
        rows = PredictionSet.objects.filter(pk=before.pk, updated_at=before.updated_at)
        count = int(merged.there.sum())
        if not rows.update(record_count=count, labels=merged.packed(), updated_at=now, **changed):
            raise _overtaken()
        row = PredictionSet.objects.get(pk=before.pk)
    PredictionReasons.objects.bulk_create(
        PredictionReasons(prediction_set=row, first=first, last=last, body=body)
        for first, last, body in chunks
    )
    if fresh:
        ask_to_fit(release=release, changed=row)
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


def _merged(
    known: Predictions, given: Predictions, fresh: list[int], released: ReleasedLabels
) -> Predictions:
    new = np.zeros(released.n_records, dtype=bool)
    new[fresh] = True
    steps = new[released.record]
    return Predictions(
        np.where(steps, given.steps, known.steps),
        np.where(new, given.outcome, known.outcome),
        np.where(new, given.there, known.there),
        np.where(new, given.failed, known.failed),
    )


def _overtaken() -> Conflict:
    return Conflict(
        translatable("Somebody else is changing the predictions of this model right now; try again."),
        code="overtaken",
    )
