"""Options for reading any file: fields mapped by hand, and redaction."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import BadJson, RecordError, parse_bytes
from annotation.core.redaction import redact, redact_text
from annotation.core.trajectories.trajectory import TrajectoryDraft

from .base import ReadContext
from .records import as_text

POINTERS: Final = ("task_key_at", "policy_model_at")
MAX_POINTER: Final = 500
MAX_POLICY_MODEL: Final = 120
MAX_SHOWN: Final = 60
MAX_SEEN: Final = 2_000
MAX_EXAMPLE: Final = 80


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading a file, beside its format.

    `task_key_at` and `policy_model_at` are JSON Pointers (RFC 6901) into a record; empty: as the format says.
    `redact`: keys and tokens are taken out of texts and of the bytes that are kept.
    """

    task_key_at: str = ""
    policy_model_at: str = ""
    redact: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> ReadOptions:
        """The options in a stored or posted mapping. Raises `Invalid` for a pointer that is none."""
        pointers = {name: str(options.get(name) or "").strip() for name in POINTERS}
        for name, pointer in pointers.items():
            if pointer and (not pointer.startswith("/") or len(pointer) > MAX_POINTER):
                problem = translatable("Write a JSON Pointer, for example /metadata/task_id.")
                raise Invalid(problem, fields={name: problem})
        return cls(**pointers, redact=options.get("redact") is True)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, only what is set."""
        every = {name: getattr(self, name) for name in (*POINTERS, "redact")}
        return {name: value for name, value in every.items() if value}


def apply_options(
    items: Iterable[TrajectoryDraft | RecordError], options: ReadOptions, context: ReadContext
) -> Iterator[TrajectoryDraft | RecordError]:
    """The items of a reader with the options applied. A record in which a pointer finds nothing is an
    error."""
    if options == ReadOptions():
        yield from items
        return
    record: Any = None
    for item in items:
        if isinstance(item, RecordError):
            yield item
            continue
        if not item.original_with and (options.task_key_at or options.policy_model_at):
            record = record_of(item.raw)
        mapped = _mapped(item, record, options, context)
        if isinstance(mapped, TrajectoryDraft) and options.redact:
            mapped = _redacted(mapped, context.notes)
        yield mapped


def resolve(value: Any, pointer: str) -> Any:
    """The value at `pointer` (RFC 6901) in `value`. Raises `LookupError` when there is nothing."""
    for token in pointer.split("/")[1:]:
        token = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and token.isascii() and token.isdecimal() and len(token) < 10:
            value = value[int(token)]
        elif isinstance(value, dict):
            value = value[token]
        else:
            raise LookupError(token)
    return value


def pointers(value: Any) -> list[tuple[str, str]]:
    """JSON Pointers to short texts and whole numbers of a record, with these: at most 60, outer first."""
    places: list[tuple[str, str]] = []
    queue: deque[tuple[str, Any]] = deque([("", value)])
    seen = 0
    while queue and len(places) < MAX_SHOWN and seen < MAX_SEEN:
        at, held = queue.popleft()
        seen += 1
        if isinstance(held, dict):
            members = ((key.replace("~", "~0").replace("/", "~1"), item) for key, item in held.items())
            queue.extend((f"{at}/{key}", item) for key, item in members if len(at) + len(key) < MAX_POINTER)
        elif isinstance(held, list):
            queue.extend((f"{at}/{index}", item) for index, item in enumerate(held[:3]))
        elif (isinstance(held, str) and 0 < len(held) <= MAX_EXAMPLE) or type(held) is int:
            places.append((at, str(held)))
    return places


def record_of(raw: bytes) -> Any:
    """The value that a pointer leads into: the record, or the list of its lines when it is a session."""
    try:
        return parse_bytes(raw)
    except BadJson:
        return [_line(line) for line in raw.splitlines()]


def _line(raw: bytes) -> Any:
    try:
        return parse_bytes(raw)
    except BadJson:
        return None


def _mapped(
    draft: TrajectoryDraft, record: Any, options: ReadOptions, context: ReadContext
) -> TrajectoryDraft | RecordError:
    pointers_by_field = {"task_key": options.task_key_at, "policy_model": options.policy_model_at}
    pointers_by_field = {name: pointer for name, pointer in pointers_by_field.items() if pointer}
    fields: dict[str, str] = {}
    for name, pointer in pointers_by_field.items():
        try:
            fields[name] = as_text(resolve(record, pointer))
        except LookupError:
            fields[name] = ""
        if not fields[name]:
            reason = translatable("there is nothing at {pointer} in this record", pointer=pointer)
            return RecordError(context.filename, draft.line, name, reason)
    if "policy_model" in fields:
        fields["policy_model"] = fields["policy_model"][:MAX_POLICY_MODEL]
    return replace(draft, **fields)  # type: ignore[arg-type]


def _redacted(draft: TrajectoryDraft, notes: Counter[str]) -> TrajectoryDraft:
    """The draft without secrets. The bytes are searched too, and only what is found in the content counts."""
    texts = ("question", "task_description", "reference_answer", "answer_text", "messages", "tools", "hints")
    values = {name: redact(getattr(draft, name), notes) for name in texts}
    raw = redact_text(draft.raw.decode("utf-8", "surrogateescape"), Counter())
    return replace(draft, **values, raw=raw.encode("utf-8", "surrogateescape"))
