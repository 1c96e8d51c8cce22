"""Import what a model predicts of a release; all of a file or nothing of it."""

import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO, cast

import numpy as np
from django.db import transaction

from annotation.core.errors import Conflict, Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import excerpt
from annotation.core.releases.scored_questions import questions_of
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.labels import BoolArray
from annotation.core.scoring.reading import AskedQuestions, PredictionFile, read_predictions
from annotation.core.scoring.scheme import has_questions
from annotation.models import PredictionSet, Release
from annotation.policies import Actor, require
from annotation.reports.shared import release_labels as report

from .fitting import keep_unlabelled
from .store import (
    NO_REASONS,
    REASONS_AT_ONCE,
    PredictionSetDetails,
    Reasons,
    checked,
    model_name,
    packed_reasons,
    store,
)

SPOOLED = 1 << 20
IN_MEMORY = 8 << 20
"""Files that take more than this together, once read, are stored before the next one is read."""
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


@dataclass(frozen=True, slots=True)
class PredictionSource:
    """A file to import, and whose predictions it holds."""

    model: str
    filename: str
    stream: BinaryIO


@dataclass(frozen=True, slots=True)
class _Target:
    """The target of files: a release with its unlabelled part, and what holds for all of them."""

    release: Release
    released: ReleasedLabels
    more: ReleasedLabels
    both: ReleasedLabels
    subset: str
    strict: bool
    questions: AskedQuestions | None

    @property
    def own(self) -> BoolArray:
        """A mask (R,) of the records that are those of the release."""
        return np.arange(self.both.n_records) < self.released.n_records


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A file that has been read whole and is not stored yet."""

    name: str
    before: PredictionSet | None
    predictions: Predictions
    unlabelled: Predictions | None
    fresh: list[int]
    reasons: list[Reasons]
    counts: dict[str, int]

    @property
    def size(self) -> int:
        """The bytes that it holds, about."""
        return self.predictions.steps.nbytes + sum(len(body) for _first, _last, body in self.reasons)


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
) -> PredictionImport:
    """Store one file as `import_prediction_files` does."""
    (imported,) = import_prediction_files(
        actor=actor,
        release=release,
        sources=[PredictionSource(model, filename, stream)],
        subset=subset,
        about=about,
        strict=strict,
    )
    return imported


def import_prediction_files(
    *,
    actor: Actor,
    release: Release,
    sources: Iterable[PredictionSource],
    subset: str = "",
    about: PredictionSetDetails | None = None,
    strict: bool = False,
    put_off_fit: bool = False,
) -> Iterator[PredictionImport]:
    """Store prediction files (docs/formats.md, "Label and prediction files") as what models predict of a
    release, in order and each as a whole or not at all; a set of that name is extended by records that it
    lacks. Tells of each file once it is stored.

    Of several lines about a record the newest counts. What is missing or invalid stays missing, and is
    counted. Lines about records that the release lacks are left out and counted, as long as others remain;
    when `strict`, they refuse the file. The same again changes nothing. With `put_off_fit` the caller fits
    (`fit_release`) after the last one. Files are read before anything is locked, in the memory of one line
    and of the labels, and stored in few transactions; what was read before a file that is refused is stored.

    Raises ImportRefused naming every line about a record in several subsets (when none is named), a message
    that is no step, or a record of which this model has predicted something
    else; Invalid for a name or a subset that cannot be; Conflict when somebody else changes the same set at
    this moment.
    """
    require(actor, "predictions.change", release)
    details = checked(about or PredictionSetDetails())
    released = report.released_labels(release)
    if subset and subset not in released.subsets:
        unknown = translatable("There is no subset “{name}” in this release.", name=subset)
        raise Invalid(unknown, fields={"subset": unknown})
    more = keep_unlabelled(release, released)
    questions = _questions(release, released)
    target = _Target(release, released, more, released.joined(more), subset, strict, questions)
    waiting: list[_Waiting] = []

    def stored() -> Iterator[PredictionImport]:
        return _stored(actor, target, waiting, details, put_off_fit)

    try:
        for source in sources:
            name = model_name(source.model)
            if sum(one.size for one in waiting) > IN_MEMORY or any(one.name == name for one in waiting):
                yield from stored()
            waiting.append(_read(target, source, name))
    except Exception:
        yield from stored()
        raise
    yield from stored()


def _questions(release: Release, released: ReleasedLabels) -> AskedQuestions | None:
    """The questions that outputs are held against, from all records of a release with questions; None for
    another."""
    if not has_questions(released) or released.decisions is None or released.decisions.questions is None:
        return None
    return AskedQuestions(released.decisions.questions, tuple(questions_of(report.records(release))))


def _read(target: _Target, source: PredictionSource, name: str) -> _Waiting:
    """Read a file whole, and hold it against what its model has predicted so far. Raises ImportRefused,
    Invalid."""
    own = target.own
    with SpooledTemporaryFile(max_size=SPOOLED) as spool:
        reasons = cast(IO[bytes], spool)
        file = read_predictions(
            source.stream,
            source.filename,
            target.both,
            reasons=reasons,
            subset=target.subset,
            strict=target.strict,
            questions=target.questions,
        )
        before = PredictionSet.objects.filter(release=target.release, model=name).order_by("pk").first()
        earlier = report.predictions_of_both(target.released, target.more, before)
        new = _fresh(file, before, earlier, name, target.released.n_records)
        fresh = [place for place in new if place < target.released.n_records]
        if file.errors:
            raise file.errors.refusal()
        if before is None and not fresh:
            raise Invalid(NOTHING_OF_RELEASE, code="unlabelled_part_alone")
        chunks = list(_chunks(file, fresh))
    predictions = file.predictions()
    anew = np.isin(np.arange(target.both.n_records), new)
    whole = earlier.merged(predictions, anew, target.both.record).only(target.both, ~own)
    return _Waiting(
        name=name,
        before=before,
        predictions=predictions.only(target.both, own),
        unlabelled=whole if whole.there.any() else None,
        fresh=fresh,
        reasons=chunks,
        counts={
            "created": len(fresh),
            "unchanged": int(predictions.there[own].sum()) - len(fresh),
            "missing": predictions.missing(target.both),
            "invalid": sum(record.invalid for record in file.records.values()),
            "failed": int(predictions.failed.sum()),
            "superseded": file.superseded,
            "elsewhere": file.elsewhere.count,
            "unlabelled": int(predictions.there[~own].sum()),
        },
    )


def _stored(
    actor: Actor, target: _Target, waiting: list[_Waiting], details: dict[str, Any], put_off_fit: bool
) -> Iterator[PredictionImport]:
    """Store what has been read, in one transaction and up to the first that somebody else has overtaken."""
    done: list[PredictionImport] = []
    overtaken: Conflict | None = None
    with transaction.atomic():
        while waiting and overtaken is None:
            one = waiting.pop(0)
            try:
                row = store(
                    actor=actor,
                    release=target.release,
                    name=one.name,
                    released=target.released,
                    predictions=one.predictions,
                    unlabelled=one.unlabelled,
                    fresh=one.fresh,
                    reasons=one.reasons,
                    details=details,
                    before=one.before,
                    put_off_fit=put_off_fit,
                )
            except Conflict as error:
                overtaken = error
                waiting.clear()
            else:
                done.append(PredictionImport(prediction_set=row, **one.counts))
    yield from done
    if overtaken is not None:
        raise overtaken


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
        here = slice(starts[place], starts[place + 1])
        stored = (
            earlier.steps[here].astype(np.int8).tobytes(),
            b"" if earlier.orders is None else earlier.orders.of_record(here, place),
            int(earlier.outcome[place]),
            bool(earlier.failed[place]),
        )
        same = stored == (record.steps, record.orders, record.outcome, record.failed)
        if not same or (place in digests and digests[place] != sha256_hex(file.reasons_of(place))):
            reason = (
                f"{excerpt(file.released.record_id[place])} has another prediction of {excerpt(name)} already"
            )
            file.errors.add(RecordError(file.errors.filename, record.line, "record_id", reason))
    return fresh


def _digests(row: PredictionSet, places: set[int]) -> dict[int, str]:
    """The digest of the stored reasons of these records."""
    digests = dict.fromkeys(places, sha256_hex(NO_REASONS))
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
