"""Sessions of Claude Code: JSON Lines as it writes them (`~/.claude/projects`), or the web's `loglines`.

A response of the model is written as one line a block; lines with the same `message.id` are one step. The
lines are a tree (`parentUuid`): what was edited away or tried again is left out and counted. Sub-agents
(`isSidechain`) are trajectories of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.jsonlines import RecordError
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..chats.anthropic import COMPACTIONS, SUB_AGENTS
from ..conversion import Conversation
from ..drafts import read_conversations
from ..parts.claude import add_response, add_user
from ..parts.content_blocks import as_json, parts_of, text_of
from ..parts.conversation_builder import ConversationBuilder
from ..parts.sessions import sessions
from ..parts.sniffing import samples, strings
from ..records import RecordProblems
from .line_tree import LineTree, trees

CONVERTER: Final = 2
BRANCHES = translatable("branches left out")
LOST_STEPS = translatable("responses on branches left out")
REPEATED = translatable("lines that occur twice, taken once")
PROGRAM = translatable("messages that the program wrote in the model’s place, which are no steps")
UNREADABLE = translatable("lines with a message that cannot be read, passed over")
OUTSIDE = translatable("tool calls outside a message")

SYNTHETIC: Final = "<synthetic>"
NO_SESSION: Final = "no session"
_OWN_KEYS: Final = frozenset({"sessionId", "parentUuid", "leafUuid"})
_NOT_ASKED: Final = ("<command-", "<local-command-", "Caveat: ", "<bash-", "<system-reminder>")
_TITLES: Final = {"summary": "summary", "custom-title": "customTitle", "ai-title": "aiTitle"}

Line = dict[str, Any]


class ClaudeCode:
    """See the module; `Importer` states what each member promises."""

    name = "claude_code"
    title = translatable("Claude Code session (JSON Lines)")
    recognised_by = translatable("lines with “sessionId”, “uuid” and “parentUuid” around a “message”")

    def sniff(self, head: bytes) -> float:
        return max((_certainty(record) for record in samples(head)), default=0.0)

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        groups = sessions(stream, context, _session_of, lenient=True)
        return read_conversations(groups, context, _convert, format=self.name, converter=CONVERTER)


def _certainty(record: Line) -> float:
    if isinstance(record.get("loglines"), list):
        return 0.9
    kind = record.get("type")
    if not isinstance(kind, str) or "projectHash" in record:
        return 0.0
    if kind in ("user", "assistant") and isinstance(record.get("message"), dict):
        return 0.95 if _OWN_KEYS & record.keys() else 0.0
    recognised = (kind == "summary" and "leafUuid" in record) or (
        kind == "file-history-snapshot" and "snapshot" in record
    )
    return 0.9 if recognised or {"uuid", "parentUuid", "sessionId"} <= record.keys() else 0.0


def _session_of(record: Line) -> str | None:
    if isinstance(record.get("loglines"), list):
        return None
    named = isinstance(record.get("sessionId"), str)
    if record.get("type") in ("user", "assistant"):
        return record["sessionId"] if named else NO_SESSION
    return record["sessionId"] if named and "uuid" in record else ""


def _convert(piece: Any, problems: RecordProblems) -> Iterator[Conversation]:
    value = piece.value
    if isinstance(value, dict) and isinstance(value.get("loglines"), list):
        value = value["loglines"]
    if not isinstance(value, list):
        problems.add("", translatable("is not a line of a session"))
        return
    yield from session(value)


def session(events: list[Any]) -> Iterator[Conversation]:
    """The conversations of one session: the agent's own, then those of its sub-agents."""
    whole = Conversation()
    lines = _unique([event for event in events if isinstance(event, dict)], whole)
    main: list[LineTree] = []
    subs: dict[str, list[LineTree]] = {}
    for tree in trees(lines, _is_spoken, _companions):
        if all(line.get("isSidechain") for line in tree.kept):
            name = as_json(tree.kept[0].get("agentId")) or as_json(tree.kept[0].get("uuid"))
            subs.setdefault(name, []).append(tree)
        else:
            main.append(tree)
    about = _about(lines)
    if main or not subs:
        own = _conversation(main, about, whole)
        own.notes[SUB_AGENTS] += len(subs)
        own.notes = +own.notes
        yield own
    for name, held in subs.items():
        conversation = _conversation(held, about, Conversation())
        conversation.record_id = f"{about['session']}:{name}"
        conversation.hints["sub_agent_of"] = about["session"]
        yield conversation


