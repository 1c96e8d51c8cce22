"""Drafts from converted trajectories: checks, identity, task, and origin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, Protocol

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.text import escape
from annotation.core.trajectories.trajectory import TrajectoryDraft, content_digest, step_indexes

from .base import ReadContext
from .conversion import Conversation
from .records import RecordIdentities, RecordProblems, as_text, first_text, messages_of, short_text, tools_of

MAX_NAME: Final = 255
MAX_DATA_SOURCE: Final = 200
MAX_POLICY_MODEL: Final = 120
UNKNOWN_MODEL: Final = "unknown"
MAX_ORIGINALS: Final = 8

SOURCE: Final = "source"
SOURCE_STEPS: Final = "source_steps"
WITHOUT_STEPS: Final = translatable("conversations without a response of the model, left out")


class SourceRecord(Protocol):
    """A record with its value, its bytes and its line (`jsonlines.Record`, `parts.elements.Element`)."""

    @property
    def value(self) -> Any: ...

    @property
    def raw(self) -> bytes: ...

    @property
    def line(self) -> int: ...


def draft_of(
    conversation: Conversation,
    raw: bytes,
    line: int,
    context: ReadContext,
    problems: RecordProblems,
    *,
    format: str,
    converter: int,
) -> TrajectoryDraft | None:
    """The draft of a conversation; `None` when `problems` says what is wrong with it.

    Without an identity of its own a record has the SHA-256 of its content, without a task that of its first
    user message; an identity too long for its column is stood for by its SHA-256. `converter` is the version
    of the format's converter: one more whenever it makes something else of the same file, because the content
    digest is taken over what was converted. The hints get `source` (format, version, converter, what was left
    out) and `source_steps` (message index: the source's own address of the step).
    """
    if problems:
        return None
    messages = messages_of(conversation.messages, problems)
    tools = tools_of(conversation.tools, problems)
    question = conversation.question or first_text(messages, "user")
    policy_model = conversation.policy_model or context.policy_models.get(0) or UNKNOWN_MODEL
    policy_model = short_text(policy_model, "policy_model", MAX_POLICY_MODEL, problems)
    data_source = short_text(conversation.data_source, "data_source", MAX_DATA_SOURCE, problems)
    if problems:
        return None
    context.notes.update(conversation.notes)
    context.left_out.update(conversation.left_out)
    draft = TrajectoryDraft(
        record_id=_fitting(conversation.record_id),
        task_key=conversation.task_key or _task_of(question, messages),
        question=question,
        data_source=data_source,
        query_index=None,
        sample_index=None,
        policy_model=policy_model,
        messages=messages,
        tools=tools,
        reference_answer=conversation.reference_answer,
        task_description=conversation.task_description,
        answer_text=conversation.answer_text,
        hints={**conversation.hints, **_origin(conversation, format, converter)},
        labels=None,
        source_labels=tuple(conversation.labels),
        raw=raw if conversation.raw is None else conversation.raw,
        line=line,
    )
    return draft if draft.record_id else replace(draft, record_id=content_digest(draft))


def read_conversations(
    pieces: Iterable[SourceRecord | RecordError],
    context: ReadContext,
    convert: Callable[[Any, RecordProblems], Iterable[Conversation]],
    *,
    format: str,
    converter: int,
) -> Iterator[TrajectoryDraft | RecordError]:
    """Every record of a file as `convert` reads it: the drafts of its conversations, or its problems.

    `convert` is given the piece. Conversations without any response of the model are left out and counted,
    as long as the file has others; a file without any is refused for the first of them. Identities seen twice
    are errors. Of more than eight drafts with the bytes of one record, only the first keeps them.
    """
    seen = RecordIdentities()
    empty: list[RecordError] = []
    expected = 0
    for piece in pieces:
        expected += 1
        if isinstance(piece, RecordError):
            yield piece
            continue
        problems = RecordProblems(context.filename, piece.line)
        drafts = []
        for conversation in convert(piece, problems):
            if not problems and not step_indexes(_objects(conversation.messages)):
                empty = empty or list(_empty(conversation, context.filename, piece.line))
                context.notes[WITHOUT_STEPS] += 1
                expected -= 1
                continue
            draft = draft_of(
                conversation, piece.raw, piece.line, context, problems, format=format, converter=converter
            )
            if draft is not None:
                seen.check(draft.record_id, piece.line, "record_id", problems)
                drafts.append(draft)
        if problems:
            yield from problems.errors()
        else:
            yield from _kept_once(drafts)
    if expected <= 0:
        yield from empty or [
            RecordError(context.filename, 0, "", translatable("the file contains no records"))
        ]


def _kept_once(drafts: list[TrajectoryDraft]) -> Iterator[TrajectoryDraft]:
    """The drafts of one record. With thousands of sub-agents, 5 MB of it would be kept as 15 GB."""
    many = len(drafts) > MAX_ORIGINALS
    for number, draft in enumerate(drafts):
        if many and number and draft.raw is drafts[0].raw:
            first = drafts[0].record_id
            yield replace(draft, raw=canonical_json({"original_with": first}), original_with=first)
        else:
            yield draft


def _objects(messages: list[Any]) -> list[dict[str, Any]]:
    return [message for message in messages if isinstance(message, dict)]


def _empty(conversation: Conversation, filename: str, line: int) -> Iterator[RecordError]:
    problems = RecordProblems(filename, line)
    if conversation.why_empty:
        problems.add("", conversation.why_empty)
    else:
        messages_of(conversation.messages, problems)
    return problems.errors()


def _origin(conversation: Conversation, format: str, converter: int) -> dict[str, Any]:
    origin: dict[str, Any] = {
        "format": format,
        "version": conversation.format_version,
        "converter": converter,
    }
    if conversation.left_out:
        origin["left_out"] = sorted(conversation.left_out)
    steps = {str(index): address for index, address in sorted(conversation.source_steps.items())}
    return {SOURCE: origin, SOURCE_STEPS: steps}


def _fitting(record_id: str) -> str:
    if len(escape(record_id)) <= MAX_NAME:
        return record_id
    return f"sha256:{sha256_hex(record_id.encode('utf-8', 'surrogatepass'))}"


def _task_of(question: str, messages: list[dict[str, Any]]) -> str:
    text = first_text(messages, "user") or question or as_text(messages)
    return sha256_hex(text.encode("utf-8", "surrogatepass"))
