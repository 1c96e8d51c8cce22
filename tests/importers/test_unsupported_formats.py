"""Logs of formats that are not read are refused by their names, and plain chats are not taken for them."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.core.errors import Invalid
from annotation.importers import HEAD_BYTES, sniff

from .reading import CHAT


def refusal(data: bytes) -> str:
    with pytest.raises(Invalid) as caught:
        sniff(data[:HEAD_BYTES])
    assert caught.value.code == "unknown_format"
    return caught.value.message.removesuffix(", a format that Tristep does not read.")


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        ({"sessionId": "s", "projectHash": "h", "messages": [{"type": "gemini"}]}, "a session of Gemini CLI"),
        ([{"role": "model", "parts": [{"text": "Hi."}]}], "a request of the Gemini API"),
        ({"contents": [{"role": "user", "parts": []}]}, "a request of the Gemini API"),
        ({"events": [{"author": "user"}]}, "a session or an evaluation of Google’s ADK"),
        ({"mode": "create", "messages": [{"type": "UserMessage", "content": "Q"}]}, "a log of AutoGen"),
        ([{"type": "ToolCallRequestEvent", "source": "a", "content": []}], "a log of AutoGen"),
        ({"step_number": 1, "model_output": "x"}, "the memory of a smolagents agent"),
        ([{"kind": "request", "parts": []}], "a history of Pydantic AI"),
        ({"id": "a", "result": [], "latency": 1}, "a file of BFCL"),
        ({"goal": "g", "steps": [], "summary_info": {}}, "a trajectory of AgentRewardBench"),
        ({"op_name": "o", "trace_id": "t", "inputs": {}}, "a log of Weave"),
    ],
)
def test_log_of_a_format_that_is_not_read_is_refused_by_its_name(record: Any, kind: str) -> None:
    assert refusal(json.dumps(record).encode()) == f"This is {kind}"
    assert refusal(json.dumps(record, indent=1).encode()) == f"This is {kind}"


@pytest.mark.parametrize(
    "record",
    [
        CHAT,
        {"messages": CHAT, "projectHash": "h", "goal": "g"},
        {"messages": [{**message, "type": "UserMessage"} for message in CHAT]},
        {"messages": CHAT, "events": [], "kind": "request", "result": 1},
    ],
)
def test_plain_chat_with_marks_of_others_stays_a_chat(record: Any) -> None:
    assert sniff(json.dumps(record).encode()).name == "openai_chat"


@pytest.mark.published
@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("adk", "a session or an evaluation of Google’s ADK"),
        ("autogen", "a log of AutoGen"),
        ("gemini", "a session of Gemini CLI"),
        ("pydantic_ai", "a history of Pydantic AI"),
        ("smolagents", "the memory of a smolagents agent"),
        ("tooltalk", "a conversation of ToolTalk"),
    ],
)
def test_samples_that_are_not_read_are_refused_by_their_names(
    published: Path, folder: str, kind: str
) -> None:
    paths = sorted((published / "formats" / folder).iterdir())
    assert paths
    assert {refusal(path.read_bytes()) for path in paths} == {f"This is {kind}"}
