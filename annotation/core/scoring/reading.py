"""Read a file of predictions of a release (docs/formats.md, "Label and prediction files").

The file is read line by line and never held: of each record stay its labels, a byte a step, and where its
reasons stand in `reasons`, a file of their own. A missing or invalid label stays missing and is counted; what
is about a message that is no step is an error; what is about a record that the release lacks is counted, or
an error in strict reading.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, BinaryIO, Final, NamedTuple

import numpy as np

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import (
    IN_SEVERAL,
    NO_INDEX,
    NO_STEP,
    OCCURS_TWICE,
    LabelLine,
    excerpt,
    label_lines,
    moment,
    of_record,
)
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels, aligned

_REFUSED: Final = frozenset({OCCURS_TWICE, NO_INDEX})
NO_LINES: Final = translatable("there is no prediction in this file")


class Predicted(NamedTuple):
    """The counting line of one record: `steps` a byte each, `at` and `size` where its reasons stand."""

    line: int
    when: datetime
    steps: bytes
    outcome: int
    failed: bool
    invalid: int
    at: int
    size: int


@dataclass(slots=True)
class PredictionFile:
    """Predictions in a file: the counting line of each record by its place in the release, and its errors.
    `superseded` counts the lines that a newer one of the same record replaced; `elsewhere` are the lines
    about records that the release lacks."""

    released: ReleasedLabels
    reasons: IO[bytes]
    errors: FileErrors
    elsewhere: FileErrors
    records: dict[int, Predicted] = field(default_factory=dict)
    superseded: int = 0

    def predictions(self) -> Predictions:
        """The predictions as arrays."""
        made, places = Predictions.none(self.released), sorted(self.records)
        lines = [self.records[place] for place in places]
        made.there[places] = True
        made.steps[made.there[self.released.record]] = np.frombuffer(
            b"".join([one.steps for one in lines]), dtype=np.int8
        )
        made.outcome[places] = [one.outcome for one in lines]
        made.failed[places] = [one.failed for one in lines]
        return made

    def reasons_of(self, place: int) -> bytes:
        """The reasons and comment in the counting line of a record, as `reasons_json` wrote them."""
        one = self.records[place]
        self.reasons.seek(one.at)
        return self.reasons.read(one.size)


def read_predictions(
    stream: BinaryIO,
    filename: str,
    released: ReleasedLabels,
    *,
    reasons: IO[bytes],
    subset: str = "",
    strict: bool = False,
) -> PredictionFile:
    """Read a file whole. Never raises on content: what is wrong is in `errors`. Records are looked for in the
    subset of that name, or in all when it is empty. Lines about other records are errors when `strict`, and
    in a file that has no others."""
    file = PredictionFile(released, reasons, FileErrors(filename), FileErrors(filename))
    places = _places(released, subset)
    starts, indexes = released.starts().tolist(), released.message_index.tolist()
    lines = 0
    for line in label_lines(stream, filename):
        lines += 1
        if isinstance(line, RecordError):
            file.errors.add(line)
            continue
        place = places.get(line.record_id)
        if place is None:
            several = line.record_id in places
            record = excerpt(line.record_id)
            reason = translatable(IN_SEVERAL, record=record) if several else _elsewhere(record, subset)
            (file.errors if several or strict else file.elsewhere).add(
                RecordError(filename, line.line, "record_id", reason)
            )
            continue
        _take(file, line, place, indexes[starts[place] : starts[place + 1]])
    if not lines:
        file.errors.add(RecordError(filename, 1, "", NO_LINES))
    if not file.records and not file.errors:
        file.errors = file.elsewhere
    return file


def reasons_json(line: LabelLine, indexes: list[int]) -> bytes:
    """The reasons of steps and outcome in a line, and its comment, as canonical JSON."""
    said = {
        "steps": {str(index): line.explanations[index] for index in indexes if line.explanations.get(index)},
        "final": line.final_explanation,
        "comment": line.comment,
    }
    return canonical_json({key: value for key, value in said.items() if value})


def _elsewhere(record: str, subset: str) -> str:
    if not subset:
        return translatable("{record} is not in this release", record=record)
    return translatable(
        "{record} is not in the subset {subset} of this release", record=record, subset=excerpt(subset)
    )


def _places(released: ReleasedLabels, subset: str) -> Mapping[str, int | None]:
    """The place of each record id; None where several subsets have the record."""
    places: dict[str, int | None] = {}
    for place, record_id in enumerate(released.record_id):
        if not subset or released.subsets[released.subset[place]] == subset:
            places[record_id] = None if record_id in places else place
    return places


def _take(file: PredictionFile, line: LabelLine, place: int, indexes: list[int]) -> None:
    values, extra = aligned(line.step_labels, indexes)
    if (line.problems or extra) and (wrong := list(_wrong(file.errors.filename, line, extra))):
        file.errors.extend(wrong)
        return
    before, when = file.records.get(place), moment(line.updated_at)
    if before is not None:
        file.superseded += 1
        if when < before.when:
            return
    said = reasons_json(line, indexes)
    at = file.reasons.tell()
    file.reasons.write(said)
    file.records[place] = Predicted(
        line=line.line,
        when=when,
        steps=array("b", values).tobytes(),
        outcome=MISSING if line.final_label is None else line.final_label,
        failed=line.failed,
        invalid=len(line.problems),
        at=at,
        size=len(said),
    )


def _wrong(filename: str, line: LabelLine, extra: list[int]) -> Iterator[RecordError]:
    for name, reason in line.problems:
        if reason in _REFUSED:
            yield RecordError(filename, line.line, name, of_record(reason, line))
    for index in extra:
        yield RecordError(filename, line.line, f"step_labels.{index}", of_record(NO_STEP, line))
