"""The key that stands in an imported record: labels of an expert, as they came with the file.

In a line of the label format (docs/formats.md, "Label and prediction files") these are its labels and
explanations; in other programs' files the scores of one name that label every step and the whole.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.label_files import parse_label_line
from annotation.core.trajectories.trajectory import SourceLabel
from annotation.core.vocabulary import is_value


@dataclass(frozen=True, slots=True)
class Keyed:
    """The key's label of a step or of the outcome, and why."""

    value: int
    note: str = ""


Key = dict[int | None, Keyed]
"""By message index; None is the outcome."""


class IncompleteKey(Exception):
    """A record has labels, but not of every step and the outcome; `field` and `reason` say which is missing.

    Half a key cannot tell a label right or wrong, and leaving out what it misses would score people on less
    than they label.
    """

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(field)
        self.field = field
        self.reason = reason


def key_in(raw: bytes, source: Sequence[SourceLabel], steps: Collection[int]) -> Key | None:
    """The key in a record's own bytes or source labels; None when there is none. `steps` are its message
    indexes. Raises IncompleteKey when one of these has no label, or the outcome has none."""
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
    key: Key = {
        index: Keyed(label, line.explanations.get(index, ""))
        for index, label in line.step_labels.items()
        if label is not None
    }
    if line.final_label is not None:
        key[None] = Keyed(line.final_label, line.final_explanation)
    return key or None


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
