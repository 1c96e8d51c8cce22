"""Details by which two releases are compared, beside their labels: the texts of each record, and the origin
of each label.

Packed in few bytes, so that comparing releases reads no messages (core.scoring.labels.ReleasedLabels does the
same for scoring).
"""

from __future__ import annotations

import hashlib
import json
import re
import string
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..jsonio.canonical import canonical_json

# what is no text of a record: what it is called, where it stands, and what people made of it
_NOT_CONTENT: Final = frozenset(
    {"record_id", "subset", "total_index", "query_index", "sample_index", "messages", "blind_labels"}
)
_RESOLVED: Final = ("step_", "final_")
NO_ROOT: Final = -1
_NO_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
# the first byte of what is packed: what it means may change, and is then made anew from the records
PACKING: Final = b"\x03"


@dataclass(frozen=True, slots=True)
class ReleasedDetails:
    """By record of a release (R): `messages` and `fields`, digests of its messages and of everything else
    that it came with, and `answers`, which are equal where two runs give the same answer (`answer_digest`).
    By label, R outcomes and S steps in the release's order: kinds and reasons (places in
    `words`, 0 is none), and for the steps the root (a message index, or NO_ROOT).
    """

    words: tuple[str, ...]
    messages: tuple[str, ...]
    fields: tuple[str, ...]
    answers: tuple[str, ...]
    outcome_kind: list[int]
    outcome_reason: list[int]
    kind: list[int]
    reason: list[int]
    root: list[int]

    def packed(self) -> bytes:
        """The details in few bytes, for `unpacked`."""
        kept = {name: getattr(self, name) for name in (*_TEXTS, *_NUMBERS)}
        return PACKING + zlib.compress(canonical_json(kept), 1)

    @classmethod
    def unpacked(cls, packed: bytes) -> ReleasedDetails | None:
        """The details that `packed` made; None for those that an older version has packed."""
        if packed[:1] != PACKING:
            return None
        kept: dict[str, Any] = json.loads(zlib.decompress(packed[1:]))
        texts: dict[str, Any] = {name: tuple(kept.pop(name)) for name in _TEXTS}
        return cls(**texts, **kept)


_TEXTS: Final = ("words", "messages", "fields", "answers")
_NUMBERS: Final = ("outcome_kind", "outcome_reason", "kind", "reason", "root")


@dataclass(slots=True)
class DetailsOf:
    """Takes the details of the records that run through `watched`, in their order."""

    _words: dict[str, int] = field(default_factory=lambda: {"": 0})
    _messages: list[str] = field(default_factory=list)
    _fields: list[str] = field(default_factory=list)
    _answers: list[str] = field(default_factory=list)
    _numbers: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _NUMBERS})

    def watched(self, records: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The same records (core.releases.record_format.release_record)."""
        for record in records:
            self._add(record)
            yield record

    @property
    def details(self) -> ReleasedDetails:
        """The details of all records that have run through."""
        return ReleasedDetails(
            words=tuple(self._words),
            messages=tuple(self._messages),
            fields=tuple(self._fields),
            answers=tuple(self._answers),
            **self._numbers,
        )

    def _add(self, record: Mapping[str, Any]) -> None:
        self._messages.append(_digest(record["messages"]))
        self._fields.append(_digest({key: value for key, value in record.items() if _is_content(key)}))
        self._answers.append(answer_digest(record.get("answer_text")))
        kinds, reasons, roots = record["step_kinds"], record["step_reasons"], record["step_roots"]
        for index in sorted(record["step_labels"], key=int):
            self._numbers["kind"].append(self._word(kinds[index]))
            self._numbers["reason"].append(self._word(reasons.get(index, "")))
            self._numbers["root"].append(roots.get(index, NO_ROOT))
        self._numbers["outcome_kind"].append(self._word(record["final_kind"]))
        self._numbers["outcome_reason"].append(self._word(record["final_reason"]))

    def _word(self, text: str) -> int:
        return self._words.setdefault(text, len(self._words))


def answer_digest(answer: Any) -> str:
    """A digest that equal answers share; "" for a run without an answer.

    Answers are equal when they are after SQuAD's normalisation: lower case, without ASCII punctuation,
    English articles and repeated spaces (P. Rajpurkar et al., "SQuAD", 2016, its evaluation's
    `normalize_answer`).
    """
    if not isinstance(answer, str) or not answer.strip():
        return ""
    bare = answer.lower().translate(_NO_PUNCTUATION)
    return _digest(" ".join(_ARTICLES.sub(" ", bare).split()))


def _is_content(key: str) -> bool:
    return key not in _NOT_CONTENT and not key.startswith(_RESOLVED)


def _digest(value: Any) -> str:
    # 128 bits: it tells texts apart, and is no seal (the release's own digest is)
    return hashlib.sha256(canonical_json(value)).hexdigest()[:32]
