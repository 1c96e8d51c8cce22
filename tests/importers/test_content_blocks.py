"""Blocks of content as parts: whatever they hold, and what is kept of them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core.trajectories.trajectory import normalise
from annotation.importers.conversion import Conversation
from annotation.importers.parts.claude import add_response, add_user
from annotation.importers.parts.content_blocks import content_of, parts_of, text_of
from annotation.importers.parts.conversation_builder import ConversationBuilder
from annotation.importers.parts.response_items import CALLS, OUTPUTS, add_item
from annotation.importers.traces.langchain_messages import add_messages
from tests.strategies import ANY_JSON

NAMES = {
    "text",
    "image",
    "document",
    "tool_use",
    "tool_result",
    "thinking",
    "constructor",
    "ai",
    "AIMessageChunk",
}
KINDS = st.sampled_from(sorted(NAMES | CALLS | OUTPUTS))
KEYS = [
    "args", "call_id", "content", "data", "id", "image_url", "input", "kwargs", "name", "output", "results",
    "role", "source", "summary", "text", "thinking", "tool_call_chunks", "tool_calls", "tool_use_id",
]  # fmt: skip
BLOCK = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    KINDS,
    st.dictionaries(st.sampled_from(KEYS), ANY_JSON, max_size=4),
)


@given(st.lists(BLOCK | ANY_JSON, max_size=4), ANY_JSON)
@settings(max_examples=60)
def test_blocks_of_any_json_become_messages_that_can_be_shown(blocks: list[Any], content: Any) -> None:
    thread = ConversationBuilder(Conversation())
    add_response(thread, blocks, "a")
    add_user(thread, blocks)
    add_user(thread, content)
    add_messages(thread, [*blocks, content])
    for block in blocks:
        if isinstance(block, dict):
            add_item(thread, block, "b")
    messages = thread.conversation.messages
    assert {message["role"] for message in messages} >= {"assistant"}
    assert len(normalise(messages)) == len(messages)
    assert isinstance(text_of(parts_of(blocks)), str)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ({"type": "text", "text": ["no text"]}, [{"type": "text", "text": ["no text"]}]),
        ("", []),
        (7, "7"),
        ([{"type": "text", "text": "a"}], "a"),
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, None),
        (
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a"}},
            [{"type": "image_url", "image_url": {"url": "https://example.org/a"}}],
        ),
        (
            {"type": "image", "image_urls": ["https://example.org/a", "data:image/png;base64,AA"]},
            [
                {"type": "image_url", "image_url": {"url": "https://example.org/a"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
            ],
        ),
        ({"type": "fallback", "signature": "s", "from": "m"}, [{"type": "fallback", "from": "m"}]),
    ],
)
def test_block_becomes_the_parts_of_a_chat_or_stays_what_it_is(content: Any, parts: Any) -> None:
    wanted = [content] if parts is None else parts
    assert content_of(parts_of(content)) == (wanted or "")


def test_response_split_over_pieces_with_results_between_them_is_one_step() -> None:
    thread = ConversationBuilder(Conversation())
    thread.add("user", "Q")
    thread.respond("a", "r1").call("c1", "f", {"x": 1})
    thread.result("c1", "one", failed=True)
    thread.respond("b", "r1").call("c2", "f", "{}")
    thread.result("c2", "two")
    thread.respond("c", "r2").say("Done.")
    thread.add("user", "Again")
    thread.respond("d", "r2").say("Anew.")
    roles = [message["role"] for message in thread.conversation.messages]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    assert thread.conversation.source_steps == {1: "a", 4: "c", 6: "d"}
    assert [call["id"] for call in thread.conversation.messages[1]["tool_calls"]] == ["c1", "c2"]
    assert thread.conversation.messages[2]["is_error"] is True
