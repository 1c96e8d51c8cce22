"""MLflow 3.2 or later: traces of an experiment, labels as assessments (feedback by HUMAN) on their spans.

Spans lie in the tracking store (asked for some traces at once) or, of older servers, among the artifacts. An
assessment has no id of the caller's choice and posting twice makes two: own ones carry `tristep.id` in their
metadata, are listed first, and then patched, added or deleted; a call that failed half-way is not repeated
but what is there is listed again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.importers.parts.span_records import read_span
from annotation.outside import FailureKind, OutsideError
from annotation.outside.server import OutsideServer

from .base import (
    ANSWER_BYTES,
    GONE,
    SPAN_GONE,
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
from .settling import ServerFaults

PAGE: Final = 100
AT_ONCE: Final = 20
"""So many traces are asked for with their spans in one call."""
_SOURCE: Final = {"source_type": "HUMAN", "source_id": "tristep:consensus"}
_TRACES: Final = "/api/3.0/mlflow/traces"


def open_at(server: OutsideServer, place: Place) -> MLflow:
    """The experiment `place.source` of a server."""
    return MLflow(server, place)


class MLflow:
    """See `Connected`."""

    def __init__(self, server: OutsideServer, place: Place) -> None:
        self._server = server
        self._place = place
        self._experiment = ""
        self._batches = True
        self._faults = ServerFaults()

    def check(self) -> None:
        """Find the experiment, by its name, else by its number."""
        source = self._place.source
        asked = [("get-by-name", "experiment_name")]
        if source.isascii() and source.isdigit():
            asked.append(("get", "experiment_id"))
        for operation, key in asked:
            try:
                answer = self._server.ask(
                    "GET", f"/api/2.0/mlflow/experiments/{operation}", query={key: source}
                )
            except OutsideError as error:
                if error.failed.kind is FailureKind.NOT_FOUND:
                    continue
                raise
            experiment = _object(_object(answer).get("experiment"))
            if experiment.get("lifecycle_stage") != "deleted" and is_id(experiment.get("experiment_id")):
                self._experiment = experiment["experiment_id"]
                return
        raise Invalid(
            translatable("The server has no experiment “{name}”.", name=source),
            code="source_gone",
            fields={"source": translatable("The server has no experiment “{name}”.", name=source)},
        )

    def pages(self) -> Iterator[Page]:
        """The traces of the experiment that the filter lets through, the oldest first."""
        paging, token = Paging(), ""
        body: dict[str, Any] = {
            "locations": [
                {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": self._experiment}}
            ],
            "max_results": PAGE,
            "order_by": ["timestamp_ms ASC"],
        }
        if self._place.filter:
            body["filter"] = self._place.filter
        while True:
            answer = _object(self._search(body))
            infos = [info for info in _listed(answer.get("traces")) if is_id(_object(info).get("trace_id"))]
            infos = [info for info in infos if paging.is_new(info["trace_id"])]
            for start in range(0, len(infos), AT_ONCE):
                yield self._page(infos[start : start + AT_ONCE])
            token = answer.get("next_page_token") or ""
            if not isinstance(token, str) or not token:
                return
            body["page_token"] = paging.follow(token)

    def _search(self, body: Mapping[str, Any]) -> Any:
        try:
            return self._server.ask("POST", f"{_TRACES}/search", body=body, max_bytes=ANSWER_BYTES)
        except OutsideError as error:
            if error.failed.kind is FailureKind.BAD_REQUEST and self._place.filter:
                sentence = translatable("The server does not understand the filter.")
                raise Invalid(sentence, code="bad_filter", fields={"filter": sentence}) from error
            raise

    def _page(self, infos: Sequence[dict[str, Any]]) -> Page:
        ended = [info for info in infos if info.get("state") != "IN_PROGRESS"]
        left_out = [LeftOut(info["trace_id"], UNFINISHED) for info in infos if info not in ended]
        whole = self._as_far_as_it_goes(ended)
        traces = []
        for info in ended:
            trace = whole.get(info["trace_id"])
            if isinstance(trace, str):
                left_out.append(LeftOut(info["trace_id"], trace))
            elif trace is None:
                left_out.append(LeftOut(info["trace_id"], GONE))
            else:
                traces.append(PulledTrace(info["trace_id"], canonical_json({"trace": trace}) + b"\n"))
        return Page(traces, left_out)

    def _as_far_as_it_goes(self, infos: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any] | str]:
        """As `_with_spans`; when the server fails on some traces they are asked for one by one, and those on
        which it fails again are named."""
        try:
            traces = self._with_spans(infos)
        except OutsideError as error:
            if len(infos) == 1:
                return {infos[0]["trace_id"]: self._faults.names(error)}
            if error.failed.kind is not FailureKind.SERVER_ERROR:
                raise
            return {key: value for info in infos for key, value in self._as_far_as_it_goes([info]).items()}
        self._faults.well()
        return traces

    def _with_spans(self, infos: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any] | str]:
        """Traces with their spans by id, or why one cannot be had; those that are gone are missing."""
        stored = [info for info in infos if self._batches and _in_store(info)]
        traces: dict[str, dict[str, Any] | str] = self._batch(stored) if stored else {}
        for info in infos:
            asked = info["trace_id"] in traces or (self._batches and _in_store(info))
            if not asked and (single := self._artifact(info)) is not None:
                traces[info["trace_id"]] = single
        return traces

    def _batch(self, infos: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any] | str]:
        ids = [info["trace_id"] for info in infos]
        try:
            answer = self._server.ask(
                "GET", f"{_TRACES}/batchGet", query={"trace_ids": ids}, max_bytes=ANSWER_BYTES
            )
        except OutsideError as error:
            kind = error.failed.kind
            if kind is FailureKind.TOO_LARGE and len(ids) > 1:
                return {key: value for info in infos for key, value in self._batch([info]).items()}
            if kind is FailureKind.TOO_LARGE:
                return {ids[0]: TOO_LARGE}
            if kind in (FailureKind.NOT_FOUND, FailureKind.BAD_REQUEST):
                self._batches = False  # a server that is older than this call
                return {}
            raise
        traces = [_object(trace) for trace in _listed(_object(answer).get("traces"))]
        by_id = {_object(trace.get("trace_info")).get("trace_id"): trace for trace in traces}
        return {trace_id: by_id[trace_id] for trace_id in ids if trace_id in by_id}

    def _artifact(self, info: dict[str, Any]) -> dict[str, Any] | str | None:
        try:
            answer = self._server.ask(
                "GET",
                "/ajax-api/3.0/mlflow/get-trace-artifact",
                query={"request_id": info["trace_id"]},
                max_bytes=ANSWER_BYTES,
            )
        except OutsideError as error:
            if error.failed.kind is FailureKind.TOO_LARGE:
                return TOO_LARGE
            if error.failed.kind in (FailureKind.NOT_FOUND, FailureKind.BAD_REQUEST):
                return None
            raise
        return {"trace_info": info, "spans": _listed(_object(answer).get("spans"))}

    def push(
        self, trace_id: str, record: str, marks: Sequence[Mark], before: Collection[str], *, dry: bool
    ) -> PushTally:
        """List the own assessments of a record, then patch, add and delete."""
        failures = 0
        total = PushTally()
        while True:
            try:
                self._reconcile(trace_id, record, marks, total, dry=dry)
                return total
            except OutsideError as error:
                failures += 1
                pause = self._server.pause(error.failed, failures)
                if pause is None:
                    raise
                self._server.patience.sleep(pause)

    def _reconcile(
        self, trace_id: str, record: str, marks: Sequence[Mark], total: PushTally, *, dry: bool
    ) -> None:
        total.left_out, total.unchanged = [], 0
        try:
            answer = self._server.ask("GET", f"{_TRACES}/{quote(trace_id, safe='')}")
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise
            if marks:
                total.left_out.append(LeftOut(record, GONE))
            return
        info = _object(_object(_object(answer).get("trace")).get("trace_info"))
        spans = self._span_ids(info) if any(mark.span_id for mark in marks) else set()
        wanted = {}
        for mark in marks:
            if mark.span_id and mark.span_id not in spans:
                total.left_out.append(LeftOut(record, SPAN_GONE))
            else:
                wanted[mark.name, mark.span_id] = mark
        done = set()
        path = f"{_TRACES}/{quote(trace_id, safe='')}/assessments"
        for held in self._own(info, record):
            key = (str(held.get("assessment_name")), str(held.get("span_id") or ""))
            at = f"{path}/{quote(str(held.get('assessment_id')), safe='')}"
            if key not in wanted or key in done:
                if not dry:
                    self._change("DELETE", at, None)
                total.withdrawn += 1
                continue
            done.add(key)
            body = self._assessment(trace_id, record, wanted[key])
            if _same(held, body):
                total.unchanged += 1
                continue
            if not dry:
                body["assessment_id"] = held.get("assessment_id")
                self._change("PATCH", at, {"assessment": body, "update_mask": "feedback,rationale,metadata"})
            total.changed += 1
        for key, mark in wanted.items():
            if key not in done:
                if not dry:
                    self._change("POST", path, {"assessment": self._assessment(trace_id, record, mark)})
                total.written += 1

    def _change(self, method: str, path: str, body: Any) -> None:
        """One call that is not repeated by itself: whether it came through is seen in the next list."""
        self._server.ask(method, path, body=body, once=True)

    def _span_ids(self, info: dict[str, Any]) -> set[str]:
        if not is_id(info.get("trace_id")):
            return set()
        trace = self._with_spans([info]).get(info["trace_id"])
        if not isinstance(trace, dict):
            return set()
        spans = [span for span in _listed(trace.get("spans")) if isinstance(span, dict)]
        return {read_span(span, order).span_id for order, span in enumerate(spans)}

    def _own(self, info: dict[str, Any], record: str) -> list[dict[str, Any]]:
        held = [_object(one) for one in _listed(info.get("assessments"))]
        return [one for one in held if self._is_own(_object(one.get("metadata")), record)]

    def _is_own(self, metadata: dict[str, Any], record: str) -> bool:
        return metadata.get("tristep.id") == self._place.uid and metadata.get("tristep.record") == record

    def _assessment(self, trace_id: str, record: str, mark: Mark) -> dict[str, Any]:
        assessment: dict[str, Any] = {
            "trace_id": trace_id,
            "assessment_name": mark.name,
            "source": _SOURCE,
            "feedback": {"value": mark.value},
            "rationale": mark.reason,
            "metadata": {
                "tristep.id": self._place.uid,
                "tristep.record": record,
                "tristep.label": WORDS[mark.value],
                **{f"tristep.{name}": value for name, value in mark.details.items()},
            },
        }
        if mark.span_id:
            assessment["span_id"] = mark.span_id
        return assessment


def _same(held: dict[str, Any], wanted: dict[str, Any]) -> bool:
    metadata = _object(held.get("metadata"))
    return (
        _object(held.get("feedback")).get("value") == wanted["feedback"]["value"]
        and (held.get("rationale") or "") == wanted["rationale"]
        and all(metadata.get(key) == value for key, value in wanted["metadata"].items())
    )


def _in_store(info: dict[str, Any]) -> bool:
    return _object(info.get("tags")).get("mlflow.trace.spansLocation") == "TRACKING_STORE"


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
