"""Langfuse and LangSmith as small local servers. Both are closed here, so their answers are written from what
they document, as far as connections ask; each field is named where its source stands.

Langfuse: `fern/apis/server/definition/` of langfuse/langfuse at 4.16.0, from which its OpenAPI document is
made: `projects.yml`, `trace.yml`, `observations.yml`, `scores.yml`, `scores-v3.yml`, `legacy/score-v1.yml`,
`score-configs.yml`, `commons.yml`, `utils/pagination.yml`. That version 4 answers 404 where version 3 has
traces, and version 3 where version 4 has observations, is in `web/src/pages/api/public/`; how scores are
known is in its documentation (tracing-data-updates) and in the migration `0003_scores.up.sql`.

LangSmith: langchain-ai/langsmith-sdk at bc8dd67: of the Python package the `Client` (`list_runs`,
`read_project`, `create_feedback`, `update_feedback`, `list_feedback`, `delete_feedback`) and the schemas
(`RunBase`, `FeedbackCreate`), `js/src/_openapi_client/resources/runs/runs.ts` (`RunSchema`, `Run`,
`RunQueryV2Params`), `js/src/_openapi_client/core/pagination.ts`; POST /api/v1/feedback in its REST reference.
"""

from __future__ import annotations

import base64
import json
import uuid
from typing import Any

from tests.outside.strange_server import Seen, StrangeServer

from .fakes import KEY, hex_id, told

OLD = "2024-05-01T12:00:{:02d}.000Z"
"""A moment long before every test, in the seconds of its minute."""


GROUPS = {
    "core": "id traceId startTime endTime projectId parentObservationId type",
    "basic": "name level statusMessage version environment userId sessionId isRootObservation",
    "time": "completionStartTime createdAt updatedAt",
    "io": "input output",
    "metadata": "metadata",
    "model": "providedModelName internalModelId modelParameters",
    "usage": "usageDetails costDetails totalCost usagePricingTierName",
    "trace_context": "tags release traceName",
}
"""The fields of Langfuse's observations by their groups (observations.yml)."""
SHORTENED = 200


