"""Label and prediction files: JSON Lines, one judgement of one trajectory a line (docs/formats.md, "Label and
prediction files").

A line needs `step_labels`, `final_label` and `record_id` or its three parts (`data_source`,
`query_index`, `sample_index`); other keys are ignored, so a published trajectory file is a label file
too. Of several lines about one record the newest `updated_at` counts; a line without a readable one is
older than any that has one; among equals the last line counts. Nothing that is not a label ever becomes
one: it stays `None`, and `problems` says why, for imports that must refuse what predictions may leave
missing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, BinaryIO, Final

from annotation.core.bounds import MAX_INT
from annotation.core.i18n import translatable

from .jsonio.file_errors import FileErrors
from .jsonio.jsonlines import MAX_RECORD_BYTES, Record, RecordError, read_records
from .vocabulary import VALUES, is_value

FAILED_PREFIX: Final = "llm_annotate_failed"
LABEL_FORMAT: Final = "labels"
"""The format of an import that is a label file; no importer of trajectories has this name."""
MAX_FILE: Final = 100 * 1024 * 1024
# the file, and the form around it
MAX_REQUEST: Final = MAX_FILE + 64 * 1024
"""The largest file of suggestions that is taken, in bytes."""

_BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}", re.ASCII)
_INDEXES: Final = {str(index): index for index in range(10_000)}
"""Nearly all message indexes there are, by how they are written."""
_LABELS: Final = frozenset({*VALUES, None})
_TYPES: Final = frozenset({int, type(None)})
_TEXT: Final = frozenset({str})
_MAX_PROBLEMS_PER_RECORD: Final = 20
OCCURS_TWICE: Final = translatable("occurs twice")
NO_INDEX: Final = translatable("is not a message index")
NO_STEP: Final = translatable("is not a step: that message is not the assistant’s")
IN_SEVERAL: Final = translatable("{record} is in several subsets: name one")
NO_LABEL: Final = translatable("is missing: this step has no label")


@dataclass(slots=True)  # frozen ones take three times as long to make
class LabelLine:
    """One judgement. `step_labels`: message index to value, `None` for null or what is not a label.

    `failed`: a judge's failed attempt (every step null and a comment that begins `llm_annotate_failed`),
    whose outcome counts as missing. `problems`: (field, reason) for everything invalid, nulls apart.
    """

    record_id: str
    step_labels: dict[int, int | None]
    final_label: int | None
    explanations: dict[int, str]
    final_explanation: str
    comment: str
    updated_at: str
    failed: bool
    line: int
    problems: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class LabelFile:
    """A label file: the counting line of each record, in order of first appearance.

    `errors` are the lines that say nothing usable; `superseded` counts the lines that a newer one of the
    same record replaced.
    """

    filename: str
    lines: dict[str, LabelLine] = field(default_factory=dict)
    superseded: int = 0
    errors: FileErrors = field(init=False)

    def __post_init__(self) -> None:
        self.errors = FileErrors(self.filename)


def read_label_lines(
    stream: BinaryIO, filename: str, *, max_record_bytes: int = MAX_RECORD_BYTES
) -> LabelFile:
    """Read a label or prediction file whole. Never raises on content: what is wrong is in `errors`,
    and in the `problems` of a line."""
    file = LabelFile(filename)
    for line in label_lines(stream, filename, max_record_bytes=max_record_bytes):
        if isinstance(line, RecordError):
            file.errors.add(line)
            continue
        before = file.lines.get(line.record_id)
        if before is not None:
            file.superseded += 1
        if before is None or moment(line.updated_at) >= moment(before.updated_at):
            file.lines[line.record_id] = line
    return file


def label_lines(
    stream: BinaryIO, filename: str, *, max_record_bytes: int = MAX_RECORD_BYTES
) -> Iterator[LabelLine | RecordError]:
    """The lines of a label or prediction file one by one, or what is wrong with it; in the memory of one."""
    for record in json_lines(stream, filename, max_record_bytes=max_record_bytes):
        if isinstance(record, RecordError):
            yield record
        else:
            yield parse_label_line(record.value, filename, record.line)


def json_lines(
    stream: BinaryIO, filename: str, *, max_record_bytes: int = MAX_RECORD_BYTES
) -> Iterator[Record | RecordError]:
    """The lines of such a file as JSON, whose objects remember which keys occurred twice (`repeated`)."""
    return read_records(
        stream, filename=filename, max_record_bytes=max_record_bytes, object_pairs_hook=_Object.of
    )


def counting_lines(stream: BinaryIO, filename: str, errors: FileErrors) -> Iterator[LabelLine]:
    """The lines of a file that count, one by one: of several about one record the newest. In the memory of
    one line, and of an index of the records.

    `stream` is read twice, so it must be able to seek; `errors` takes what the first reading finds wrong.
    """
    begin = stream.tell()
    counting: dict[str, tuple[int, datetime]] = {}
    for place, line in enumerate(label_lines(stream, filename)):
        if isinstance(line, RecordError):
            errors.add(line)
            continue
        when = moment(line.updated_at)
        before = counting.get(line.record_id)
        if before is None or when >= before[1]:
            counting[line.record_id] = place, when
    stream.seek(begin)
    for place, line in enumerate(label_lines(stream, filename)):
        if isinstance(line, LabelLine) and counting[line.record_id][0] == place:
            yield line


def parse_label_line(value: Any, filename: str, line: int) -> LabelLine | RecordError:
    """One parsed line as a judgement, or why it cannot be one."""
    if not isinstance(value, dict):
        return RecordError(filename, line, "", translatable("is not a JSON object"))
    record_id = _record_id(value)
    if record_id is None:
        reason = translatable("is missing, and so is one of data_source, query_index and sample_index")
        return RecordError(filename, line, "record_id", reason)
    for key in ("step_labels", "final_label"):
        if key not in value:
            reason = translatable("is missing from the line of {record}", record=record_id)
            return RecordError(filename, line, key, reason)
    labels = value["step_labels"]
    if not isinstance(labels, dict):
        return RecordError(
            filename, line, "step_labels", translatable("must be an object of message index and label")
        )
    problems: list[tuple[str, str]] = []
    step_labels = read_step_labels(labels, problems)
    final_label = read_value(value["final_label"], "final_label", problems)
    comment = _text(value.get("comment"))
    failed = comment.startswith(FAILED_PREFIX) and all(label is None for label in labels.values())
    reasons = value.get("explanations")
    reasons = reasons if isinstance(reasons, dict) else {}
    step_reasons = reasons.get("steps")
    return LabelLine(
        record_id=record_id,
        step_labels=step_labels,
        final_label=None if failed else final_label,
        explanations=_explanations(step_reasons) if isinstance(step_reasons, dict) else {},
        final_explanation=_text(reasons.get("final")),
        comment=comment,
        updated_at=_text(value.get("updated_at")),
        failed=failed,
        line=line,
        problems=tuple(problems[:_MAX_PROBLEMS_PER_RECORD]),
    )


def output_line(record_id: str, value: dict[str, Any], line: int) -> LabelLine:
    """A line that says no label, and what it has besides."""
    comment, updated_at = _text(value.get("comment")), _text(value.get("updated_at"))
    return LabelLine(record_id, {}, None, {}, "", comment, updated_at, failed=False, line=line)


def read_step_labels(labels: dict[str, Any], problems: list[tuple[str, str]]) -> dict[int, int | None]:
    """Message index to value or `None` of a `step_labels` object; `problems` takes what is invalid."""
    for key in getattr(labels, "repeated", ()):
        problems.append((f"step_labels.{excerpt(key)}", OCCURS_TWICE))
    values = labels.values()
    # the types first: True and 1.0 are equal to 1, and a list is not even hashable
    every = _TYPES.issuperset(map(type, values)) and _LABELS.issuperset(values)
    if every and (plain := _by_index(labels)) is not None:
        return plain
    by_index: dict[int, int | None] = {}
    for key, value in labels.items():
        index = read_index(key)
        if index is None:
            problems.append((f"step_labels.{excerpt(key)}", NO_INDEX))
        else:
            by_index[index] = read_value(value, f"step_labels.{index}", problems)
    return by_index


def _by_index(given: dict[str, Any]) -> dict[int, Any] | None:
    """The same by message index, in a tenth of the time that reading key by key takes; None when one of them
    has to be looked at."""
    try:
        return dict(zip(map(_INDEXES.__getitem__, given), given.values(), strict=True))
    except KeyError:
        return None


def read_value(value: Any, name: str, problems: list[tuple[str, str]]) -> int | None:
    """`value` if it is a label (the ints −1, 0, 1; not `true`, `1.0` or `"1"`), else `None`."""
    if is_value(value):
        return int(value)
    if value is not None:
        problems.append((name, translatable("must be −1, 0 or 1, not {value}", value=excerpt(value))))
    return None


def read_index(key: str) -> int | None:
    """A message index written the one usual way (`"7"`; not `"07"`, `" 7"`, `"-1"`), or `None`."""
    return int(key) if _INDEX.fullmatch(key) and int(key) <= MAX_INT else None


def problems_against(line: LabelLine, steps: Collection[int], filename: str) -> list[RecordError]:
    """The reasons why `line` is not a finished labelling of a trajectory with these step indexes; empty when
    it is.

    For imports of people's labels, which refuse by name what predictions may leave missing.
    """
    problems = list(line.problems)
    named = {name for name, _ in problems}
    if line.failed:
        problems.append(("comment", translatable("says that this judgement failed")))
    else:
        for index in sorted(line.step_labels.keys() - set(steps)):
            problems.append((f"step_labels.{index}", NO_STEP))
        for index in steps:
            if line.step_labels.get(index) not in VALUES and f"step_labels.{index}" not in named:
                problems.append((f"step_labels.{index}", NO_LABEL))
        if line.final_label is None and "final_label" not in named:
            problems.append(("final_label", translatable("is missing: the outcome has no label")))
    return [
        RecordError(filename, line.line, name, of_record(reason, line))
        for name, reason in problems[:_MAX_PROBLEMS_PER_RECORD]
    ]


def of_record(reason: str, line: LabelLine) -> str:
    """A reason with the record that its line is about."""
    return translatable("{reason} (of record {record})", reason=reason, record=excerpt(line.record_id))


def excerpt(value: Any) -> str:
    """A value from a file, short and in plain ASCII, for use inside a sentence."""
    if isinstance(value, str):
        text = value[:61].encode("ascii", "backslashreplace").decode("ascii").replace("\x00", "\\x00")
    elif isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    elif value is None or isinstance(value, bool):
        text = json.dumps(value)
    else:
        text = repr(value)[:61]
    text = "".join(char if char.isprintable() else "?" for char in text)
    text = text if len(text) <= 60 else text[:57] + "..."
    return f'"{text}"' if isinstance(value, str) else text


class _Object(dict[str, Any]):
    """A JSON object that remembers which of its keys occurred more than once."""

    repeated: tuple[str, ...] = ()

    @classmethod
    def of(cls, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        marked = cls(plain)
        times = Counter(key for key, _ in pairs)
        marked.repeated = tuple(key for key, count in times.items() if count > 1)
        return marked


def _record_id(value: dict[str, Any]) -> str | None:
    record_id = value.get("record_id")
    if isinstance(record_id, str) and record_id:
        return record_id
    if type(record_id) is int:
        return str(record_id)
    parts = value.get("data_source"), value.get("query_index"), value.get("sample_index")
    if isinstance(parts[0], str) and parts[0] and type(parts[1]) is int and type(parts[2]) is int:
        return f"{parts[0]}:{parts[1]}:{parts[2]}"
    return None


def _explanations(explanations: dict[str, Any]) -> dict[int, str]:
    every = _TEXT.issuperset(map(type, explanations.values()))
    if every and (plain := _by_index(explanations)) is not None:
        return plain
    reasons = ((read_index(key), reason) for key, reason in explanations.items() if isinstance(reason, str))
    return {index: reason for index, reason in reasons if index is not None}


def moment(updated_at: str) -> datetime:
    """The moment in UTC; a time without a zone is taken as UTC; anything but an ISO 8601 time comes before
    all others."""
    if not updated_at:
        return _BEFORE_ALL
    try:
        when = datetime.fromisoformat(updated_at)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return _BEFORE_ALL


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
