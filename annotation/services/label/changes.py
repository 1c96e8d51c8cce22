"""Parse one change of a batch of label saves; what is wrong with it is said in a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.core import text
from annotation.core.bounds import MAX_INT
from annotation.core.i18n import translatable
from annotation.core.label_fields import LabelFields
from annotation.core.vocabulary import REASON_CODES_BY_CODE, Closes, LabelSource, is_value

MAX_CHANGES = 2_000
MAX_NOTE = 20_000
TARGETS = ("step", "outcome")
MARKS = ("root_pinned", "unsure", "flagged")
REFUSALS = {
    "target": translatable("target: step or outcome."),
    "message_index": translatable("message_index: the index of a step."),
    "version": translatable("version: the version last read, a whole number."),
    "value": translatable("value: −1, 0, 1 or null."),
    "source": translatable("source: explicit or propagated."),
    "root": translatable("root: the index of a step, or null."),
    "closes": translatable("closes: corrected, independent or empty."),
    "note": translatable("note: text of at most {max} characters.", max=f"{MAX_NOTE:,}"),
    "reason": translatable("reason: a code of the scheme, or empty."),
    **{mark: translatable("{mark}: true or false.", mark=mark) for mark in MARKS},
}


@dataclass(frozen=True, slots=True)
class LabelUpdate:
    """The whole new content of a step's label, or of the outcome's (`message_index` None).

    The version is the one that it is based on.
    """

    message_index: int | None
    content: LabelFields

    @property
    def target(self) -> str:
        """The target of the change, of `TARGETS`."""
        return "outcome" if self.message_index is None else "step"


def _index(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_INT


def parse_change(raw: Mapping[str, Any]) -> LabelUpdate | str:
    """The change, or one sentence that says what is wrong with it."""
    target, value = raw.get("target"), raw.get("value")
    source = raw.get("source") or LabelSource.EXPLICIT.value
    note, reason, closes = raw.get("note") or "", raw.get("reason") or "", raw.get("closes") or ""
    problems = {
        "target": target not in TARGETS,
        "message_index": target == "step" and not _index(raw.get("message_index")),
        "version": not _index(raw.get("version")),
        "value": value is not None and not is_value(value),
        "source": source not in [source_.value for source_ in LabelSource],
        "root": raw.get("root") is not None and not _index(raw.get("root")),
        "closes": closes not in [closes_.value for closes_ in Closes],
        "note": not isinstance(note, str) or len(note) > MAX_NOTE,
        "reason": reason != "" and not _known(reason),
        **{mark: not isinstance(raw.get(mark, False), bool) for mark in MARKS},
    }
    wrong = next((field for field, present in problems.items() if present), None)
    if wrong is not None:
        return REFUSALS[wrong]
    content = LabelFields(
        version=raw["version"],
        value=value,
        source=str(source),
        root=raw.get("root"),
        root_pinned=raw.get("root_pinned", False),
        closes=closes,
        unsure=raw.get("unsure", False),
        flagged=raw.get("flagged", False),
        note=text.escape(note),
        reason=reason,
    )
    return LabelUpdate(raw.get("message_index") if target == "step" else None, content)


def _known(reason: Any) -> bool:
    return isinstance(reason, str) and reason in REASON_CODES_BY_CODE
