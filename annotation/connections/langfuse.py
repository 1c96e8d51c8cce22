"""Langfuse 3 or later: traces of a project with their observations, labels as scores.

Version 4 has observations alone, which come one by one, the newest first, and are gathered by trace on disk;
version 3 lists traces and gives each with its observations. Observations may come late, so a trace is taken
once nothing is known of it that is younger than `SETTLED` minutes.

A score is known by its id, its name and the day on which it was posted: posting an id again changes the score
on that day, and makes another on the next. So an id is made of what the score says and of those that it
replaces: a repeated post changes nothing, and what differs is another score, after which the old is deleted.
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
from .settling import HeldLabel, ServerFaults, as_list, may_still_grow, placed, settle

SETTLED: Final = 15
"""Minutes. Langfuse says that data of older SDKs may come so much later."""
PAGE: Final = 200
LISTED: Final = 100
TRACES: Final = 50
AT_ONCE: Final = 10
"""So many traces of version 3, which are asked for one by one, make a page."""
_API: Final = "/api/public"
_FIELDS: Final = "core,basic,time,io,metadata,model,usage,trace_context"
_WHOLE: Final = "attributes,tools"
"""Metadata that the importer reads; the rest comes shortened."""
_OLDEST: Final = "2020-01-01T00:00:00Z"
"""Servers may be set up to refuse lists of traces without a beginning, or to give those of some days."""
_TIMES: Final = ("startTime", "endTime", "createdAt", "updatedAt")
_NAMESPACE: Final = UUID("5f0a7a36-3b0e-4d0c-9c58-6f2f0f4f7d3e")
_CONFIG: Final = {
    "dataType": "NUMERIC",
    "minValue": -1,
    "maxValue": 1,
    "description": "Consensus of people in Tristep: -1 incorrect, 0 neutral, 1 correct",
}


def open_at(server: OutsideServer, place: Place) -> Langfuse:
    """The project `place.source` of a server, which is that of the key."""
    return Langfuse(server, place)


class Langfuse:
    """See `Connected`."""

    def __init__(self, server: OutsideServer, place: Place) -> None:
        self._server = server
        self._place = place
        self._observations = True
        self._configs: dict[str, str] = {}
        self._faults = ServerFaults()

    def check(self) -> None:
        """Find the project of the key, and whether the server has observations alone (version 4)."""
        source = self._place.source
        try:
            answer = self._server.ask("GET", f"{_API}/projects")
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise
            sentence = translatable("There is no {kind} at this address.", kind="Langfuse")
            raise Invalid(sentence, code="not_there", fields={"base_url": sentence}) from error
        projects = [as_object(project) for project in as_list(as_object(answer).get("data"))]
        if not any(source in (project.get("name"), project.get("id")) for project in projects):
            sentence = translatable("The key is not one of the project “{name}”.", name=source)
            raise Invalid(sentence, code="source_gone", fields={"source": sentence})
        try:
            self._server.ask("GET", f"{_API}/v2/observations", query={"limit": 1, "fields": "core"})
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise
            self._observations = False

    def pages(self) -> Iterator[Page]:
        """The traces of the project that the filter lets through."""
        began = self._server.patience.now()
        if not self._observations:
            for ids in self._listed():
                yield self._page([(trace_id, self._trace(trace_id)) for trace_id in ids], began)
        elif self._place.filter:
            # the filter chooses observations, and a trace comes whole
            for ids in self._chosen():
                yield self._page([(trace_id, self._of_trace(trace_id)) for trace_id in ids], began)
        else:
            yield from self._gathered(began)

    # version 4: observations

    def _gathered(self, began: float) -> Iterator[Page]:
        with TraceSpool(ReadContext("", max_record_bytes=ANSWER_BYTES)) as spool:
            for observations in self._rows({"fields": _FIELDS, "expandMetadata": _WHOLE, "limit": PAGE}):
                for one in observations:
                    spool.add(one["traceId"], canonical_json(one), 0, 0)
                yield Page(read=len(observations))
            part: list[tuple[str, Any]] = []
            for trace in spool.traces():
                whole = [parse_bytes(raw) for raw, _, _ in reversed(trace.spans)]
                part.append((trace.trace_id, TOO_LARGE if trace.too_large else _with_trace(whole)))
                if len(part) >= TRACES:
                    yield self._page(part, began)
                    part = []
            yield self._page(part, began)

    def _chosen(self) -> Iterator[list[str]]:
        paging = Paging()
        for observations in self._rows({"fields": "core", "limit": PAGE, "filter": self._place.filter}):
            yield [one["traceId"] for one in observations if paging.is_new(one["traceId"])]

    def _of_trace(self, trace_id: str) -> dict[str, Any] | str:
        query = {"fields": _FIELDS, "expandMetadata": _WHOLE, "limit": PAGE, "traceId": trace_id}
        rows: list[dict[str, Any]] = []
        size = 0
        try:
            for observations in self._rows(query):
                size += len(canonical_json(observations))
                if size > ANSWER_BYTES:
                    return TOO_LARGE
                rows += observations
        except OutsideError as error:
            return self._why(error)
        self._faults.well()
        return _with_trace(rows[::-1]) if rows else GONE

    def _rows(self, query: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
        """Pages of observations of traces, the newest first."""
        paging, query = Paging(), dict(query)
        while True:
            answer = as_object(self._asked("/v2/observations", query))
            rows = [as_object(one) for one in as_list(answer.get("data"))]
            yield [one for one in rows if is_id(one.get("traceId"))]
            cursor = as_object(answer.get("meta")).get("cursor")
            if not isinstance(cursor, str) or not cursor:
                return
            query["cursor"] = paging.follow(cursor)

    # version 3: traces

    def _listed(self) -> Iterator[list[str]]:
        paging = Paging()
        query: dict[str, Any] = {"fields": "core", "limit": LISTED, "orderBy": "timestamp.asc", "page": 1}
        query["fromTimestamp"] = _OLDEST
        if self._place.filter:
            query["filter"] = self._place.filter
        while True:
            answer = as_object(self._asked("/traces", query))
            rows = [as_object(one) for one in as_list(answer.get("data"))]
            ids = [str(one["id"]) for one in rows if is_id(one.get("id"))]
            if not ids:
                return
            paging.follow(ids[0])
            fresh = [one for one in ids if paging.is_new(one)]
            for start in range(0, len(fresh), AT_ONCE):
                yield fresh[start : start + AT_ONCE]
            if query["page"] >= _number(as_object(answer.get("meta")).get("totalPages")):
                return
            query["page"] += 1

    def _trace(self, trace_id: str) -> dict[str, Any] | str:
        try:
            answer = self._server.ask(
                "GET",
                f"{_API}/traces/{quote(trace_id, safe='')}",
                query={"fields": "core,io,observations"},
                max_bytes=ANSWER_BYTES,
            )
        except OutsideError as error:
            return self._why(error)
        self._faults.well()
        trace = as_object(answer)
        return {name: value for name, value in trace.items() if name not in ("scores", "_deprecation")}

    # both

    def _why(self, error: OutsideError) -> str:
        if error.failed.kind is FailureKind.TOO_LARGE:
            return TOO_LARGE
        if error.failed.kind is FailureKind.NOT_FOUND:
            return GONE
        return self._faults.names(error)

    def _asked(self, path: str, query: dict[str, Any]) -> Any:
        """A page; a shorter one when it is too large, which `query` then asks for as well."""
        try:
            return self._server.ask("GET", f"{_API}{path}", query=query, max_bytes=ANSWER_BYTES)
        except OutsideError as error:
            if error.failed.kind is FailureKind.TOO_LARGE and query["limit"] > 1 and "page" not in query:
                query["limit"] = max(query["limit"] // 8, 1)
                return self._asked(path, query)
            if error.failed.kind is FailureKind.BAD_REQUEST and "filter" in query:
                sentence = translatable("The server does not understand the filter.")
                raise Invalid(sentence, code="bad_filter", fields={"filter": sentence}) from error
            raise

    def _page(self, pulled: Sequence[tuple[str, dict[str, Any] | str]], began: float) -> Page:
        traces, left_out = [], []
        for trace_id, whole in pulled:
            reason = whole if isinstance(whole, str) else _not_yet(whole, began)
            if isinstance(whole, str) or reason:
                left_out.append(LeftOut(trace_id, reason))
            else:
                traces.append(PulledTrace(trace_id, canonical_json(whole) + b"\n"))
        return Page(traces, left_out)

    # push

    def push(
        self, trace_id: str, record: str, marks: Sequence[Mark], before: Collection[str], *, dry: bool
    ) -> PushTally:
        """Compare the own scores of a record with what is wanted; post what differs, delete the rest."""
        tally = PushTally()
        spans, scores = self._there(trace_id)
        if spans is None:
            if marks:
                tally.left_out.append(LeftOut(record, GONE))
            return tally
        held = [_held(score) for score in scores if self._is_own(score, record)]

        def put(mark: Mark, olds: Sequence[HeldLabel]) -> str:
            body = self._score(trace_id, record, mark)
            stated = canonical_json([body, sorted(old.label_id for old in olds)]).decode()
            score_id = str(uuid5(_NAMESPACE, stated))
            body |= {"id": score_id, "configId": self._config(mark.name)}
            self._server.ask("POST", f"{_API}/scores", body=body)
            return score_id

        def same(one: HeldLabel, mark: Mark) -> bool:
            return _same(one.body, self._score(trace_id, record, mark))

        wanted = placed(marks, spans, record, tally)
        settle(wanted, held, tally, same=same, put=put, remove=self._delete, dry=dry)
        return tally

    def _there(self, trace_id: str) -> tuple[set[str] | None, list[dict[str, Any]]]:
        """The observations of a trace by their ids, `None` for a trace that is gone; and its scores."""
        if self._observations:
            query = {"traceId": trace_id, "fields": "core", "limit": 1000}
            spans = {str(one.get("id")) for rows in self._rows(query) for one in rows}
            return (spans, self._scores(trace_id)) if spans else (None, [])
        try:
            trace = as_object(
                self._server.ask(
                    "GET",
                    f"{_API}/traces/{quote(trace_id, safe='')}",
                    query={"fields": "core,observations,scores"},
                    max_bytes=ANSWER_BYTES,
                )
            )
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise
            return None, []
        spans = {str(as_object(one).get("id")) for one in as_list(trace.get("observations"))}
        return spans, [as_object(score) for score in as_list(trace.get("scores"))]

    def _scores(self, trace_id: str) -> list[dict[str, Any]]:
        """The scores of a trace as version 4 has them."""
        paging, scores = Paging(), []
        query: dict[str, Any] = {"traceId": trace_id, "fields": "details,subject", "limit": 100}
        while True:
            answer = as_object(self._server.ask("GET", f"{_API}/v3/scores", query=query))
            scores += [as_object(score) for score in as_list(answer.get("data"))]
            cursor = as_object(answer.get("meta")).get("cursor")
            if not isinstance(cursor, str) or not cursor:
                return scores
            query["cursor"] = paging.follow(cursor)

    def _is_own(self, score: dict[str, Any], record: str) -> bool:
        metadata = as_object(score.get("metadata"))
        own = metadata.get("tristep.id") == self._place.uid
        return own and str(metadata.get("tristep.record")) == record

    def _score(self, trace_id: str, record: str, mark: Mark) -> dict[str, Any]:
        score = {
            "traceId": trace_id,
            "name": mark.name,
            "value": mark.value,
            "dataType": "NUMERIC",
            "source": "API",
            "metadata": {
                "tristep.id": self._place.uid,
                "tristep.record": record,
                "tristep.label": WORDS[mark.value],
                **{f"tristep.{name}": value for name, value in mark.details.items()},
            },
        }
        if mark.reason:
            score["comment"] = mark.reason
        if mark.span_id:
            score["observationId"] = mark.span_id
        return score

    def _delete(self, score_id: str) -> None:
        try:
            self._server.ask("DELETE", f"{_API}/scores/{quote(score_id, safe='')}")
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise

    def _config(self, name: str) -> str:
        """The id of the configuration of a score, made once for each name."""
        if name not in self._configs:
            config = self._find_config(name)
            if config is None:
                config = self._server.ask("POST", f"{_API}/score-configs", body={"name": name, **_CONFIG})
            self._configs[name] = str(as_object(config).get("id"))
        return self._configs[name]

    def _find_config(self, name: str) -> dict[str, Any] | None:
        paging = Paging()
        query: dict[str, Any] = {"limit": 100, "page": 1}
        while True:
            answer = as_object(self._server.ask("GET", f"{_API}/score-configs", query=query))
            configs = [as_object(one) for one in as_list(answer.get("data"))]
            fit = next((one for one in configs if one.get("name") == name and _takes_labels(one)), None)
            last = query["page"] >= _number(as_object(answer.get("meta")).get("totalPages"))
            if fit is not None or last or not configs:
                return fit
            paging.follow(str(configs[0].get("id")))
            query["page"] += 1


def _with_trace(observations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Observations as the record of their trace, as version 3 and exports have it."""
    root = next((one for one in observations if _is_root(one)), observations[0] if observations else {})
    trace = {
        "id": root.get("traceId"),
        "name": root.get("traceName"),
        "sessionId": root.get("sessionId"),
        "tags": root.get("tags"),
        "input": root.get("input"),
    }
    return {"trace": trace, "observations": list(observations)}


