"""MLflow and Phoenix as small local servers: their answers have the shape that the real ones gave (MLflow
3.17.2, Phoenix 20.26.1), as far as connections ask. `tests/connections/real.py` has the real ones."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tests.outside.strange_server import Seen, StrangeServer, strange_server

KEY = "canary-connection-8Kq1-xW"


def hex_id(*parts: object, digits: int) -> str:
    """An id that depends on nothing but its parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:digits]


class Side(Protocol):
    """A server with traces of an agent that looks something up and answers: two calls of a model each."""

    kind: str
    url: str
    source: str
    key: str

    def log(self, *numbers: int) -> list[str]:
        """Log the traces of these numbers; their ids."""

    def spans(self, trace_id: str) -> list[str]:
        """The ids of the two calls of the model, in order."""

    def labels(self) -> dict[tuple[str, str], list[float]]:
        """The values of all labels there, by trace and span ("" for the trace)."""

    def lose(self, trace_id: str, span: str) -> None:
        """Lose a span of a trace."""

    def clear(self) -> None:
        """Lose all labels."""


def told(number: int, answer: str) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
    """The messages that an agent begins with, its call of a tool, and its answer."""
    asked = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"What is {number} + {number}?"},
    ]
    function = {"name": "search", "arguments": json.dumps({"q": f"{number} + {number}"})}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }
    return asked, call, {"role": "assistant", "content": answer}


class FakeMLflow:
    """See `Side`."""

    kind = "mlflow"
    source = "demo"
    key = KEY

    def __init__(self) -> None:
        self.traces: dict[str, dict[str, Any]] = {}
        self.server: StrangeServer | None = None
        self.repeats = False
        self.numbers = 0

    @property
    def url(self) -> str:
        assert self.server is not None
        return self.server.url

    def log(self, *numbers: int, answer: str = "", state: str = "OK") -> list[str]:
        return [self._log(number, answer or f"It is {2 * number}.", state) for number in numbers]

    def _log(self, number: int, answer: str, state: str) -> str:
        trace_id = f"tr-{hex_id('trace', number, digits=32)}"
        asked, call, said = told(number, answer)
        result = {"role": "tool", "tool_call_id": f"c{number}", "content": str(2 * number)}
        root, first, tool, last = (hex_id(number, part, digits=16) for part in range(4))
        spans = [
            self._span(trace_id, root, "", "agent", "AGENT", asked[1]["content"], answer, 0),
            self._span(trace_id, first, root, "llm", "CHAT_MODEL", _request(asked), _choice(call), 1),
            self._span(
                trace_id, tool, root, "search", "TOOL", {"q": f"{number} + {number}"}, str(2 * number), 2
            ),
            self._span(
                trace_id, last, root, "llm", "CHAT_MODEL", _request([*asked, call, result]), _choice(said), 3
            ),
        ]
        info = {
            "trace_id": trace_id,
            "state": state,
            "trace_metadata": {"mlflow.trace_schema.version": "3"},
            "tags": {"mlflow.trace.spansLocation": "TRACKING_STORE"},
        }
        held = self.traces.get(trace_id, {"assessments": {}})["assessments"]
        self.traces[trace_id] = {"info": info, "spans": spans, "assessments": held}
        return trace_id

    def _span(
        self, trace: str, span: str, parent: str, name: str, kind: str, given: Any, got: Any, at: int
    ) -> dict[str, Any]:
        attributes = {
            "mlflow.traceRequestId": trace,
            "mlflow.spanType": kind,
            "mlflow.spanInputs": given,
            "mlflow.spanOutputs": got,
        }
        record = {
            "trace_id": _base64(trace.removeprefix("tr-")),
            "span_id": _base64(span),
            "name": name,
            "start_time_unix_nano": 1_795_813_337_000_000_000 + at * 1000,
            "end_time_unix_nano": 1_795_813_337_000_000_500 + at * 1000,
            "attributes": [{"key": key, "value": _any(value)} for key, value in attributes.items()],
            "status": {"code": "STATUS_CODE_OK"},
        }
        return record | ({"parent_span_id": _base64(parent)} if parent else {})

    def spans(self, trace_id: str) -> list[str]:
        spans = self.traces[trace_id]["spans"]
        return [base64.b64decode(span["span_id"]).hex() for span in spans if span["name"] == "llm"]

    def labels(self) -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        for trace_id, trace in self.traces.items():
            for one in trace["assessments"].values():
                found.setdefault((trace_id, one.get("span_id", "")), []).append(one["feedback"]["value"])
        return found

    def lose(self, trace_id: str, span: str) -> None:
        trace = self.traces[trace_id]
        trace["spans"] = [one for one in trace["spans"] if base64.b64decode(one["span_id"]).hex() != span]

    def clear(self) -> None:
        for trace in self.traces.values():
            trace["assessments"].clear()

    def answer(self, seen: Seen) -> tuple[int, Any]:
        parts = seen.path.strip("/").split("/")
        if parts[-1] == "get-by-name":
            if seen.query["experiment_name"] == [self.source]:
                return 200, {"experiment": {"experiment_id": "1", "lifecycle_stage": "active"}}
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST"}
        if parts[-1] == "search":
            return self._search(seen.body)
        if parts[-1] == "batchGet":
            found = [self.traces[one] for one in seen.query["trace_ids"] if one in self.traces]
            return 200, {
                "traces": [{"trace_info": self._info(trace), "spans": trace["spans"]} for trace in found]
            }
        trace = self.traces.get(parts[4]) if len(parts) > 4 else None
        if trace is None:
            return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST"}
        if len(parts) == 5:
            return 200, {"trace": {"trace_info": self._info(trace)}}
        held = trace["assessments"]
        if seen.method == "POST":
            self.numbers += 1
            made = {**seen.body["assessment"], "assessment_id": f"a-{self.numbers}", "valid": True}
            held[made["assessment_id"]] = made
            return 200, {"assessment": made}
        if seen.method == "DELETE":
            held.pop(parts[6], None)
            return 200, {}
        mask = seen.body["update_mask"].split(",")
        held[parts[6]].update({name: seen.body["assessment"][name] for name in mask})
        return 200, {"assessment": held[parts[6]]}

    def _info(self, trace: dict[str, Any]) -> dict[str, Any]:
        return {**trace["info"], "assessments": list(trace["assessments"].values())}

    def _search(self, body: dict[str, Any]) -> tuple[int, Any]:
        if "nonsense" in body.get("filter", ""):
            return 400, {"error_code": "INVALID_PARAMETER_VALUE"}
        start = int(body.get("page_token") or 0)
        infos = [self._info(trace) for trace in self.traces.values()]
        size = min(body["max_results"], 4)
        found: dict[str, Any] = {"traces": infos[start : start + size]}
        if self.repeats:
            found["next_page_token"] = "4"
        elif start + size < len(infos):
            found["next_page_token"] = str(start + size)
        return 200, found


