"""Who&When: failures of multi-agent systems, each with the agent and the step that decided it.

Source: Zhang et al., "Which Agent Causes Task Failures and When?" (arXiv 2505.00212). A record is one failed
run. Its `role` is not a chat's: in the generated half the agents speak as `user` and the manager's task as
`assistant`; in the hand-made half the role is the speaker. Message indexes are those of `history`, which
`mistake_step` counts; that step is the only one that has a label.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from annotation.core.i18n import translatable
from annotation.core.jsonio.json_layout import json_head
from annotation.core.jsonio.jsonlines import RecordError, read_records
from annotation.core.trajectories.trajectory import TrajectoryDraft

from ..base import ReadContext
from ..conversion import Conversation, SourceLabel
from ..drafts import SourceRecord, read_conversations
from ..parts.message_parts import as_object, as_text
from ..records import RecordProblems

CONVERTER: Final = 1

NO_SUCH_STEP: Final = translatable("mistake steps that are no step of the history, left out")
_TERMINAL: Final = "computer_terminal"
_HUMAN: Final = frozenset({"human", "user"})
_OUTCOMES: Final = ("is_correct", "is_corrected")
_FIELDS: Final = frozenset(
    {"history", "question", "question_ID", "ground_truth", "groundtruth", "mistake_agent", "mistake_step"}
) | {"mistake_reason", *_OUTCOMES}


class WhoAndWhen:
    """See the module; `Importer` states what each member promises."""

    name = "who_and_when"
    title = translatable("Who&When (failures of multi-agent systems)")
    recognised_by = translatable("“history” beside “mistake_agent” and “mistake_step”")

    def sniff(self, head: bytes) -> float:
        keys = json_head(head).keys
        if "history" in keys and keys & {"mistake_agent", "mistake_step"}:
            return 1.0
        # a long history may hide what stands after it
        likely = (
            "history" in keys and keys & {"is_correct", "is_corrected"} and keys & {"question_ID", "level"}
        )
        return 0.8 if likely else 0.0

    def read(self, stream: BinaryIO, context: ReadContext) -> Iterator[TrajectoryDraft | RecordError]:
        records = read_records(stream, filename=context.filename, max_record_bytes=context.max_record_bytes)
        return read_conversations(records, context, _convert, format=self.name, converter=CONVERTER)


def _convert(piece: SourceRecord, problems: RecordProblems) -> list[Conversation]:
    value = piece.value
    if not isinstance(value, dict) or not isinstance(value.get("history"), list):
        problems.add("history", translatable("must be a list of messages"))
        return []
    prompts = as_object(value.get("system_prompt"))
    messages = [_message(entry, prompts) for entry in value["history"]]
    steps = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    question_id = as_text(value.get("question_ID"))
    conversation = Conversation(
        messages=messages,
        source_steps={index: str(index) for index in steps},
        record_id=question_id,
        task_key=question_id,
        question=as_text(value.get("question")),
        reference_answer=value.get("ground_truth", value.get("groundtruth")),
        hints={key: held for key, held in value.items() if key not in _FIELDS},
    )
    _take_labels(value, steps, conversation)
    return [conversation]


def _message(entry: Any, prompts: dict[str, Any]) -> dict[str, Any]:
    """One entry of the history: an agent's is a step, the terminal's a result, a person's the user's."""
    entry = entry if isinstance(entry, dict) else {"content": entry}
    role, name = as_text(entry.get("role")), as_text(entry.get("name"))
    speaker = name or role
    content = entry.get("content")
    message = {
        "role": "assistant",
        "content": content if isinstance(content, str | list) else as_text(content),
    }
    if speaker.lower() == _TERMINAL:
        message["role"] = "tool"
    elif not speaker or (speaker.lower() in _HUMAN and speaker not in prompts):
        message["role"] = "user"
    if speaker and message["role"] != "user":
        message["name"] = speaker
    return message


def _take_labels(value: dict[str, Any], steps: list[int], conversation: Conversation) -> None:
    number = as_text(value.get("mistake_step")).strip()
    reason = as_text(value.get("mistake_reason"))
    if number:
        if number.isascii() and number.isdecimal() and len(number) < 10 and int(number) in steps:
            conversation.labels.append(SourceLabel(int(number), "mistake_step", -1, reason))
        else:
            conversation.notes[NO_SUCH_STEP] += 1
    if value.get("mistake_agent"):
        conversation.labels.append(SourceLabel(None, "mistake_agent", as_text(value["mistake_agent"])))
    outcome = next((value[key] for key in _OUTCOMES if isinstance(value.get(key), bool)), None)
    if outcome is not None:
        conversation.labels.append(SourceLabel(None, "is_correct", outcome))
