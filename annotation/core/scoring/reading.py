"""Read a file of predictions of a release (docs/formats.md, "Label and prediction files").

The file is read line by line and never held: of each record stay its labels, a byte a step, of an output
about a question the verdict on it, and where its reasons stand in `reasons`, a file of their own. A missing
or invalid label stays missing and is counted; what is about a message that is no step is an error; what is
about a record that the release lacks is counted, or an error in strict reading.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import IO, Any, BinaryIO, Final, NamedTuple

import numpy as np

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.jsonio.file_errors import FileErrors
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.kinds import Feature
from annotation.core.label_files import (
    IN_SEVERAL,
    NO_INDEX,
    NO_STEP,
    OCCURS_TWICE,
    LabelLine,
    excerpt,
    json_lines,
    label_lines,
    moment,
    of_record,
    output_line,
    parse_label_line,
)
from annotation.core.scoring.decisions.answers import (
    BY_LABELS,
    NO_LIST,
    NO_OBJECT,
    NO_OPTION,
    NO_ORDER,
    ONE_OF,
    Answer,
    labels_of,
    read_answer,
)
from annotation.core.scoring.decisions.orders import Orders, coded
from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels, aligned
from annotation.core.scoring.questions import lines as output_lines
from annotation.core.scoring.questions.facts import QuestionFacts
from annotation.core.scoring.questions.verdicts import Question, Verdict, verdict
from annotation.core.scoring.questions.worth import Outputs

_REFUSED: Final = frozenset({OCCURS_TWICE, NO_INDEX, ONE_OF, NO_OBJECT, NO_LIST, NO_ORDER})
NO_LINES: Final = translatable("there is no prediction in this file")


class Predicted(NamedTuple):
    """The counting line of one record: `steps` a byte each, `orders` as core.scoring.decisions.orders codes
    them, `output`: whether it has one, and the `verdict` on it, `at` and `size` where its reasons stand."""

    line: int
    when: datetime
    steps: bytes
    orders: bytes
    outcome: int
    failed: bool
    invalid: int
    at: int
    size: int
    output: bool
    verdict: Verdict | None


class AskedQuestions:
    """The questions of a release: its `facts` of them, and the `keys`, what an output about each record is
    held against (None where nothing is asked)."""

    def __init__(self, facts: QuestionFacts, keys: Sequence[Question | None]) -> None:
        self.facts = facts
        self.keys = keys
        # lists, because lines ask for one record each
        self.is_question: list[bool] = facts.questions.tolist()
        self.asks_text: list[bool] = facts.texts.tolist()


@dataclass(slots=True)
class PredictionFile:
    """Predictions in a file: the counting line of each record by its place in the release, and its errors.
    `superseded` counts the lines that a newer one of the same record replaced; `elsewhere` are the lines
    about records that the release lacks."""

    released: ReleasedLabels
    reasons: IO[bytes]
    errors: FileErrors
    elsewhere: FileErrors
    questions: AskedQuestions | None = None
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
        verdicts = {place: one.verdict for place, one in self.records.items() if one.output}
        if verdicts:
            made = replace(made, outputs=Outputs.of(self.released.n_records, verdicts))
        return replace(made, orders=self._orders()) if any(one.orders for one in lines) else made

    def _orders(self) -> Orders:
        starts = self.released.starts().tolist()
        given = {
            place: np.frombuffer(one.orders, dtype=np.uint8).reshape(
                -1, starts[place + 1] - starts[place] + 1
            )
            for place, one in self.records.items()
        }
        number = max(map(len, given.values()))
        made = Orders.none(self.released.n_steps, self.released.n_records, number)
        for place, rows in given.items():
            made.ranks[: len(rows), starts[place] : starts[place + 1]] = rows[:, :-1]
            made.chosen[: len(rows), place] = rows[:, -1]
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
    questions: AskedQuestions | None = None,
) -> PredictionFile:
    """Read a file whole. Never raises on content: what is wrong is in `errors`. Records are looked for in the
    subset of that name, or in all when it is empty. Lines about other records are errors when `strict`, and
    in a file that has no others. `questions`: those of a release that has any."""
    file = PredictionFile(released, reasons, FileErrors(filename), FileErrors(filename), questions)
    places = _places(released, subset, released.record_id)
    uuids = {} if questions is None else _places(released, subset, questions.facts.uuid)
    starts, indexes = released.starts().tolist(), released.message_index.tolist()
    lines = 0
    for line, answer in _said(stream, filename, file):
        lines += 1
        if isinstance(line, RecordError):
            file.errors.add(line)
            continue
        place = _found(file, line, answer, {"record_id": places, "uuid": uuids}, subset, strict=strict)
        if place is not None:
            _take(file, line, answer, place, indexes[starts[place] : starts[place + 1]])
    if not lines:
        file.errors.add(RecordError(filename, 1, "", NO_LINES))
    if not file.records and not file.errors:
        file.errors = file.elsewhere
    return file


def _found(
    file: PredictionFile,
    line: LabelLine,
    answer: Answer,
    places: Mapping[str, Mapping[str, int | None]],
    subset: str,
    *,
    strict: bool,
) -> int | None:
    """The record that a line is about, by the names that it gives; None where that is noted to be none."""
    names = {"uuid": answer.uuid} if answer.uuid else {}
    if line.record_id != answer.uuid:
        names["record_id"] = line.record_id
    by_field = {field: places[field].get(name) for field, name in names.items()}
    for field_name, name in names.items():
        if by_field[field_name] is None:
            several = name in places[field_name]
            record = excerpt(name)
            reason = translatable(IN_SEVERAL, record=record) if several else _elsewhere(record, subset)
            errors = file.errors if several or strict else file.elsewhere
            errors.add(RecordError(file.errors.filename, line.line, field_name, reason))
            return None
    place, *other = set(by_field.values())
    if other:
        file.errors.add(RecordError(file.errors.filename, line.line, "uuid", output_lines.OTHER_QUESTION))
        return None
    return place


def _said(
    stream: BinaryIO, filename: str, file: PredictionFile
) -> Iterator[tuple[LabelLine | RecordError, Answer]]:
    """The lines of a file; of decisions each with its answer, if that is not by labels."""
    if not file.released.kind.has(Feature.PAIRS):
        yield from ((line, BY_LABELS) for line in label_lines(stream, filename))
        return
    for record in json_lines(stream, filename):
        if isinstance(record, RecordError):
            yield record, BY_LABELS
        elif not isinstance(record.value, dict):
            yield parse_label_line(record.value, filename, record.line), BY_LABELS
        elif file.questions is not None and output_lines.is_output(record.value):
            yield _output(record.value, filename, record.line)
        else:
            yield _labelled(record.value, filename, record.line)


def _labelled(
    value: Mapping[str, Any], filename: str, number: int, answer: Answer | None = None
) -> tuple[LabelLine | RecordError, Answer]:
    """A line about a decision, with its answer, if that is known already."""
    problems: list[tuple[str, str]] = []
    if answer is None:
        answer = read_answer(value, problems)
    line = parse_label_line(labels_of(value), filename, number)
    if isinstance(line, LabelLine):
        own = "step_labels" if "step_labels" in value else "labels"
        problems += ((name.replace("step_labels", own, 1), why) for name, why in line.problems)
        line = replace(line, problems=tuple(problems))
    return line, answer


def _output(value: dict[str, Any], filename: str, number: int) -> tuple[LabelLine | RecordError, Answer]:
    """A line about a question, which may name it by its uuid alone."""
    uuid, has_id = value.get("uuid"), value.get("record_id") is not None
    if uuid is not None and not (isinstance(uuid, str) and uuid):
        return RecordError(filename, number, "uuid", output_lines.NO_TEXT), BY_LABELS
    if uuid is None and not has_id:
        return RecordError(filename, number, "record_id", output_lines.NO_ID), BY_LABELS
    output = output_lines.read_output(value, filename, number)
    if isinstance(output, RecordError):
        return output, BY_LABELS
    named = str(uuid or "")
    if output is None:
        line, answer = _labelled(value if has_id else {**value, "record_id": named}, filename, number)
        return line, answer if has_id else replace(answer, uuid=named)
    record_id = value["record_id"] if has_id else named
    if type(record_id) is int:
        record_id = str(record_id)
    if not isinstance(record_id, str) or not record_id:
        return RecordError(filename, number, "record_id", output_lines.NO_TEXT), BY_LABELS
    return output_line(record_id, value, number), Answer(output=output, uuid=named)


def reasons_json(line: LabelLine, answer: Answer, indexes: list[int]) -> bytes:
    """The reasons of steps and outcome in a line, its comment, and what it says otherwise than by labels, as
    canonical JSON."""
    if answer.output is not None and not line.comment:
        return canonical_json(answer.as_json())
    reasons = {
        "steps": {str(index): reason for index in indexes if (reason := line.explanations.get(index))},
        "final": line.final_explanation,
        "comment": line.comment,
        **answer.as_json(),
    }
    # an empty output is one
    return canonical_json({key: value for key, value in reasons.items() if value or key == "output"})


def _elsewhere(record: str, subset: str) -> str:
    if not subset:
        return translatable("{record} is not in this release", record=record)
    return translatable(
        "{record} is not in the subset {subset} of this release", record=record, subset=excerpt(subset)
    )


def _places(released: ReleasedLabels, subset: str, names: Sequence[str]) -> Mapping[str, int | None]:
    """The place of each record by its name; None where several have that name."""
    places: dict[str, int | None] = {}
    for place, name in enumerate(names):
        if not subset or released.subsets[released.subset[place]] == subset:
            places[name] = None if name in places else place
    return places


def _take(file: PredictionFile, line: LabelLine, answer: Answer, place: int, indexes: list[int]) -> None:
    values, extra = aligned(line.step_labels, indexes)
    named: list[tuple[str, str]] = [(f"step_labels.{index}", NO_STEP) for index in extra]
    if file.released.kind.has(Feature.PAIRS):
        named = [(f"labels.{index}", NO_OPTION) for index in extra]
        named += [(name, NO_OPTION) for name, index in answer.indexes() if index not in indexes]
        named += _misplaced(file.questions, line, answer, place)
    if (line.problems or named) and (wrong := list(_wrong(file.errors.filename, line, named))):
        file.errors.extend(wrong)
        return
    before, when = file.records.get(place), moment(line.updated_at)
    if before is not None:
        file.superseded += 1
        if when < before.when:
            return
    reasons = reasons_json(line, answer, indexes)
    at = file.reasons.tell()
    file.reasons.write(reasons)
    file.records[place] = Predicted(
        line=line.line,
        when=when,
        steps=array("b", values).tobytes(),
        orders=coded(answer, indexes),
        outcome=MISSING if line.final_label is None else line.final_label,
        failed=line.failed,
        invalid=len(line.problems),
        at=at,
        size=len(reasons),
        output=answer.output is not None,
        verdict=_verdict(file.questions, answer, place),
    )


def _verdict(questions: AskedQuestions | None, answer: Answer, place: int) -> Verdict | None:
    if questions is None or answer.output is None or place >= len(questions.keys):
        return None
    asked = questions.keys[place]
    return None if asked is None else verdict(asked, answer.output.output)


def _misplaced(
    questions: AskedQuestions | None, line: LabelLine, answer: Answer, place: int
) -> list[tuple[str, str]]:
    """Fields of a line that do not answer what it is about, each with the reason."""
    if questions is None or place >= len(questions.keys):  # of the unlabelled part nothing is known
        return []
    is_question = questions.is_question[place]
    if answer.output is not None:
        return [] if is_question else [(answer.output.name, output_lines.NO_QUESTION)]
    if not is_question:
        return []
    if answer.scores is not None or answer.choices:
        return [("scores" if answer.scores is not None else "choices", output_lines.ASKS_LETTER)]
    return [("labels", output_lines.ASKS_TEXT)] if questions.asks_text[place] else []


def _wrong(filename: str, line: LabelLine, named: list[tuple[str, str]]) -> Iterator[RecordError]:
    """The errors that refuse a line; `named`: the messages that it names wrongly, and why."""
    refused = [(name, reason) for name, reason in line.problems if reason in _REFUSED]
    for name, reason in dict.fromkeys([*refused, *named]):
        yield RecordError(filename, line.line, name, of_record(reason, line))