def _unique(lines: list[Line], conversation: Conversation) -> list[Line]:
    """The lines without those that a resumed session has copied; notes what is wrong with any of them."""
    seen: dict[str, Line] = {}
    kept: list[Line] = []
    for line in lines:
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            first = seen.setdefault(uuid, line)
            if first is not line and first.get("message") == line.get("message") and _is_spoken(line):
                conversation.notes[REPEATED] += 1
                continue
        if line.get("type") in ("user", "assistant") and not _is_spoken(line):
            conversation.notes[UNREADABLE] += 1
        if line.get("type") in ("tool_use", "tool_result"):
            conversation.left_out.add(OUTSIDE)
        kept.append(line)
    boundaries = sum(line.get("subtype") == "compact_boundary" for line in kept)
    summaries = sum(bool(line.get("isCompactSummary")) for line in kept)
    if boundaries or summaries:
        conversation.notes[COMPACTIONS] = max(boundaries, summaries)
    return kept


def _is_spoken(line: Line) -> bool:
    message = line.get("message")
    return line.get("type") in ("user", "assistant") and isinstance(message, dict) and "content" in message


def _companions(way: list[Line], spoken: list[Line]) -> Callable[[Line], bool]:
    """Further blocks of a response that was kept, and results of its calls."""
    ids = strings(line["message"].get("id") for line in way if line["type"] == "assistant")
    kept = {id(line) for line in way} | {id(line) for line in spoken if _response_id(line) in ids}
    calls = strings(
        block.get("id")
        for line in spoken
        if id(line) in kept and line["type"] == "assistant"
        for block in _blocks(line, "tool_use")
    )

    def goes_along(line: Line) -> bool:
        if line["type"] == "assistant":
            return id(line) in kept
        results = _blocks(line, "tool_result")
        return bool(results) and all(as_json(block.get("tool_use_id")) in calls for block in results)

    return goes_along


def _response_id(line: Line) -> str | None:
    response_id = line["message"].get("id") if line["type"] == "assistant" else None
    return response_id if isinstance(response_id, str) else None


def _blocks(line: Line, kind: str) -> list[dict[str, Any]]:
    content = line["message"]["content"]
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict) and block.get("type") == kind]


def _about(lines: list[Line]) -> dict[str, str]:
    """Session facts in the lines, each as the first line has it."""
    about = {"session": "", "version": "", "cwd": "", "gitBranch": "", "title": ""}
    for line in lines:
        for name, key in (
            ("session", "sessionId"),
            ("version", "version"),
            ("cwd", "cwd"),
            ("gitBranch", "gitBranch"),
        ):
            if not about[name] and isinstance(line.get(key), str):
                about[name] = line[key]
        kind = line.get("type")
        if isinstance(kind, str) and kind in _TITLES and isinstance(line.get(_TITLES[kind]), str):
            about["title"] = line[_TITLES[kind]]
    return about


def _conversation(paths: list[LineTree], about: dict[str, str], conversation: Conversation) -> Conversation:
    conversation.record_id, conversation.format_version = about["session"], about["version"]
    conversation.hints.update({key: about[key] for key in ("cwd", "gitBranch", "title") if about[key]})
    thread = ConversationBuilder(conversation)
    models: dict[str, None] = {}
    for tree in paths:
        if tree.branches:
            conversation.notes[BRANCHES] += tree.branches
            conversation.notes[LOST_STEPS] += _responses(tree.dropped)
        for line in tree.kept:
            _add_line(thread, line, models)
    conversation.policy_model = next(iter(models), "")
    if len(models) > 1:
        conversation.hints["models"] = list(models)
    return conversation


def _responses(lines: list[Line]) -> int:
    """The number of responses in these lines: those of one `message.id` are one."""
    spoken = [line for line in lines if line["type"] == "assistant"]
    return len({_response_id(line) or id(line) for line in spoken})


def _add_line(thread: ConversationBuilder, line: Line, models: dict[str, None]) -> None:
    message = line["message"]
    conversation = thread.conversation
    if line["type"] == "user":
        add_user(thread, message["content"])
        if not conversation.question and not line.get("isMeta") and not line.get("isCompactSummary"):
            conversation.question = _asked(message["content"])
        return
    model = message.get("model")
    if model == SYNTHETIC or line.get("isApiErrorMessage") is True:
        conversation.notes[PROGRAM] += 1
        thread.add("system", message["content"])
        return
    if isinstance(model, str):
        models.setdefault(model)
    key = _response_id(line) or ""
    if not key:
        thread.close()
    add_response(thread, message["content"], as_json(line.get("uuid")), key, usage=message.get("usage"))


def _asked(content: Any) -> str:
    text = text_of(parts_of(content))
    return "" if text.startswith(_NOT_ASKED) else text
