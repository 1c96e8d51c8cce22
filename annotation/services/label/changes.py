"""Parse one change of a batch of label saves; what is wrong with it is said in a sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.core import text
from annotation.core.vocabulary import REASON_CODES_BY_CODE, Closes, LabelSource, is_value

MAX_CHANGES = 2_000
MAX_NOTE = 20_000
TARGETS = ("step", "outcome")


@dataclass(frozen=True, slots=True)
class Change:
    """The whole new content of one label. `note` is escaped already; `root` is a message index or None."""

    target: str
    message_index: int | None
    version: int
    value: int | None
    source: str
    root: int | None
    root_pinned: bool
    closes: str
    unsure: bool
    flagged: bool
    note: str
    reason: str


def _index(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**31


def parse_change(raw: Mapping[str, Any]) -> Change | str:
    """The change, or one sentence that says what is wrong with it."""
    target, value = raw.get("target"), raw.get("value")
    source = raw.get("source") or LabelSource.EXPLICIT.value
    note, reason, closes = raw.get("note") or "", raw.get("reason") or "", raw.get("closes") or ""
    problems = {
        "target: step or outcome.": target not in TARGETS,
        "message_index: the index of a step.": target == "step" and not _index(raw.get("message_index")),
        "version: the whole number this page last saw.": not _index(raw.get("version")),
        "value: −1, 0, 1 or null.": value is not None and not is_value(value),
        "source: explicit or propagated.": source not in [one.value for one in LabelSource],
        "root: the index of a step, or null.": raw.get("root") is not None and not _index(raw.get("root")),
        "closes: corrected, independent or empty.": closes not in [one.value for one in Closes],
        f"note: text of at most {MAX_NOTE:,} characters.": not isinstance(note, str) or len(note) > MAX_NOTE,
        "reason: a code of the scheme, or empty.": reason != "" and not _known(reason),
    }
    for mark in ("root_pinned", "unsure", "flagged"):
        problems[f"{mark}: true or false."] = not isinstance(raw.get(mark, False), bool)
    wrong = next((problem for problem, present in problems.items() if present), None)
    if wrong is not None:
        return wrong
    return Change(
        target=str(target),
        message_index=raw.get("message_index") if target == "step" else None,
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


def _known(reason: Any) -> bool:
    return isinstance(reason, str) and reason in REASON_CODES_BY_CODE
