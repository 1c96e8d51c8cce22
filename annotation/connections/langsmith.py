"""LangSmith: runs of a project, labels as feedback on them.

Runs come one by one and are gathered by trace on disk. Servers have either `/api/v1/runs/query` or, from
version 0.16 on, `/api/v2/runs/query`, whose runs are given the names of the former.

Feedback has an id of the caller's choice. It is made of the run and of how the label came about, which cannot
be changed later; value and comment can, by PATCH.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote
from uuid import UUID, uuid5

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.jsonio.jsonlines import parse_bytes
from annotation.importers.base import ReadContext
from annotation.importers.parts.message_parts import as_object
from annotation.importers.parts.trace_spool import TraceSpool
from annotation.outside import FailureKind, OutsideError
from annotation.outside.server import OutsideServer

from .base import (
    ANSWER_BYTES,
    GONE,
    TOO_LARGE,
    UNFINISHED,
    WORDS,
    LeftOut,
    Mark,
    Page,
    Paging,
    Place,
    PulledTrace,
    PushTally,
    is_id,
)
from .settling import HeldLabel, as_list, may_still_grow, placed, settle

SETTLED: Final = 2
"""Minutes. Runs that begin while pages are read are in none of them, so a trace must have ended before."""
PAGE: Final = 100
TRACES: Final = 50
RUNS_AT_ONCE: Final = 50
_OLDEST: Final = "2020-01-01T00:00:00Z"
"""The second version of the query goes back one day unless it is told otherwise."""
_FIELDS: Final = (
    *("id", "trace_id", "parent_run_id", "dotted_order", "session_id", "name", "run_type", "status"),
    *("start_time", "end_time", "error", "inputs", "outputs", "extra", "tags", "reference_example_id"),
)
_NAMES: Final = {"parent_run_id": "parent_run_ids", "session_id": "project_id"}
"""Fields of the first version that the second calls otherwise."""
_NAMESPACE: Final = UUID("2f1c8f5e-0a4b-4f55-8a39-7f1f0c6a9b14")


def open_at(server: OutsideServer, place: Place) -> LangSmith:
    """The project `place.source` of a server."""
    return LangSmith(server, place)


class LangSmith:
    """See `Connected`."""

    def __init__(self, server: OutsideServer, place: Place) -> None:
        self._server = server
        self._place = place
        self._project = ""
        self._first_version = True
        self._limit = PAGE

    def check(self) -> None:
        """Find the project, by its name, else by its id."""
        source = self._place.source
        try:
            sessions = self._server.ask("GET", "/api/v1/sessions", query={"name": source, "limit": 1})
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise
            sentence = translatable("There is no {kind} at this address.", kind="LangSmith")
            raise Invalid(sentence, code="not_there", fields={"base_url": sentence}) from error
        projects = [as_object(project) for project in as_list(sessions)]
        if not projects and _is_uuid(source):
            projects = [self._by_id(source)]
        for project in projects:
            if source in (project.get("name"), project.get("id")) and is_id(project.get("id")):
                self._project = project["id"]
                return
        sentence = translatable("The server has no project “{name}”.", name=source)
        raise Invalid(sentence, code="source_gone", fields={"source": sentence})

    def _by_id(self, source: str) -> dict[str, Any]:
        try:
            return as_object(self._server.ask("GET", f"/api/v1/sessions/{source}"))
        except OutsideError as error:
            if error.failed.kind not in (FailureKind.NOT_FOUND, FailureKind.BAD_REQUEST):
                raise
            return {}

    # pull

    def pages(self) -> Iterator[Page]:
        """The traces of the project whose outermost run the filter lets through, once all runs have come."""
        began = self._server.patience.now()
        with TraceSpool(ReadContext("", max_record_bytes=ANSWER_BYTES)) as spool:
            for runs in self._runs(_FIELDS):
                for run in runs:
                    if is_id(run.get("trace_id")):
                        spool.add(run["trace_id"], canonical_json(run), 0, 0)
                yield Page(read=len(runs))
            traces: list[PulledTrace] = []
            left_out: list[LeftOut] = []
            for trace in spool.traces():
                runs = [parse_bytes(raw) for raw, _, _ in trace.spans]
                if reason := TOO_LARGE if trace.too_large else _not_yet(runs, began):
                    left_out.append(LeftOut(trace.trace_id, reason))
                else:
                    runs.sort(key=lambda run: str(run.get("dotted_order")))
                    traces.append(PulledTrace(trace.trace_id, canonical_json({"runs": runs}) + b"\n"))
                if len(traces) + len(left_out) >= TRACES:
                    yield Page(traces, left_out)
                    traces, left_out = [], []
            yield Page(traces, left_out)

    def _runs(self, fields: Sequence[str], trace_id: str = "") -> Iterator[list[dict[str, Any]]]:
        """Pages of runs, of one trace or of all that the filter lets through."""
        paging, cursor = Paging(), ""
        while True:
            runs, cursor = self._query(fields, trace_id, cursor)
            yield runs
            if not runs or not cursor:
                return
            paging.follow(cursor)

    def _query(self, fields: Sequence[str], trace_id: str, cursor: str) -> tuple[list[dict[str, Any]], str]:
        try:
            if self._first_version:
                return self._query_first(fields, trace_id, cursor)
            return self._query_second(fields, trace_id, cursor)
        except OutsideError as error:
            kind = error.failed.kind
            if kind is FailureKind.NOT_FOUND and self._first_version and not cursor:
                self._first_version = False
                return self._query(fields, trace_id, cursor)
            if kind is FailureKind.TOO_LARGE and self._limit > 1:
                self._limit = max(self._limit // 8, 1)
                return self._query(fields, trace_id, cursor)
            if kind is FailureKind.BAD_REQUEST and self._place.filter and not trace_id:
                sentence = translatable("The server does not understand the filter.")
                raise Invalid(sentence, code="bad_filter", fields={"filter": sentence}) from error
            raise

    def _query_first(
        self, fields: Sequence[str], trace_id: str, cursor: str
    ) -> tuple[list[dict[str, Any]], str]:
        body: dict[str, Any] = {"session": [self._project], "limit": self._limit, "select": list(fields)}
        body |= {"trace": trace_id} if trace_id else self._chosen()
        body |= {"cursor": cursor} if cursor else {}
        answer = as_object(self._server.ask("POST", "/api/v1/runs/query", body=body, max_bytes=ANSWER_BYTES))
        runs = [_run(as_object(run), fields) for run in as_list(answer.get("runs"))]
        following = as_object(answer.get("cursors")).get("next")
        return runs, following if isinstance(following, str) else ""

    def _query_second(
        self, fields: Sequence[str], trace_id: str, cursor: str
    ) -> tuple[list[dict[str, Any]], str]:
        body: dict[str, Any] = {
            "project_ids": [self._project],
            "page_size": self._limit,
            "min_start_time": _OLDEST,
            "selects": [_NAMES.get(field, field).upper() for field in fields],
        }
        body |= {"trace_id": trace_id} if trace_id else self._chosen()
        body |= {"cursor": cursor} if cursor else {}
        answer = as_object(self._server.ask("POST", "/api/v2/runs/query", body=body, max_bytes=ANSWER_BYTES))
        runs = [_run(_as_in_first(as_object(run)), fields) for run in as_list(answer.get("items"))]
        following = answer.get("next_cursor")
        return runs, following if isinstance(following, str) else ""

    def _chosen(self) -> dict[str, str]:
        return {"trace_filter": self._place.filter} if self._place.filter else {}

    # push

    def push(
        self, trace_id: str, record: str, marks: Sequence[Mark], before: Collection[str], *, dry: bool
    ) -> PushTally:
        """Compare the own feedback of a record with what is wanted; post, patch and delete what differs."""
        tally = PushTally()
        runs = {str(run.get("id")) for page in self._runs(("id",), trace_id) for run in page}
        if not runs:
            if marks:
                tally.left_out.append(LeftOut(record, GONE))
            return tally
        asked = sorted({trace_id, *before, *(mark.span_id for mark in marks if mark.span_id)} & runs)
        held = [_held(one) for one in self._feedback(asked) if self._is_own(one, record)]

        def put(mark: Mark, olds: Sequence[HeldLabel]) -> str:
            body = self._body(trace_id, record, mark)
            path = f"/api/v1/feedback/{body['id']}"
            changes = {name: body.get(name) for name in ("score", "value", "comment")}
            if any(old.label_id == body["id"] for old in olds):
                self._server.ask("PATCH", path, body=changes)
                return str(body["id"])
            try:
                self._server.ask("POST", "/api/v1/feedback", body=body)
            except OutsideError as error:
                if error.failed.status != 409:
                    raise
                # it is there, and no list has it yet
                self._server.ask("PATCH", path, body=changes)
            return str(body["id"])

        def same(one: HeldLabel, mark: Mark) -> bool:
            return _same(one, self._body(trace_id, record, mark))

        # a label of the whole trace stands at its outermost run, whose id the trace has
        wanted = {
            (name, run or trace_id): mark for (name, run), mark in placed(marks, runs, record, tally).items()
        }
        settle(wanted, held, tally, same=same, put=put, remove=self._delete, dry=dry)
        return tally

    def _feedback(self, runs: Sequence[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(runs), RUNS_AT_ONCE):
            paging = Paging()
            query: dict[str, Any] = {"run": runs[start : start + RUNS_AT_ONCE], "limit": 100, "offset": 0}
            while True:
                feedback = as_list(self._server.ask("GET", "/api/v1/feedback", query=query))
                yield from (as_object(one) for one in feedback)
                if len(feedback) < query["limit"]:
                    break
                paging.follow(str(as_object(feedback[0]).get("id")))
                query["offset"] += len(feedback)

    def _is_own(self, feedback: dict[str, Any], record: str) -> bool:
        metadata = as_object(as_object(feedback.get("feedback_source")).get("metadata"))
        return metadata.get("tristep.id") == self._place.uid and metadata.get("tristep.record") == record

    def _body(self, trace_id: str, record: str, mark: Mark) -> dict[str, Any]:
        run = mark.span_id or trace_id
        details = {f"tristep.{name}": value for name, value in mark.details.items()}
        metadata = {"tristep.id": self._place.uid, "tristep.record": record, **details}
        return {
            "id": str(uuid5(_NAMESPACE, canonical_json([run, mark.name, metadata]).decode())),
            "run_id": run,
            "trace_id": trace_id,
            "session_id": self._project,
            "key": mark.name,
            "score": mark.value,
            "value": WORDS[mark.value],
            "comment": mark.reason,
            "feedback_source": {"type": "api", "metadata": metadata},
        }

    def _delete(self, feedback_id: str) -> None:
        try:
            self._server.ask("DELETE", f"/api/v1/feedback/{quote(feedback_id, safe='')}")
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise


def _run(run: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """A run with the fields that were asked for and no others: feedback would make another version of it."""
    return {name: run[name] for name in fields if run.get(name) is not None}


def _as_in_first(run: dict[str, Any]) -> dict[str, Any]:
    """A run of the second version of the query with the names of the first."""
    above = as_list(run.get("parent_run_ids"))
    lowered = {name: run[name].lower() for name in ("run_type", "status") if isinstance(run.get(name), str)}
    named = {"parent_run_id": above[-1] if above else None, "session_id": run.get("project_id")}
    return {**run, **lowered, **named}


def _not_yet(runs: Sequence[Mapping[str, Any]], began: float) -> str:
    """The reason why a trace does not come yet: a run of it is missing or has not ended, or it ended just
    now."""
    if any(not run.get("end_time") or run.get("status") == "pending" for run in runs):
        return UNFINISHED
    if not any(run.get("id") == run.get("trace_id") for run in runs):
        return UNFINISHED
    return may_still_grow((run.get("end_time") for run in runs), began, SETTLED)


def _held(feedback: dict[str, Any]) -> HeldLabel:
    return HeldLabel(
        (str(feedback.get("key")), str(feedback.get("run_id"))), str(feedback.get("id")), feedback
    )


def _same(held: HeldLabel, wanted: Mapping[str, Any]) -> bool:
    return bool(
        held.label_id == wanted["id"]
        and held.body.get("score") == wanted["score"]
        and held.body.get("value") == wanted["value"]
        and (held.body.get("comment") or "") == wanted["comment"]
    )


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