def _is_root(observation: Mapping[str, Any]) -> bool:
    return observation.get("isRootObservation") is True or not observation.get("parentObservationId")


def _not_yet(whole: dict[str, Any], began: float) -> str:
    """The reason why a trace does not come yet: a part of it has not ended, or is too young for all to be
    there."""
    observations = [as_object(one) for one in as_list(whole.get("observations"))]
    moments = [one.get(name) for one in [whole, *observations] for name in (*_TIMES, "timestamp")]
    if any(not one.get("endTime") for one in observations if one.get("type") != "EVENT"):
        return UNFINISHED
    return may_still_grow(moments, began, SETTLED)


def _held(score: dict[str, Any]) -> HeldLabel:
    subject = as_object(score.get("subject"))
    span = subject.get("id") if subject.get("kind") == "observation" else score.get("observationId")
    return HeldLabel((str(score.get("name")), str(span or "")), str(score.get("id")), score)


def _same(score: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    metadata = as_object(score.get("metadata"))
    return (
        score.get("value") == wanted["value"]
        and (score.get("comment") or "") == wanted.get("comment", "")
        # the server may read digits in metadata as a number
        and all(str(metadata.get(key)) == value for key, value in wanted["metadata"].items())
    )


def _takes_labels(config: Mapping[str, Any]) -> bool:
    low, high = config.get("minValue"), config.get("maxValue")
    wide = (low is None or low <= -1) and (high is None or high >= 1)
    return config.get("dataType") == "NUMERIC" and not config.get("isArchived") and wide


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