class FakePhoenix:
    """See `Side`."""

    kind = "phoenix"
    source = "demo"
    key = KEY

    def __init__(self) -> None:
        self.held: list[dict[str, Any]] = []
        self.notes: dict[str, dict[tuple[str, str, str], dict[str, Any]]] = {"span": {}, "trace": {}}
        self.server: StrangeServer | None = None
        self.repeats = False

    @property
    def url(self) -> str:
        assert self.server is not None
        return self.server.url

    def log(self, *numbers: int, answer: str = "") -> list[str]:
        return [self._log(number, answer or f"It is {2 * number}.") for number in numbers]

    def _log(self, number: int, answer: str) -> str:
        spans = phoenix_spans(number, answer)
        trace_id: str = spans[0]["context"]["trace_id"]
        self.held = [span for span in self.held if span["context"]["trace_id"] != trace_id] + spans
        return trace_id

    def spans(self, trace_id: str) -> list[str]:
        mine = [span for span in self.held if span["context"]["trace_id"] == trace_id]
        return [span["context"]["span_id"] for span in mine if span["span_kind"] == "LLM"]

    def labels(self) -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        trace_of = {span["context"]["span_id"]: span["context"]["trace_id"] for span in self.held}
        for (at, _, _), one in self.notes["span"].items():
            found.setdefault((trace_of[at], at), []).append(one["result"]["score"])
        for (at, _, _), one in self.notes["trace"].items():
            found.setdefault((at, ""), []).append(one["result"]["score"])
        return found

    def lose(self, trace_id: str, span: str) -> None:
        self.held = [one for one in self.held if one["context"]["span_id"] != span]

    def clear(self) -> None:
        for notes in self.notes.values():
            notes.clear()

    def answer(self, seen: Seen) -> tuple[int, Any]:
        parts = seen.path.strip("/").split("/")
        if parts[1] == "projects" and parts[2] != self.source:
            return 404, "Project not found"
        if len(parts) == 3:
            return 200, {"data": {"name": self.source}}
        if parts[-1] == "spans":
            return self._page(seen)
        kind = "trace" if "trace" in parts[-1] else "span"
        notes = self.notes[kind]
        if seen.method == "POST":
            known = {span["context"][f"{kind}_id"] for span in self.held}
            for one in seen.body["data"]:
                if one[f"{kind}_id"] not in known:
                    return 404, "Spans do not exist."
                notes[one[f"{kind}_id"], one["name"], one["identifier"]] = one
            return 200, {"data": []}
        if seen.method == "DELETE":
            drop = (seen.query["name"][0], seen.query["identifier"][0])
            for key in [key for key in notes if key[1:] == drop]:
                del notes[key]
            return 200, None
        wanted = set(seen.query[f"{kind}_ids"])
        return 200, {"data": [one for key, one in notes.items() if key[0] in wanted], "next_cursor": None}

    def _page(self, seen: Seen) -> tuple[int, Any]:
        start = int(seen.query.get("cursor", ["0"])[0])
        newest_first = self.held[::-1]
        found: dict[str, Any] = {"data": newest_first[start : start + 3], "next_cursor": None}
        if self.repeats:
            found["next_cursor"] = "3"
        elif start + 3 < len(newest_first):
            found["next_cursor"] = str(start + 3)
        return 200, found


