"""Phoenix 9 or later: spans of a project, labels as annotations by HUMAN.

Spans come one by one, the newest first, and are gathered by trace on disk (`importers.parts.trace_spool`). An
annotation is known by its span, name and identifier, and posting it again replaces it. Annotations are
deleted by name and identifier in the whole project, so the identifier names the record as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.importers.base import ReadContext
from annotation.importers.parts.span_records import trace_of
from annotation.importers.parts.trace_spool import TraceSpool
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

PAGE: Final = 1000
TRACES: Final = 100
NO_WITHDRAWAL: Final = translatable("cannot be withdrawn: this version of Phoenix deletes no annotations")


def open_at(server: OutsideServer, place: Place) -> Phoenix:
    """The project `place.source` of a server."""
    return Phoenix(server, place)


class Phoenix:
    """See `Connected`."""

    def __init__(self, server: OutsideServer, place: Place) -> None:
        self._server = server
        self._place = place
        self._project = f"/v1/projects/{quote(place.source, safe='')}"

    def check(self) -> None:
        """Find the project, whose name may not exist yet for lack of spans."""
        try:
            self._server.ask("GET", self._project)
        except OutsideError as error:
            if error.failed.kind not in (FailureKind.NOT_FOUND, FailureKind.BAD_REQUEST):
                raise
            sentence = translatable("The server has no project “{name}”.", name=self._place.source)
            raise Invalid(sentence, code="source_gone", fields={"source": sentence}) from error

    def pages(self) -> Iterator[Page]:
        """The traces of the project, once all of its spans have come."""
        with TraceSpool(ReadContext("", max_record_bytes=ANSWER_BYTES)) as spool:
            for read in self._gather(spool):
                yield Page(read=read)
            traces: list[PulledTrace] = []
            left_out: list[LeftOut] = []
            for trace in spool.traces():
                if trace.too_large:
                    left_out.append(LeftOut(trace.trace_id, TOO_LARGE))
                elif not any(b'"parent_id":null' in raw for raw, _, _ in trace.spans):
                    left_out.append(LeftOut(trace.trace_id, UNFINISHED))
                else:
                    raw = b"".join(raw + b"\n" for raw, _, _ in reversed(trace.spans))
                    traces.append(PulledTrace(trace.trace_id, raw))
                if len(traces) + len(left_out) >= TRACES:
                    yield Page(traces, left_out)
                    traces, left_out = [], []
            yield Page(traces, left_out)

    def _gather(self, spool: TraceSpool) -> Iterator[int]:
        paging = Paging()
        query: dict[str, Any] = {"limit": PAGE}
        if self._place.filter:
            query["start_time"] = self._place.filter
        while True:
            answer = self._spans(query)
            spans = answer.get("data") or ()
            for span in spans:
                trace_id = trace_of(span) if isinstance(span, dict) else ""
                if is_id(trace_id):
                    span.setdefault("parent_id", None)
                    spool.add(trace_id, canonical_json(span), 0, 0)
            yield len(spans)
            cursor = answer.get("next_cursor")
            if not isinstance(cursor, str) or not cursor:
                return
            query["cursor"] = paging.follow(cursor)

    def _spans(self, query: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = self._server.ask("GET", f"{self._project}/spans", query=query, max_bytes=ANSWER_BYTES)
        except OutsideError as error:
            if error.failed.kind is FailureKind.TOO_LARGE and query["limit"] > 1:
                query["limit"] = max(query["limit"] // 8, 1)
                return self._spans(query)
            if error.failed.kind is FailureKind.BAD_REQUEST and self._place.filter:
                sentence = translatable("The server does not understand the filter.")
                raise Invalid(sentence, code="bad_filter", fields={"filter": sentence}) from error
            raise
        return answer if isinstance(answer, dict) else {}

    def push(
        self, trace_id: str, record: str, marks: Sequence[Mark], before: Collection[str], *, dry: bool
    ) -> PushTally:
        """Look at the own annotations of a record, delete what is not wanted, post what differs."""
        tally = PushTally()
        identifier = f"tristep:{self._place.uid}:{record}"
        of_spans = [mark for mark in marks if mark.span_id]
        of_trace = [mark for mark in marks if not mark.span_id]
        spans = sorted({mark.span_id for mark in of_spans} | set(before))
        for kind, wanted, ids in (("span", of_spans, spans), ("trace", of_trace, [trace_id])):
            held = self._held(kind, ids, identifier)
            keys = {(mark.name, mark.span_id or trace_id): mark for mark in wanted}
            gone = {key: one for key, one in held.items() if key not in keys}
            if gone:
                tally.withdrawn += len(gone)
                if not dry and not self._delete(kind, {name for name, _ in gone}, identifier):
                    tally.left_out.append(LeftOut(record, NO_WITHDRAWAL))
                    tally.withdrawn -= len(gone)
                elif not dry:
                    names = {name for name, _ in gone}
                    held = {key: one for key, one in held.items() if key[0] not in names}
            for (name, at), mark in keys.items():
                body = self._annotation(kind, at, identifier, mark)
                before_it = held.get((name, at))
                if before_it is not None and _same(before_it, body):
                    tally.unchanged += 1
                elif dry or self._post(kind, body):
                    tally.changed += before_it is not None
                    tally.written += before_it is None
                else:
                    tally.left_out.append(LeftOut(record, SPAN_GONE if kind == "span" else GONE))
        return tally

    def _held(self, kind: str, ids: Sequence[str], identifier: str) -> dict[tuple[str, str], dict[str, Any]]:
        """The own annotations on these spans, or this trace, by name and span or trace."""
        held: dict[tuple[str, str], dict[str, Any]] = {}
        for start in range(0, len(ids), 50):
            query: dict[str, Any] = {f"{kind}_ids": ids[start : start + 50], "limit": 1000}
            paging = Paging()
            while True:
                try:
                    answer = self._server.ask("GET", f"{self._project}/{kind}_annotations", query=query)
                except OutsideError as error:
                    if error.failed.kind is FailureKind.NOT_FOUND:
                        break
                    raise
                answer = answer if isinstance(answer, dict) else {}
                for one in answer.get("data") or ():
                    if isinstance(one, dict) and one.get("identifier") == identifier:
                        held[str(one.get("name")), str(one.get(f"{kind}_id"))] = one
                cursor = answer.get("next_cursor")
                if not isinstance(cursor, str) or not cursor:
                    break
                query["cursor"] = paging.follow(cursor)
        return held

    def _annotation(self, kind: str, at: str, identifier: str, mark: Mark) -> dict[str, Any]:
        return {
            f"{kind}_id": at,
            "name": mark.name,
            "annotator_kind": "HUMAN",
            "result": {"label": WORDS[mark.value], "score": mark.value, "explanation": mark.reason},
            "metadata": {f"tristep.{name}": value for name, value in mark.details.items()},
            "identifier": identifier,
        }

    def _post(self, kind: str, body: dict[str, Any]) -> bool:
        """False when the span or trace is gone: the server says so when it is told to be in step."""
        try:
            self._server.ask("POST", f"/v1/{kind}_annotations", query={"sync": "true"}, body={"data": [body]})
        except OutsideError as error:
            if error.failed.kind is FailureKind.NOT_FOUND:
                return False
            raise
        return True

    def _delete(self, kind: str, names: set[str], identifier: str) -> bool:
        """False when the server is too old to delete annotations."""
        for name in sorted(names):
            query = {"name": name, "identifier": identifier, "delete_all": "true"}
            try:
                self._server.ask("DELETE", f"{self._project}/{kind}_annotations", query=query)
            except OutsideError as error:
                if error.failed.kind in (FailureKind.NOT_FOUND, FailureKind.BAD_REQUEST):
                    return False
                raise
        return True


def _same(held: dict[str, Any], wanted: dict[str, Any]) -> bool:
    result = held.get("result")
    result = result if isinstance(result, dict) else {}
    return bool(
        result.get("score") == wanted["result"]["score"]
        and result.get("label") == wanted["result"]["label"]
        and (result.get("explanation") or "") == wanted["result"]["explanation"]
        and held.get("metadata") == wanted["metadata"]
    )
