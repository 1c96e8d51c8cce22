"""A trajectory's messages and what belongs to them, as far as the viewer may see them (docs/design.md, "Who
may see what")."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models.functions import Left

from annotation.core.decisions.record import kind_asked
from annotation.core.errors import NotFound
from annotation.core.i18n import translatable
from annotation.core.question import own_part
from annotation.core.text import unescape
from annotation.core.trajectories.images import Image, decode_data_uri
from annotation.core.trajectories.raw_message import message_json
from annotation.core.trajectories.tool_schema import Tool, read_tools
from annotation.core.trajectories.trajectory import Message, message_text, normalise, pair_results
from annotation.core.vocabulary import DecisionKind
from annotation.models import Task, Trajectory
from annotation.policies import FieldAccess, Viewer, field_access

COMPARED: Final = 8
"""So many questions of a subset tell which beginning they share."""
READ_OF_OTHERS: Final = 4_000
SYSTEM_ROLES: Final = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Transcript:
    """One trajectory, read.

    `results` ties a tool message's index to (calling message's index, position of the call). What the viewer
    may not see is not in here: `reference_answer` and `hints` are None without the right to see them, and so
    they are when the record has none. `kind`: of a decision, what it asks for.
    """

    messages: tuple[Message, ...]
    results: dict[int, tuple[int, int]]
    tools: list[Any]
    question: str
    task_description: Any
    reference_answer: Any
    answer_text: str | None
    hints: dict[str, Any] | None
    kind: DecisionKind = DecisionKind.PAIR

    def offered_tools(self) -> tuple[Tool, ...]:
        """The tools, from the record or else from its system prompt."""
        first = self.messages[0] if self.messages else None
        prompt = first.content if first is not None and first.role in SYSTEM_ROLES else ""
        return read_tools(self.tools, prompt)


def transcript(*, trajectory: Trajectory, access: FieldAccess) -> Transcript:
    """The transcript of a trajectory for somebody whose access to it is known. One query (none when
    preloaded).

    Raises NotFound for a viewer without any access to it.
    """
    if access.mode == "none":
        raise NotFound(translatable("This trajectory does not exist, or you may not see it."))
    return read_content(
        trajectory.content.parsed(), reference_answer=access.reference_answer, hints=access.reward_hints
    )


def own_question(trajectory: Trajectory, question: str) -> str:
    """The question without the instructions that it shares with others of its subset, of which nothing else
    is told. One query."""
    others = Task.objects.filter(subset=trajectory.subset_id).exclude(pk=trajectory.task_id).order_by("pk")
    beginnings = others.annotate(beginning=Left("question", READ_OF_OTHERS)).values_list(
        "beginning", flat=True
    )
    return own_part(question, [unescape(text) for text in beginnings[:COMPARED]])


def read_content(content: Mapping[str, Any], *, reference_answer: bool, hints: bool) -> Transcript:
    """The transcript of a stored content (core.trajectories.trajectory.TrajectoryDraft.content), with the
    reference answer
    and the hints for whoever may see them."""
    messages = normalise(content["messages"])
    return Transcript(
        messages=messages,
        results=pair_results(messages),
        tools=content.get("tools") or [],
        question=content.get("question") or "",
        task_description=content.get("task_description"),
        reference_answer=content.get("reference_answer") if reference_answer else None,
        answer_text=content.get("answer_text"),
        hints=(content.get("hints") or None) if hints else None,
        kind=kind_asked(content),
    )


def image(*, actor: Viewer, trajectory: Trajectory, message_index: int, part_index: int) -> Image:
    """One image that stands inside a message, decoded and checked.

    Raises NotFound when the message has no such image (or without access), Invalid or TooLarge when it cannot
    be shown.
    """
    messages = transcript(trajectory=trajectory, access=field_access(actor, trajectory)).messages
    return image_in(messages, message_index, part_index)


def image_in(messages: Sequence[Message], message_index: int, part_index: int) -> Image:
    """An image of these messages. Raises as `image` does."""
    if message_index < len(messages) and part_index < len(messages[message_index].parts):
        part = messages[message_index].parts[part_index]
        if part.kind == "image" and part.data is not None:
            return decode_data_uri(part.data)
    raise NotFound(translatable("There is no image here."))


@dataclass(frozen=True, slots=True)
class MessageSource:
    """One message as it came: its JSON (`exact`: letter by letter as in the record; `withheld`: without keys
    that are not for the viewer), and its text."""

    json: str
    exact: bool
    withheld: bool
    text: str


def source(*, actor: Viewer, trajectory: Trajectory, message_index: int) -> MessageSource:
    """One message exactly as it stands in the record, as far as the viewer may see it.

    Raises NotFound when there is no such message (or without access).
    """
    access = field_access(actor, trajectory)
    messages = transcript(trajectory=trajectory, access=access).messages
    if message_index >= len(messages):
        raise NotFound(translatable("There is no such message."))
    message = messages[message_index]
    record = trajectory.content.raw_bytes()
    document = message_json(record, message.raw, message_index, hints=access.reward_hints)
    return MessageSource(
        json=document.text, exact=document.exact, withheld=document.withheld, text=message_text(message.raw)
    )
