"""The key that stands in an imported record: labels of an expert, as they came with the file.

In a line of the label format (docs/formats.md, "Label and prediction files") these are its labels and
explanations, and codes of reasons as a release's records have them (`step_reasons`, `final_reason`); in other
programs' files the scores of one name that label every step and the whole.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import excerpt, parse_label_line
from annotation.core.trajectories.trajectory import SourceLabel
from annotation.core.vocabulary import REASON_CODES_BY_CODE, is_value


@dataclass(frozen=True, slots=True)
class Keyed:
    """The key's label of a step or of the outcome, and why: a note, and a code of the label scheme."""

    value: int
    note: str = ""
    reason: str = ""


Key = dict[int | None, Keyed]
"""By message index; None is the outcome."""


class IncompleteKey(Exception):
    """A record has labels, but not of every step and the outcome, or reasons that are none; `field` and
    `reason` say which.

    Half a key cannot tell a label right or wrong, and leaving out what it misses would score people on less
    than they label.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field)
        self.field = field
        self.reason = reason


def key_in(raw: bytes, source: Sequence[SourceLabel], steps: Collection[int]) -> Key | None:
    """The key in a record's own bytes or source labels; None when there is none. `steps` are its message
    indexes. Raises IncompleteKey when one of these has no label, or the outcome has none, and for a code that
    is no reason for its label."""
    key = _of_line(raw)
    if key is None:
        return _of_source(source, steps)
    for index in sorted(steps):
        if index not in key:
            raise IncompleteKey(
                f"step_labels.{index}",
                translatable("is missing: the key of a training trajectory labels every step"),
            )
    if None not in key:
        raise IncompleteKey(
            "final_label", translatable("is missing: the key of a training trajectory labels the outcome")
        )
    for of, keyed in key.items():
        if keyed.reason and getattr(REASON_CODES_BY_CODE.get(keyed.reason), "value", None) != keyed.value:
            raise IncompleteKey(
                "final_reason" if of is None else f"step_reasons.{of}",
                translatable("{code} is no reason for this label", code=excerpt(keyed.reason)),
            )
    return {index: keyed for index, keyed in key.items() if index is None or index in steps}


def _of_line(raw: bytes) -> Key | None:
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("step_labels"), dict):
        return None
    line = parse_label_line({"record_id": "record", "final_label": None, **value}, "", 0)
    if isinstance(line, RecordError):
        return None
    reasons = value.get("step_reasons")
    reasons = reasons if isinstance(reasons, dict) else {}
    key: Key = {
        index: Keyed(label, line.explanations.get(index, ""), _code(reasons.get(str(index))))
        for index, label in line.step_labels.items()
        if label is not None
    }
    if line.final_label is not None:
        key[None] = Keyed(line.final_label, line.final_explanation, _code(value.get("final_reason")))
    return key or None


def _code(value: object) -> str:
    """The code of a reason; null and what is empty is none."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def _of_source(source: Sequence[SourceLabel], steps: Collection[int]) -> Key | None:
    wanted = {None, *steps}
    for name in sorted({label.name for label in source}):
        key = {
            label.message: Keyed(label.value, label.reason)
            for label in source
            if label.name == name and label.message in wanted and is_value(label.value)
        }
        if key.keys() == wanted:
            return key
    return None