def phoenix_spans(number: int, answer: str = "") -> list[dict[str, Any]]:
    """The spans of a trace as Phoenix takes and gives them."""
    trace_id = hex_id("trace", number, digits=32)
    asked, call, said = told(number, answer or f"It is {2 * number}.")
    root, first, tool, last = (hex_id(number, part, digits=16) for part in range(4))
    result = {"role": "tool", "tool_call_id": f"c{number}", "content": str(2 * number)}

    def span(
        at: int, span_id: str, parent: str | None, kind: str, attributes: dict[str, Any]
    ) -> dict[str, Any]:
        return {
            "name": kind.lower() if kind != "TOOL" else "search",
            "context": {"trace_id": trace_id, "span_id": span_id},
            "span_kind": kind,
            "parent_id": parent,
            "start_time": f"2026-11-27T12:00:{at:02d}+00:00",
            "end_time": f"2026-11-27T12:00:{at + 1:02d}+00:00",
            "status_code": "OK",
            "status_message": "",
            "attributes": attributes,
            "events": [],
        }

    return [
        span(0, root, None, "AGENT", {"input.value": asked[1]["content"]}),
        span(1, first, root, "LLM", _flat("input", asked) | _flat("output", [call])),
        span(3, tool, root, "TOOL", {"tool.name": "search", "output.value": str(2 * number)}),
        span(5, last, root, "LLM", _flat("input", [*asked, call, result]) | _flat("output", [said])),
    ]


def _flat(side: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Messages as OpenInference flattens them."""
    flat: dict[str, Any] = {"llm.model_name": "tiny-1"}
    for index, message in enumerate(messages):
        at = f"llm.{side}_messages.{index}.message"
        flat |= {f"{at}.{key}": message[key] for key in ("role", "tool_call_id") if key in message}
        if message["content"] is not None:
            flat[f"{at}.content"] = message["content"]
        for number, call in enumerate(message.get("tool_calls", ())):
            flat[f"{at}.tool_calls.{number}.tool_call.id"] = call["id"]
            for key, value in call["function"].items():
                flat[f"{at}.tool_calls.{number}.tool_call.function.{key}"] = value
    return flat


def _request(messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"model": "tiny-1", "messages": messages}


def _choice(message: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"message": message}]}


def _base64(digits: str) -> str:
    return base64.b64encode(bytes.fromhex(digits)).decode()


def _any(value: Any) -> dict[str, Any]:
    """A value as the JSON of OpenTelemetry's protocol, with names as MLflow writes them."""
    if isinstance(value, dict):
        return {"kvlist_value": {"values": [{"key": k, "value": _any(v)} for k, v in value.items()]}}
    if isinstance(value, list):
        return {"array_value": {"values": [_any(item) for item in value]}}
    if value is None:
        return {}
    return {"int_value": value} if isinstance(value, int) else {"string_value": value}


@contextmanager
def fake(side: Any) -> Iterator[Any]:
    """A fake server that runs as long as the block."""
    with strange_server(side.answer) as server:
        side.server = server
        yield side