class FakeLangfuse:
    """See `fakes.Side`. `version` is that of the server."""

    kind = "langfuse"
    source = "demo"
    key = f"pk-lf-canary-4Tz:{KEY}"
    secrets = ("pk-lf-canary-4Tz", KEY, base64.b64encode(key.encode()).decode())
    header = ("authorization", f"Basic {base64.b64encode(key.encode()).decode()}")

    def __init__(self, version: int = 4) -> None:
        self.version = version
        self.observations: dict[str, list[dict[str, Any]]] = {}
        self.traces: dict[str, dict[str, Any]] = {}
        self.scores: dict[tuple[str, str, int], dict[str, Any]] = {}
        self.configs: list[dict[str, Any]] = []
        self.day = 1
        self.server: StrangeServer | None = None
        self.repeats = False

    @property
    def url(self) -> str:
        assert self.server is not None
        return self.server.url

    def log(self, *numbers: int, answer: str = "", ended: str | None = "") -> list[str]:
        return [self._log(number, answer or f"It is {2 * number}.", ended) for number in numbers]

    def _log(self, number: int, answer: str, ended: str | None) -> str:
        trace_id = hex_id("trace", number, digits=32)
        asked, call, said = told(number, answer)
        result = {"role": "tool", "tool_call_id": f"c{number}", "content": str(2 * number)}
        root, first, tool, last = (hex_id(number, part, digits=16) for part in range(4))
        self.observations[trace_id] = [
            self._observation(trace_id, root, None, "AGENT", 0, asked[1]["content"], answer),
            self._observation(trace_id, first, root, "GENERATION", 1, {"messages": asked}, call),
            self._observation(
                trace_id, tool, root, "TOOL", 2, {"q": f"{number} + {number}"}, str(2 * number)
            ),
            self._observation(
                trace_id, last, root, "GENERATION", 3, {"messages": [*asked, call, result]}, said
            ),
        ]
        if ended != "":
            self.observations[trace_id][-1]["endTime"] = ended
        return trace_id

    def _observation(
        self, trace: str, span: str, parent: str | None, kind: str, at: int, given: Any, got: Any
    ) -> dict[str, Any]:
        """commons.yml: Observation, ObservationV2, which has input and output as raw strings."""
        return {
            "id": span,
            "traceId": trace,
            "projectId": "p-1",
            "parentObservationId": parent,
            "type": kind,
            "name": "search" if kind == "TOOL" else kind.lower(),
            "startTime": OLD.format(at),
            "endTime": OLD.format(at + 1),
            "level": "DEFAULT",
            "statusMessage": None,
            "input": given if isinstance(given, str) else json.dumps(given),
            "output": got if isinstance(got, str) else json.dumps(got),
            "metadata": {},
            "model" if self.version == 3 else "providedModelName": "tiny-1",
            "environment": "default",
        }

    def take(self, sample: dict[str, Any]) -> str:
        """Have a trace as Langfuse's own samples write it: its id."""
        trace = sample["trace"]
        common = {"traceName": trace["name"], "sessionId": trace["sessionId"], "tags": trace["tags"]}
        self.observations[trace["id"]] = [
            {
                **one,
                **(common if self.version > 3 else {}),
                "metadata": json.loads(one["metadata"] or "{}"),
                "providedModelName": one["model"],
            }
            for one in sample["observations"]
        ]
        self.traces[trace["id"]] = trace
        return str(trace["id"])

    def spans(self, trace_id: str) -> list[str]:
        return [one["id"] for one in self.observations[trace_id] if one["type"] == "GENERATION"]

    def labels(self) -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        for one in self.scores.values():
            found.setdefault((one["traceId"], one.get("observationId", "")), []).append(one["value"])
        return found

    def lose(self, trace_id: str, span: str) -> None:
        self.observations[trace_id] = [one for one in self.observations[trace_id] if one["id"] != span]

    def clear(self) -> None:
        self.scores.clear()

    def answer(self, seen: Seen) -> tuple[int, Any]:
        if seen.headers.get(self.header[0]) != self.header[1]:
            return 401, {"message": "Invalid credentials."}
        parts = seen.path.removeprefix("/api/public/").split("/")
        asked = {name: values[0] for name, values in seen.query.items()}
        if parts == ["projects"]:
            return 200, {"data": [{"id": "p-1", "name": self.source, "metadata": {}}]}
        if parts == ["v2", "observations"] and self.version > 3:
            return self._observations(asked)
        if parts[0] == "traces" and self.version == 3:
            return self._traces(asked) if len(parts) == 1 else self._trace(parts[1], asked)
        if parts == ["v3", "scores"] and self.version > 3:
            held = [one for one in self.scores.values() if one["traceId"] == asked["traceId"]]
            assert set(asked["fields"].split(",")) == {"details", "subject"}
            return 200, {"data": [_score_v3(one) for one in held], "meta": {"limit": 100}}
        if parts[0] == "score-configs":
            return self._configs(seen)
        if parts[0] == "scores" and seen.method == "POST":
            return self._post(seen.body)
        if parts[0] == "scores" and seen.method == "DELETE":
            self.scores = {key: one for key, one in self.scores.items() if key[0] != parts[1]}
            return 202, {"message": "Score deletion queued."}
        return 404, {"message": "This endpoint is not available.", "error": "LangfuseNotFoundError"}

    def _observations(self, asked: dict[str, str]) -> tuple[int, Any]:
        """observations.yml: ObservationsV2Response. Groups of fields that nobody asked for are not there."""
        rows = [one for trace in self.observations.values() for one in trace][::-1]
        if "filter" in asked:
            try:
                conditions = json.loads(asked["filter"])
            except ValueError:
                return 400, {"message": "Invalid JSON in filter parameter"}
            for each in conditions:
                rows = [one for one in rows if one[each["column"]] == each["value"]]
        if "traceId" in asked:
            rows = [one for one in rows if one["traceId"] == asked["traceId"]]
        fields = {name for group in asked["fields"].split(",") for name in GROUPS[group].split()}
        rows = [{name: one[name] for name in fields if name in one} for one in rows]
        whole = asked.get("expandMetadata", "").split(",")
        rows = [
            one | {"metadata": _shortened(one["metadata"], whole)} if "metadata" in one else one
            for one in rows
        ]
        start, size = int(asked.get("cursor", 0)), min(int(asked["limit"]), 3)
        meta = {"cursor": str(start + size)} if start + size < len(rows) else {}
        if self.repeats:
            meta = {"cursor": "3"}
        return 200, {"data": rows[start : start + size], "meta": meta}

    def _traces(self, asked: dict[str, str]) -> tuple[int, Any]:
        """trace.yml: Traces; utils/pagination.yml: MetaResponse."""
        if "filter" in asked and not asked["filter"].startswith("["):
            return 400, {"message": "Invalid JSON in filter parameter"}
        assert asked["fromTimestamp"] < OLD
        page, size = 1 if self.repeats else int(asked["page"]), min(int(asked["limit"]), 4)
        ids = list(self.observations)
        return 200, {
            "data": [self._of_trace(one) for one in ids[(page - 1) * size : page * size]],
            "meta": {
                "page": page,
                "limit": size,
                "totalItems": len(ids),
                "totalPages": 99 if self.repeats else -(-len(ids) // size),
            },
        }

    def _trace(self, trace_id: str, asked: dict[str, str]) -> tuple[int, Any]:
        """commons.yml: TraceWithFullDetails, BaseScoreV1."""
        if trace_id not in self.observations:
            return 404, {"message": f"Trace {trace_id} not found", "error": "LangfuseNotFoundError"}
        groups = asked["fields"].split(",")
        scores = [one for one in self.scores.values() if one["traceId"] == trace_id]
        return 200, {
            **self._of_trace(trace_id),
            "observations": self.observations[trace_id] if "observations" in groups else [],
            "scores": scores if "scores" in groups else [],
        }

    def _of_trace(self, trace_id: str) -> dict[str, Any]:
        made = {"id": trace_id, "timestamp": OLD.format(0), "name": "agent", "sessionId": None, "tags": []}
        return self.traces.get(trace_id, made)

    def _configs(self, seen: Seen) -> tuple[int, Any]:
        """score-configs.yml, commons.yml: ScoreConfig."""
        if seen.method == "POST":
            made = {"isArchived": False, **seen.body, "id": f"c-{len(self.configs)}"}
            self.configs.append(made)
            return 200, made
        return 200, {"data": self.configs, "meta": {"page": 1, "totalPages": 1}}

    def _post(self, body: dict[str, Any]) -> tuple[int, Any]:
        """scores.yml: CreateScoreRequest. A score is known by its id, its name and its day."""
        config = next(one for one in self.configs if one["id"] == body["configId"])
        assert (config["name"], config["dataType"]) == (body["name"], body["dataType"])
        assert config["minValue"] <= body["value"] <= config["maxValue"]
        self.scores[body["id"], body["name"], self.day] = body
        return 200, {"id": body["id"]}


def _shortened(metadata: dict[str, Any], whole: list[str]) -> dict[str, Any]:
    """Values of metadata come as text, and shortened unless they are asked for by name."""
    told = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    return {key: value if key in whole else value[:SHORTENED] for key, value in told.items()}


def _score_v3(body: dict[str, Any]) -> dict[str, Any]:
    """scores-v3.yml: NumericScoreV3. Digits in metadata come back as numbers."""
    kind, at = ("observation", "observationId") if "observationId" in body else ("trace", "traceId")
    metadata = {key: int(value) if value.isdigit() else value for key, value in body["metadata"].items()}
    return {
        **{name: body[name] for name in ("id", "name", "value", "dataType", "source")},
        "comment": body.get("comment"),
        "configId": body["configId"],
        "metadata": metadata,
        "subject": {"kind": kind, "id": body[at], "traceId": body["traceId"]},
    }


class FakeLangSmith:
    """See `fakes.Side`. `version` is that of the query of runs."""

    kind = "langsmith"
    source = "demo"
    key = KEY
    secrets = (KEY,)
    header = ("x-api-key", KEY)
    project = "3fa85f64-5717-4562-b3fc-2c963f66afa6"

    def __init__(self, version: int = 1) -> None:
        self.version = version
        self.runs: dict[str, list[dict[str, Any]]] = {}
        self.feedback: dict[str, dict[str, Any]] = {}
        self.server: StrangeServer | None = None
        self.repeats = False

    @property
    def url(self) -> str:
        assert self.server is not None
        return self.server.url

    def log(self, *numbers: int, answer: str = "", ended: str | None = "") -> list[str]:
        return [self._log(number, answer or f"It is {2 * number}.", ended) for number in numbers]

    def _log(self, number: int, answer: str, ended: str | None) -> str:
        asked, call, said = told(number, answer)
        result = {"role": "tool", "tool_call_id": f"c{number}", "content": str(2 * number)}
        root, first, tool, last = (str(uuid.uuid5(uuid.NAMESPACE_OID, f"{number}-{at}")) for at in range(4))
        runs = [
            self._run(root, root, 0, "chain", {"question": asked[1]["content"]}, {"answer": answer}),
            self._run(root, first, 1, "llm", {"messages": asked}, {"choices": [{"message": call}]}),
            self._run(root, tool, 2, "tool", {"q": f"{number} + {number}"}, {"output": str(2 * number)}),
            self._run(
                root, last, 3, "llm", {"messages": [*asked, call, result]}, {"choices": [{"message": said}]}
            ),
        ]
        if ended != "":
            runs[-1]["end_time"] = ended
            runs[-1]["status"] = "success" if ended else "pending"
        self.runs[root] = runs
        return root

    def _run(
        self, trace: str, run: str, at: int, kind: str, given: dict[str, Any], got: dict[str, Any]
    ) -> dict[str, Any]:
        """runs.ts: RunSchema."""
        order = f"20240501T12000{at}000000Z{run}"
        root = f"20240501T120000000000Z{trace}"
        return {
            "id": run,
            "trace_id": trace,
            "session_id": self.project,
            "parent_run_id": None if run == trace else trace,
            "dotted_order": root if run == trace else f"{root}.{order}",
            "name": "search" if kind == "tool" else kind,
            "run_type": kind,
            "status": "success",
            "start_time": OLD.format(at)[:-1],
            "end_time": OLD.format(at + 1)[:-1],
            "error": None,
            "inputs": given,
            "outputs": got,
            "extra": {"metadata": {"ls_model_name": "tiny-1"}},
            "tags": [],
            "reference_example_id": None,
        }

    def spans(self, trace_id: str) -> list[str]:
        return [run["id"] for run in self.runs[trace_id] if run["run_type"] == "llm"]

    def labels(self) -> dict[tuple[str, str], list[float]]:
        found: dict[tuple[str, str], list[float]] = {}
        for one in self.feedback.values():
            run = "" if one["run_id"] == one["trace_id"] else one["run_id"]
            found.setdefault((one["trace_id"], run), []).append(one["score"])
        return found

    def lose(self, trace_id: str, span: str) -> None:
        self.runs[trace_id] = [run for run in self.runs[trace_id] if run["id"] != span]

    def clear(self) -> None:
        self.feedback.clear()

    def answer(self, seen: Seen) -> tuple[int, Any]:
        if seen.headers.get(self.header[0]) != self.header[1]:
            return 401, {"detail": "Invalid token"}
        path = seen.path.removeprefix("/api/")
        if path == "v1/sessions":
            named = seen.query["name"] == [self.source]
            return 200, [{"id": self.project, "name": self.source}] if named else []
        if path == f"v{self.version}/runs/query":
            return self._query(seen.body)
        if path.startswith("v1/feedback"):
            return self._feedback(seen, path.removeprefix("v1/feedback").strip("/"))
        return 404, {"detail": "Not Found"}

    def _query(self, body: dict[str, Any]) -> tuple[int, Any]:
        """Client.list_runs; runs.ts: RunQueryV2Params, Run. Nothing comes that was not asked for."""
        if "nonsense" in body.get("trace_filter", ""):
            return 422, {"detail": "Invalid filter"}
        assert body.get("session", body.get("project_ids")) == [self.project]
        runs = [run for trace in self.runs.values() for run in trace][::-1]
        if trace := body.get("trace") or body.get("trace_id"):
            runs = [run for run in runs if run["trace_id"] == trace]
        elif tag := body.get("trace_filter"):
            roots = {run["id"] for run in runs if any(f'has(tags, "{each}")' == tag for each in run["tags"])}
            runs = [run for run in runs if run["trace_id"] in roots]
        start, size = int(body.get("cursor") or 0), min(body.get("limit") or body["page_size"], 3)
        cursor = str(start + size) if start + size < len(runs) else None
        cursor = "3" if self.repeats else cursor
        page = runs[start : start + size] or (runs[:1] if self.repeats else [])
        if self.version == 1:
            page = [{name: run[name] for name in body["select"]} for run in page]
            return 200, {"runs": page, "cursors": {"next": cursor}}
        assert body["min_start_time"] < OLD
        page = [self._second(run, body["selects"]) for run in page]
        return 200, {"items": page, "next_cursor": cursor or ""}

    def _second(self, run: dict[str, Any], selects: list[str]) -> dict[str, Any]:
        named = {
            **run,
            "run_type": run["run_type"].upper(),
            "status": run["status"].upper(),
            "project_id": run["session_id"],
            "parent_run_ids": [run["parent_run_id"]] if run["parent_run_id"] else [],
        }
        return {name.lower(): named[name.lower()] for name in selects if named[name.lower()] is not None}

    def _feedback(self, seen: Seen, feedback_id: str) -> tuple[int, Any]:
        """FeedbackCreate; Client.update_feedback takes score, value, comment, correction."""
        if seen.method == "GET":
            held = [one for one in self.feedback.values() if one["run_id"] in seen.query["run"]]
            start = int(seen.query["offset"][0])
            return 200, held[start : start + int(seen.query["limit"][0])]
        if seen.method == "POST":
            known = {run["id"] for trace in self.runs.values() for run in trace}
            if seen.body["run_id"] not in known:
                return 404, {"detail": "Run not found"}
            uuid.UUID(seen.body["id"])
            self.feedback[seen.body["id"]] = seen.body
            return 200, seen.body
        if feedback_id not in self.feedback:
            return 404, {"detail": "Feedback not found"}
        if seen.method == "DELETE":
            del self.feedback[feedback_id]
            return 200, {}
        assert set(seen.body) <= {"score", "value", "comment", "correction"}
        self.feedback[feedback_id] |= seen.body
        return 200, self.feedback[feedback_id]
