"""Import what a model predicts of a release; all of a file or nothing of it."""

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, cast

import numpy as np

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import excerpt
from annotation.core.scoring import MISSING, Predictions
from annotation.core.scoring.reading import PredictionFile, read_predictions
from annotation.models import PredictionSet, Release
from annotation.policies import Actor, require
from annotation.reports.shared import release_labels as report

from .fitting import keep_unlabelled
from .store import (
    REASONS_AT_ONCE,
    PredictionSetDetails,
    Reasons,
    checked,
    merged,
    model_name,
    packed_reasons,
    store,
)

IN_MEMORY = 1 << 20
NOTHING_OF_RELEASE = translatable(
    "This file is about the unlabelled part alone; import what the model says of the release first."
)


@dataclass(frozen=True, slots=True)
class PredictionImport:
    """The result of an import of predictions. `created`, `unchanged`: records of the release; `unlabelled`:
    those of its unlabelled part, stored now or before. `missing`: steps of these records without a label;
    `invalid`: entries of these that are not a label; `failed`: judgements that say of themselves that they
    failed; all three count the file, stored now or before. `superseded`: lines that a
    newer one replaced; `elsewhere`: lines about records that the release (or the subset) lacks, left out."""

    prediction_set: PredictionSet
    created: int
    unchanged: int
    missing: int
    invalid: int
    failed: int
    superseded: int
    elsewhere: int
    unlabelled: int


def import_predictions(
    *,
    actor: Actor,
    release: Release,
    model: str,
    stream: BinaryIO,
    filename: str,
    subset: str = "",
    about: PredictionSetDetails | None = None,
    strict: bool = False,
    put_off_fit: bool = False,
) -> PredictionImport:
    """Store a prediction file (docs/formats.md, "Label and prediction files") as what a model predicts of a
    release; a set of that name is extended by records that it lacks.

    Of several lines about a record the newest counts. What is missing or invalid stays missing, and is
    counted. Lines about records that the release lacks are left out and counted, as long as others remain;
    when `strict`, they refuse the file. The same again changes nothing. With `put_off_fit` the caller fits
    (`fit_release`) after the last of several files. The file is read before anything is
    locked, in the memory of one line and of the labels.

    Raises ImportRefused naming every line about a record in several subsets (when none is named), a message
    that is no step, or a record of which this model has predicted something
    else; Invalid for a name or a subset that cannot be; Conflict when somebody else changes the same set at
    this moment.
    """
    require(actor, "predictions.change", release)
    name = model_name(model)
    stated = checked(about or PredictionSetDetails())
    released = report.released_labels(release)
    if subset and subset not in released.subsets:
        unknown = translatable("There is no subset “{name}” in this release.", name=subset)
        raise Invalid(unknown, fields={"subset": unknown})
    more = keep_unlabelled(release, released)
    with SpooledTemporaryFile(max_size=IN_MEMORY) as spool:
        reasons = cast(IO[bytes], spool)
        both = released.joined(more)
        file = read_predictions(stream, filename, both, reasons=reasons, subset=subset, strict=strict)
        before = PredictionSet.objects.filter(release=release, model=name).first()
        earlier = report.predictions_of_both(released, more, before)
        new = _fresh(file, before, earlier, name, released.n_records)
        fresh = [place for place in new if place < released.n_records]
        if file.errors:
            raise file.errors.refusal()
        if before is None and not fresh:
            raise Invalid(NOTHING_OF_RELEASE, code="unlabelled_part_alone")
        chunks = list(_chunks(file, fresh))
    predictions = file.predictions()
    own = np.arange(both.n_records) < released.n_records
    whole = merged(earlier, predictions, new, both).only(both, ~own)
    stored = store(
        actor=actor,
        release=release,
        name=name,
        released=released,
        predictions=predictions.only(both, own),
        unlabelled=whole if whole.there.any() else None,
        fresh=fresh,
        reasons=chunks,
        details=stated,
        before=before,
        put_off_fit=put_off_fit,
    )
    return PredictionImport(
        prediction_set=stored,
        created=len(fresh),
        unchanged=int(predictions.there[own].sum()) - len(fresh),
        missing=int((predictions.steps[predictions.there[both.record]] == MISSING).sum()),
        invalid=sum(record.invalid for record in file.records.values()),
        failed=int(predictions.failed.sum()),
        superseded=file.superseded,
        elsewhere=file.elsewhere.count,
        unlabelled=int(predictions.there[~own].sum()),
    )


def _fresh(
    file: PredictionFile, before: PredictionSet | None, earlier: Predictions, name: str, released: int
) -> list[int]:
    """The records of the file that the set lacks, in order; others must say the same, or are errors of the
    file. Reasons are kept of the first `released` records alone, those of the release."""
    if before is None:
        return sorted(file.records)
    starts = file.released.starts()
    fresh: list[int] = []
    again: list[int] = []
    for place in sorted(file.records):
        (again if earlier.there[place] else fresh).append(place)
    digests = _digests(before, {place for place in again if place < released})
    for place in again:
        record = file.records[place]
        steps = earlier.steps[starts[place] : starts[place + 1]].astype(np.int8).tobytes()
        stored = (steps, int(earlier.outcome[place]), bool(earlier.failed[place]))
        same = stored == (record.steps, record.outcome, record.failed)
        if not same or digests.get(place, record.digest) != record.digest:
            reason = (
                f"{excerpt(file.released.record_id[place])} has another prediction of {excerpt(name)} already"
            )
            file.errors.add(RecordError(file.errors.filename, record.line, "record_id", reason))
    return fresh


def _digests(row: PredictionSet, places: set[int]) -> dict[int, str]:
    """The digest of the stored reasons of these records."""
    digests = dict.fromkeys(places, sha256_hex(canonical_json({})))
    if places:
        for body in row.reasons.order_by("pk").values_list("body", flat=True).iterator(chunk_size=20):
            by_place = json.loads(zlib.decompress(bytes(body)))
            kept = {int(place): reasons for place, reasons in by_place.items() if int(place) in places}
            digests |= {place: sha256_hex(canonical_json(reasons)) for place, reasons in kept.items()}
    return digests


def _chunks(file: PredictionFile, fresh: list[int]) -> Iterator[Reasons]:
    """Packed reasons for the new records."""
    for at in range(0, len(fresh), REASONS_AT_ONCE):
        places = fresh[at : at + REASONS_AT_ONCE]
        yield from packed_reasons({place: file.reasons_of(place) for place in places})
