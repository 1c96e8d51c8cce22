"""What is particular to Langfuse and LangSmith: traces that come late, ids of labels, and keys."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from annotation.connections import Place, open_at
from annotation.core.trajectories.trajectory import content_digest
from annotation.importers import FORMATS, ReadContext, RecordError
from annotation.models import Connection, Consensus, ImportFile, PushedRecord, Trajectory, Transfer
from annotation.outside import KeyScheme
from annotation.outside.server import OutsideServer
from annotation.services.connections.lease import Beat
from tests import people
from tests.people import Cast

from .conftest import SIDES, transfer
from .documented import FakeLangfuse, FakeLangSmith
from .fakes import FakeMLflow, fake

Connect = Callable[..., Connection]
LATE = {name: made for name, made in SIDES.items() if name.startswith("lang")}


@pytest.fixture(params=LATE.values(), ids=LATE)
def late(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A server on which spans may come late."""
    with fake(request.param()) as server:
        yield server


@pytest.fixture(params=[FakeMLflow, lambda: FakeLangfuse(3)], ids=["mlflow", "langfuse-3"])
def one_by_one(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A server that can be asked for single traces."""
    with fake(request.param()) as server:
        yield server


@pytest.fixture
def langfuse() -> Iterator[FakeLangfuse]:
    """Langfuse 4."""
    with fake(FakeLangfuse()) as server:
        yield server


@pytest.fixture
def langsmith() -> Iterator[FakeLangSmith]:
    """LangSmith."""
    with fake(FakeLangSmith()) as server:
        yield server


def _minutes_ago(minutes: float) -> str:
    return (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()


def _labelled(cast: Cast, count: int = 1) -> None:
    for user in (cast.ann, cast.ben):
        for _ in range(count):
            people.label_next(user, cast.project, 1)


def test_trace_that_may_still_grow_comes_once_it_has_settled(cast: Cast, late: Any, connect: Connect) -> None:
    connection = connect(late)
    settled = {"langfuse": 15, "langsmith": 2}[late.kind]
    (old,) = late.log(0)
    (young,) = late.log(1, ended=_minutes_ago(settled - 1))
    (running,) = late.log(2, ended=None)
    row = transfer(connection, cast.admin, "pull")
    reasons = {one["id"]: one["reason"] for one in row.left_out}
    assert reasons.keys() == {young, running} and reasons[running] == "has not ended yet"
    assert f"less than {settled} minutes old" in reasons[young]
    assert list(Trajectory.objects.values_list("record_id", flat=True)) == [old]
    late.log(1, 2, ended=_minutes_ago(settled + 1))
    row = transfer(connection, cast.admin, "pull")
    assert (row.counts["new"], row.counts["known"], row.left_out) == (2, 1, [])


def test_pull_says_how_many_spans_it_has_read_until_the_traces_are_gathered(
    cast: Cast, langsmith: FakeLangSmith, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int | None] = []
    monkeypatch.setattr(Beat, "__call__", lambda self, now=False: told.append(self.counts.get("read")))
    langsmith.log(0, 1)
    row = transfer(connect(langsmith), cast.admin, "pull")
    assert (told, row.counts) == ([None, 3, 6, 8, None], {"new": 2, "left_out": 0})


def test_trace_whose_outermost_run_has_not_come_is_left_out(
    cast: Cast, langsmith: FakeLangSmith, connect: Connect
) -> None:
    connection = connect(langsmith)
    (trace,) = langsmith.log(0)
    langsmith.lose(trace, trace)
    row = transfer(connection, cast.admin, "pull")
    assert row.left_out == [{"id": trace, "reason": "has not ended yet"}]


def test_filter_chooses_traces_which_come_whole(cast: Cast, late: Any, connect: Connect) -> None:
    second = late.log(0, 1)[1]
    if late.kind == "langsmith":
        late.runs[second][0]["tags"] = ["prod"]
        chosen = 'has(tags, "prod")'
    else:
        span = late.spans(second)[0]
        chosen = json.dumps([{"type": "string", "column": "id", "operator": "=", "value": span}])
    row = transfer(connect(late, filter=chosen), cast.admin, "pull")
    assert (row.state, row.error) == ("done", "")
    if (late.kind, late.version) == ("langfuse", 3):
        asked = [seen.query["filter"] for seen in late.server.seen if seen.path.endswith("/traces")]
        assert asked == [[chosen]]
    else:
        (only,) = Trajectory.objects.all()
        assert (only.record_id, only.step_count) == (second, 2)
    late.server.seen.clear()
    row = transfer(connect(late, name="Wrong", filter="nonsense"), cast.admin, "pull")
    assert row.error == "The server does not understand the filter."


def test_key_goes_as_the_kind_wants_it_and_is_nowhere_else(
    cast: Cast, side: Any, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    connection = connect(side)
    side.log(0)
    name, value = getattr(side, "header", ("authorization", f"Bearer {side.key}"))
    assert transfer(connection, cast.admin, "pull").state == "done"
    assert {seen.headers[name] for seen in side.server.seen} == {value}
    side.server.misbehave = [401]
    row = transfer(connection, cast.admin, "pull")
    assert row.error == "The key in $TRISTEP_CONNECTION_KEY_T was refused by the server (401)."
    kept = [model.objects.values_list() for model in (Connection, Transfer, ImportFile)]
    told = repr([list(rows) for rows in kept]) + caplog.text
    assert not [secret for secret in getattr(side, "secrets", (side.key,)) if secret in told]


@pytest.mark.parametrize("key", ["pk-lf-alone", ":sk-lf-alone", "pk-lf-alone:"])
def test_key_without_two_halves_is_refused_before_any_call(
    cast: Cast, langfuse: FakeLangfuse, connect: Connect, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    connection = connect(langfuse)
    monkeypatch.setenv("TRISTEP_CONNECTION_KEY_T", key)
    row = transfer(connection, cast.admin, "pull")
    assert row.error == "The key in $TRISTEP_CONNECTION_KEY_T must have two halves: public:secret."
    assert langfuse.server is not None and langfuse.server.seen == []


def test_address_of_another_program_is_named(cast: Cast, late: Any, connect: Connect) -> None:
    late.server.answer = lambda seen: (404, {"detail": "Not Found"})
    row = transfer(connect(late), cast.admin, "pull")
    assert row.error in ("There is no Langfuse at this address.", "There is no LangSmith at this address.")


def test_labels_of_others_are_left_alone(cast: Cast, late: Any, connect: Connect) -> None:
    """Also those of another connection, whose own id they carry."""
    connection = connect(late)
    late.log(0)
    transfer(connection, cast.admin, "pull")
    _labelled(cast)
    transfer(connection, cast.admin, "push")
    other = Connection.objects.get(pk=connection.pk)
    Connection.objects.filter(pk=other.pk).update(uid="another")
    PushedRecord.objects.all().delete()
    row = transfer(connection, cast.admin, "push")
    assert (row.counts["written"], row.counts["changed"], row.counts["withdrawn"]) == (3, 0, 0)
    assert {len(values) for values in late.labels().values()} == {2}


def test_label_that_changes_on_another_day_is_one(
    cast: Cast, langfuse: FakeLangfuse, connect: Connect
) -> None:
    """Langfuse makes another score of an id that is posted on another day."""
    connection = connect(langfuse)
    (trace,) = langfuse.log(0)
    transfer(connection, cast.admin, "pull")
    _labelled(cast)
    transfer(connection, cast.admin, "push")
    before = langfuse.labels()
    for day, value in ((2, 0), (3, -1), (4, 1), (4, 0)):
        langfuse.day = day
        first = Consensus.objects.order_by("step__message_index")[:1].get()
        Consensus.objects.filter(pk=first.pk).update(value=value)
        row = transfer(connection, cast.admin, "push")
        assert (row.counts["changed"], row.counts["unchanged"]) == (1, 2)
        assert langfuse.labels() == {**before, (trace, langfuse.spans(trace)[0]): [value]}
    langfuse.day = 5
    PushedRecord.objects.update(digest="")
    assert transfer(connection, cast.admin, "push").counts["unchanged"] == 3
    assert len(langfuse.scores) == 3


def test_scores_have_configurations_that_are_made_once(
    cast: Cast, langfuse: FakeLangfuse, connect: Connect
) -> None:
    connection = connect(langfuse)
    langfuse.configs = [{"id": "c-x", "name": "tristep_step", "dataType": "NUMERIC", "isArchived": True}]
    langfuse.log(0, 1)
    transfer(connection, cast.admin, "pull")
    _labelled(cast, 2)
    transfer(connection, cast.admin, "push")
    langfuse.clear()
    PushedRecord.objects.update(digest="")
    transfer(connection, cast.admin, "push")
    assert len(langfuse.scores) == 6
    named = [(one["name"], one["isArchived"]) for one in langfuse.configs]
    assert sorted(named) == [("tristep_outcome", False), ("tristep_step", False), ("tristep_step", True)]


def test_feedback_that_is_there_and_in_no_list_yet_is_patched(
    cast: Cast, langsmith: FakeLangSmith, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(langsmith)
    langsmith.log(0)
    transfer(connection, cast.admin, "pull")
    _labelled(cast)
    transfer(connection, cast.admin, "push")
    wanted = langsmith.labels()
    for one in langsmith.feedback.values():
        one["score"] = 0
    PushedRecord.objects.update(digest="")
    assert langsmith.server is not None
    answer = langsmith.server.answer

    def behind(seen: Any) -> Any:
        if seen.path == "/api/v1/feedback":
            return (200, []) if seen.method == "GET" else (409, {"detail": "Feedback exists"})
        return answer(seen)

    langsmith.server.answer = behind
    monkeypatch.setattr("annotation.services.connections.lease.Beat.sleep", lambda self, seconds: None)
    assert transfer(connection, cast.admin, "push").state == "done"
    assert langsmith.labels() == wanted


def test_trace_on_which_the_server_fails_is_named_and_the_rest_comes(
    cast: Cast, one_by_one: Any, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it fails on one after the other it has failed itself."""
    monkeypatch.setattr("annotation.services.connections.lease.Beat.sleep", lambda self, seconds: None)
    connection = connect(one_by_one)
    bad, *good = one_by_one.log(0, 1, 2, 3)
    failing = {bad}
    answer = one_by_one.server.answer

    def failing_on(seen: Any) -> Any:
        asked = {*seen.query.get("trace_ids", ()), seen.path.rpartition("/")[2]}
        return (500, {"error": "broken"}) if asked & failing else answer(seen)

    one_by_one.server.answer = failing_on
    row = transfer(connection, cast.admin, "pull")
    assert row.left_out == [{"id": bad, "reason": "cannot be had: the server fails on it"}]
    assert set(Trajectory.objects.values_list("record_id", flat=True)) == set(good)
    failing |= set(good)
    row = transfer(connection, cast.admin, "pull")
    assert (row.state, row.error) == ("failed", "The server failed (500).")


@pytest.mark.published
@pytest.mark.parametrize("version", [3, 4])
def test_samples_of_langfuse_come_over_its_api_as_they_come_from_files(published: Path, version: int) -> None:
    side = FakeLangfuse(version)
    files = {}
    for path in (published / "formats/langfuse").iterdir():
        sample = json.loads(path.read_bytes())
        if (
            version == 4
        ):  # which has no traces, and so no input of theirs: that of the outermost stands for it
            roots = [one for one in sample["observations"] if not one["parentObservationId"]]
            sample["trace"]["input"] = min(roots, key=lambda one: one["startTime"])["input"]
        files[side.take(sample)] = _read(json.dumps(sample).encode())
    with fake(side):
        server = OutsideServer(side.url, key=side.key, scheme=KeyScheme.BASIC)
        connected = open_at("langfuse", server, Place(side.source, "", "mine"))
        connected.check()
        pages = list(connected.pages())
    assert not [one for page in pages for one in page.left_out]
    pulled = {trace.trace_id: _read(trace.raw) for page in pages for trace in page.traces}
    assert pulled == files


def _read(data: bytes) -> list[tuple[str, str]]:
    """What the importer makes of a trace: ids and digests, or what is wrong with it."""
    found = FORMATS["langfuse"].read(io.BytesIO(data), ReadContext("f"))
    return [
        ("", one.reason) if isinstance(one, RecordError) else (one.record_id, content_digest(one))
        for one in found
    ]
