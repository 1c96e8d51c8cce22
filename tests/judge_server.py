"""A real HTTP server that speaks chat completions, and misbehaves as it is told.

    with JudgeServer() as server:
        server.behave("my-model", "http_500", "ok")  # the nth call about one trajectory; the last one stays
        … base_url=server.url, model="my-model" …
        assert server.calls["my-model", "record 7"] == 2

A model whose name is a behaviour, or several joined by "+" ("http_500+ok"), needs no telling; any other name
behaves as "ok". `calls` counts requests by (model, key), `paid` the complete answers among them: the key is
what stands in [[id:…]] in the prompt, else the beginning of the user message's sha256. As a process of its
own: `python -m tests.judge_server --delay 0.2` prints its address; GET /v1/stats answers the counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tests.judge_misbehaviours import ALL, Writer, ok

LABELS = Callable[[str, Sequence[Any]], dict[Any, Any]]
ACTIONS = Callable[["Call"], Any]
_ACTION = re.compile(r"^<<<(\w{8}) action \d+>>>\n(.*?)\n<<<\1 end>>>$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Call:
    """One request as it came in. `number` counts those of the same model and key, from 1."""

    model: str
    key: str
    number: int
    steps: tuple[int, ...]
    body: dict[str, Any]
    headers: dict[str, str]
    actions: tuple[str, ...] = ()
    """The texts of a decision's options, in the order in which they are shown; `steps` numbers them."""
    kinds: tuple[str, ...] = ()
    """Of a call for distractors, the kinds of them that are asked for."""
    at: float = field(default_factory=time.monotonic)
    """When it came, in seconds of this machine's monotonic clock."""


@dataclass
class JudgeServer:
    """See above. `delay`: seconds before every answer; `peak`: most calls at once; `bodies`: keep them;
    `cut`: the bytes of an answer that "cut_at" sends."""

    delay: float = 0.0
    port: int = 0
    retry_after: str = "1"
    cut: int = 0
    bodies: bool = True
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    paid: Counter[tuple[str, str]] = field(default_factory=Counter)
    seen: list[Call] = field(default_factory=list)
    peak: int = 0
    _open: int = 0
    _scripts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _labels: dict[str, LABELS] = field(default_factory=dict)
    _written: dict[str, ACTIONS] = field(default_factory=dict)
    _told: dict[str, Callable[[Call], str]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def behave(self, model: str, *behaviours: str) -> None:
        """Set the answers to the nth call about one trajectory; the last behaviour holds from there on."""
        assert behaviours and not set(behaviours) - ALL.keys(), behaviours
        self._scripts[model] = behaviours

    def label(self, model: str, labels: LABELS) -> None:
        """Set the labels by `model`: (key, step indexes) → labels by index. Else every step is +1.

        Of a decision it is (key, texts of the actions as they are shown) → labels by text.
        """
        self._labels[model] = labels

    def write(self, model: str, actions: ACTIONS) -> None:
        """Set the distractors by `model`: the call → its answer as JSON. Else it writes four answers."""
        self._written[model] = actions

    def written_for(self, call: Call) -> Any:
        """The answer to a `call` for distractors."""
        written = self._written.get(call.model)
        texts = (f"Perhaps it is {call.key} {number}." for number in range(4))
        return written(call) if written else {"actions": [{"text": text, "calls": []} for text in texts]}

    def tell(self, model: str, texts: Callable[[Call], str]) -> None:
        """Set the texts by `model` that answer prompts which ask for nothing else. Else it is "A)"."""
        self._told[model] = texts

    def told_for(self, call: Call) -> str:
        """The text that answers a `call` for one."""
        told = self._told.get(call.model)
        return told(call) if told else "A)"

    def labels_for(self, call: Call) -> dict[int, Any]:
        """The labels in the answer to `call`."""
        chosen = self._labels.get(call.model)
        if chosen and call.actions:
            by_text = chosen(call.key, call.actions)
            return {number: by_text[text] for number, text in enumerate(call.actions, 1)}
        return chosen(call.key, call.steps) if chosen else dict.fromkeys(call.steps, 1)

    def reset(self) -> None:
        """Forget all calls; the behaviours stay."""
        self.calls.clear()
        self.paid.clear()
        self.seen.clear()
        self.peak = 0

    @property
    def total(self) -> int:
        """All calls."""
        return sum(self.calls.values())

    # ── life ──
    def __enter__(self) -> Self:
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    def _run(self, started: threading.Event) -> None:
        asyncio.run(self.serve(started.set))

    async def serve(self, ready: Callable[[], None]) -> None:
        """Serve until told to stop; `ready` is called once the port is known."""
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        ready()
        await self._stopping.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    # ── HTTP ──
    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read_request(reader)) is not None:
                self._open += 1
                self.peak = max(self.peak, self._open)
                try:
                    await self._answer(*request, writer)
                    await writer.drain()
                finally:
                    self._open -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            with contextlib.suppress(Exception):
                writer.close()

    async def _answer(
        self, line: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter
    ) -> None:
        reply = Writer(writer)
        method, path, _ = line.split(" ", 2)
        if method == "GET" and path == "/v1/stats":
            counts = {
                name: [[*key, n] for key, n in counter.items()]
                for name, counter in (("calls", self.calls), ("paid", self.paid))
            }
            return await reply.json(200, {**counts, "peak": self.peak})
        if method != "POST" or path != "/v1/chat/completions":
            return await reply.json(404, {"error": {"message": "Not Found", "code": None}})
        call = self._call(json.loads(body), headers)
        script = self._scripts.get(call.model) or tuple(call.model.split("+"))
        name = script[min(call.number, len(script)) - 1]
        if self.delay:
            await asyncio.sleep(self.delay)
        reply.charge = lambda: self.paid.update([(call.model, call.key)])
        await ALL.get(name, ok)(self, call, reply)

    def _call(self, body: dict[str, Any], headers: dict[str, str]) -> Call:
        user = body["messages"][-1]["content"]
        marked = re.search(r"\[\[id:([^\]]*)\]\]", user)
        key = marked.group(1) if marked else hashlib.sha256(user.encode()).hexdigest()[:16]
        found = re.findall(r"^(Step indexes|Actions|Kinds): \[([\w, ]*)\]$", user, re.MULTILINE)
        name, listed = found[-1] if found else ("Kinds", "")  # a prompt that asks for a text
        named = tuple(listed.split(", ")) if found else ()
        kinds, steps = (named, ()) if name == "Kinds" else ((), tuple(int(index) for index in named))
        model = body["model"]
        self.calls[model, key] += 1
        kept = body if self.bodies else {}
        actions = tuple(text for _mark, text in _ACTION.findall(user))
        call = Call(model, key, self.calls[model, key], steps, kept, headers, actions, kinds)
        self.seen.append(call)
        return call


async def _read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes] | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = {}
    for line in head[1:]:
        name, _, value = line.partition(":")
        if name:
            headers[name.lower()] = value.strip()
    return head[0], headers, await reader.readexactly(int(headers.get("content-length", 0)))


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description="A chat-completions server for tests.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay", type=float, default=0.0)
    options = parser.parse_args()
    server = JudgeServer(delay=options.delay, port=options.port, bodies=False)
    asyncio.run(server.serve(lambda: print(server.url, flush=True)))


if __name__ == "__main__":
    main()
