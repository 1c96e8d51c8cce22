"""Misbehaviours of `tests.judge_server`: one coroutine each, by name in `ALL`.

Each writes a whole reply, or as much of one as its name says, and charges for a complete answer, as a real
server would. Here are the answers; refusals and broken replies are next door.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

SLOW = 2.0
MEGABYTE = 1024 * 1024


class Writer:
    """Writes replies on a connection that is kept alive."""

    def __init__(self, stream: asyncio.StreamWriter) -> None:
        self.stream = stream
        self.charge: Callable[[], None] = lambda: None

    def head(self, status: int, headers: dict[str, str]) -> None:
        """The status line and headers."""
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.stream.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    async def body(self, status: int, kind: str, body: bytes, **headers: str) -> None:
        """A complete reply."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.head(status, {"Content-Type": kind, "Content-Length": str(len(body)), **named})
        self.stream.write(body)
        await self.stream.drain()

    async def json(self, status: int, value: Any, **headers: str) -> None:
        """A complete JSON reply."""
        await self.body(status, "application/json", json.dumps(value).encode(), **headers)

    def reset(self) -> None:
        """Close the connection with a TCP reset."""
        self.stream.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )
        self.stream.transport.abort()


Behaviour = Callable[[Any, Any, Writer], Awaitable[None]]
ALL: dict[str, Behaviour] = {}


def behaviour(does: Behaviour) -> Behaviour:
    """Enter into `ALL` under its name."""
    ALL[does.__name__] = does
    return does


def judgement(labels: dict[int, Any], outcome: Any = 1) -> dict[str, Any]:
    """The answer that the prompt asks for."""
    return {
        "steps": [
            {"index": i, "reasoning": f"What step {i} does.", "label": label, "reason": f"Because of {i}."}
            for i, label in labels.items()
        ],
        "outcome": {"reasoning": "The end.", "label": outcome, "reason": "It ended so."},
    }


def actions(labels: dict[int, Any]) -> dict[str, Any]:
    """The answer that the prompt of decisions asks for."""
    return {
        "actions": [
            {"index": number, "reasoning": f"What action {number} does.", "label": label}
            for number, label in labels.items()
        ]
    }


def completion(call: Any, content: Any, finish_reason: str = "stop") -> dict[str, Any]:
    """A chat completion around an answer."""
    message = {"role": "assistant", "content": content, "refusal": None}
    return {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "model": call.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
    }


async def said(call: Any, reply: Writer, content: Any, finish_reason: str = "stop") -> None:
    """Answer with a completion."""
    reply.charge()
    await reply.json(200, completion(call, content, finish_reason))


def good(server: Any, call: Any) -> str:
    """The right answer, as JSON."""
    if call.kinds:
        return json.dumps(server.written_for(call))
    if not call.steps:
        return str(server.told_for(call))
    labels = server.labels_for(call)
    return json.dumps(actions(labels) if call.actions else judgement(labels))


# ── answers ──
@behaviour
async def ok(server: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, good(server, call))


@behaviour
async def slow(server: Any, call: Any, reply: Writer) -> None:
    await asyncio.sleep(SLOW)
    return await ok(server, call, reply)


@behaviour
async def comments(server: Any, call: Any, reply: Writer) -> None:
    text = (
        good(server, call).replace('"steps": [', '// the "steps"\n"steps": [').replace("}]", "}, /* all */]")
    )
    return await said(call, reply, f"```json\n{text}\n```")


@behaviour
async def reasoning(server: Any, call: Any, reply: Writer) -> None:
    draft = json.dumps(judgement(dict.fromkeys(call.steps, -1), -1))
    return await said(
        call, reply, f"<think>A {{first}} idea: {draft} no.</think>\n{good(server, call)}\nDone."
    )


@behaviour
async def parts(server: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, [{"type": "text", "text": good(server, call)}])


@behaviour
async def strings(server: Any, call: Any, reply: Writer) -> None:
    labels = {index: f"{label:+d}" if label else "0" for index, label in server.labels_for(call).items()}
    return await said(call, reply, json.dumps(judgement(labels, "+1")))


@behaviour
async def words(_: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, json.dumps(judgement(dict.fromkeys(call.steps, "good"))))


@behaviour
async def shifted(server: Any, call: Any, reply: Writer) -> None:
    labels = {index + 1: label for index, label in server.labels_for(call).items()}
    return await said(call, reply, json.dumps(judgement(labels)))


@behaviour
async def other_steps(_: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, json.dumps(judgement({9001: 1, 9003: -1})))


@behaviour
async def one_missing(server: Any, call: Any, reply: Writer) -> None:
    labels = server.labels_for(call)
    labels.pop(call.steps[-1])
    return await said(call, reply, json.dumps(judgement(labels)))


@behaviour
async def truncated(server: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, good(server, call)[:30], "length")  # before the first label


@behaviour
async def cut_at(server: Any, call: Any, reply: Writer) -> None:
    data = good(server, call).encode()[: server.cut]
    return await said(call, reply, data.decode(errors="ignore"), "length")


@behaviour
async def limited(server: Any, call: Any, reply: Writer) -> None:
    """Allows 1,000 answer tokens, in the words of a commercial server."""
    if (asked := call.body["max_tokens"]) > 1_000:
        words = f"max_tokens is too large: {asked}. This model supports at most 1000 completion tokens, "
        error = {"message": f"{words}whereas you provided {asked}.", "type": "invalid_request_error"}
        return await reply.json(400, {"error": {**error, "param": "max_tokens", "code": "invalid_value"}})
    return await ok(server, call, reply)


@behaviour
async def prose(_: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, "All steps look fine to me.")


@behaviour
async def null_content(_: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, None)


@behaviour
async def filtered(_: Any, call: Any, reply: Writer) -> None:
    return await said(call, reply, "", "content_filter")


@behaviour
async def no_usage(server: Any, call: Any, reply: Writer) -> None:
    value = completion(call, good(server, call))
    del value["usage"]
    reply.charge()
    await reply.json(200, value)


@behaviour
async def no_choices(_: Any, call: Any, reply: Writer) -> None:
    await reply.json(200, {**completion(call, ""), "choices": []})


@behaviour
async def echo_key(server: Any, call: Any, reply: Writer) -> None:
    key = call.headers.get("authorization", "").removeprefix("Bearer ")
    value = judgement(server.labels_for(call))
    value["steps"][0]["reason"] = f"Your key is {key}"
    escaped = "".join(f"\\u{ord(char):04x}" for char in key)
    text = json.dumps(value).replace("It ended so.", f"Or {escaped}")
    reply.charge()
    await reply.json(200, completion(call, f"{key} {text}"), X_Echo=key)
