"""From traces on a server to labels on their spans, on local servers that answer as the real ones did."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.core.errors import Conflict, Denied
from annotation.models import Connection, ImportFile, PushedRecord, Step, Trajectory, Transfer
from annotation.services import connections
from tests import people
from tests.people import Cast

from .conftest import transfer
from .fakes import KEY, FakeMLflow, Side
from .walking import walk

Connect = Callable[..., Connection]


def test_labels_lie_on_the_spans_of_the_steps_and_follow_the_consensus(
    cast: Cast, side: Side, connect: Connect
) -> None:
    walk(cast, side, connect(side))


def test_dry_run_says_what_would_be_done_and_does_nothing(cast: Cast, side: Side, connect: Connect) -> None:
    connection = connect(side)
    side.log(0, 1)
    row = transfer(connection, cast.admin, "pull", dry=True)
    assert (row.state, row.counts["new"], row.imported) == ("done", 2, None)
    assert not ImportFile.objects.exists()
    transfer(connection, cast.admin, "pull")
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project, 1)
    row = transfer(connection, cast.admin, "push", dry=True)
    assert (row.counts["written"], side.labels(), PushedRecord.objects.count()) == (3, {}, 0)


def test_trace_that_changed_after_it_was_begun_stays_and_its_new_version_goes_elsewhere(
    cast: Cast, side: Side, connect: Connect
) -> None:
    connection = connect(side)
    begun, untouched = side.log(0, 1)
    transfer(connection, cast.admin, "pull")
    assignment = people.claim(cast.ann, cast.project)
    label_of = {begun: 0, untouched: 1}
    held = assignment.trajectory.record_id
    free = next(record for record in label_of if record != held)
    side.log(0, 1, answer="I do not know.")
    row = transfer(connection, cast.admin, "pull")
    assert (row.counts["versions"], row.counts["replaced"]) == (1, 1)
    assert [one["id"] for one in row.left_out] == [held]
    assert "labels stay with the old version" in row.left_out[0]["reason"]
    live = Trajectory.objects.filter(live=True, subset__name="runs")
    assert set(live.values_list("record_id", flat=True)) == {held, free}
    assert live.get(record_id=held).pk == assignment.trajectory_id
    row = transfer(connection, cast.admin, "pull", versions=True, subset="runs-2")
    assert row.counts["new"] == 1
    newer = Trajectory.objects.get(live=True, subset__name="runs-2")
    assert newer.record_id == held and newer.content.parsed()["messages"][-1]["content"] == "I do not know."
    assert transfer(connection, cast.admin, "pull", versions=True, subset="runs-2").imported is None


def test_labels_of_others_on_the_same_spans_are_left_alone(
    cast: Cast, mlflow: FakeMLflow, connect: Connect
) -> None:
    connection = connect(mlflow)
    (trace,) = mlflow.log(0)
    other = {"assessment_name": "tristep_step", "feedback": {"value": 0}, "span_id": mlflow.spans(trace)[0]}
    mlflow.traces[trace]["assessments"]["a-other"] = other | {"assessment_id": "a-other"}
    transfer(connection, cast.admin, "pull")
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project, 1)
    transfer(connection, cast.admin, "push")
    assert mlflow.labels()[trace, mlflow.spans(trace)[0]] == [0, 1]


def test_push_that_broke_off_anywhere_is_finished_by_the_next_without_doubles(
    cast: Cast, side: Side, connect: Connect
) -> None:
    """The process dies at its nth call, of which nobody knows whether it was carried out; what it has done
    stands on the server, and its row is stale."""
    connection = connect(side)
    side.log(0, 1)
    transfer(connection, cast.admin, "pull")
    for user in (cast.ann, cast.ben):
        people.label_next(user, cast.project, 1)
        people.label_next(user, cast.project, -1)
    answer, calls = side.server.answer, 0

    class Died(BaseException):
        """Nothing catches it on its way."""

    for nth in (1, 2, 3, 5, 8, 11):
        calls = 0

        def until(seen: Any, nth: int = nth) -> Any:
            nonlocal calls
            calls += 1
            said = answer(seen) if calls <= nth + nth % 2 else None
            return said if said and calls <= nth else (500, {"error": "dying"})

        side.server.answer = until
        row = connections.ask_for(actor=cast.admin, connection=connection, direction="push", enqueue=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("annotation.services.connections.lease.Beat.sleep", _die(Died))
            try:
                connections.run_transfer(transfer_id=row.pk)
            except Died:
                Transfer.objects.filter(pk=row.pk).update(state="queued", lease_until=None)
                side.server.answer = answer
                there = len(side.labels())
                ended = connections.run_transfer(transfer_id=row.pk)
                assert (ended.state, ended.counts["unchanged"]) == ("done", there), "no label is put twice"
        side.server.answer = answer
        assert [len(values) for values in side.labels().values()] == [1] * 6
        PushedRecord.objects.update(digest="")
        if nth % 2:
            side.clear()


def _die(kind: type[BaseException]) -> Any:
    def die(self: Any, seconds: float) -> None:
        raise kind

    return die


def test_transfer_that_was_stopped_brings_nothing(cast: Cast, mlflow: FakeMLflow, connect: Connect) -> None:
    connection = connect(mlflow)
    mlflow.log(*range(6))
    row = connections.ask_for(actor=cast.admin, connection=connection, direction="pull", enqueue=False)
    with pytest.raises(Conflict):
        connections.ask_for(actor=cast.admin, connection=connection, direction="push", enqueue=False)
    answer = mlflow.server.answer

    def stopping(seen: Any) -> Any:
        if seen.body and seen.body.get("page_token"):
            connections.cancel(actor=cast.admin, transfer=row)
        return answer(seen)

    # the stop comes from another process, and SQLite's test database is this thread's own
    connections.cancel(actor=cast.admin, transfer=row)
    assert connections.run_transfer(transfer_id=row.pk).state == "cancelled"
    assert stopping and not ImportFile.objects.exists()


@pytest.mark.postgres
def test_worker_that_died_is_followed_by_another(cast: Cast, mlflow: FakeMLflow, connect: Connect) -> None:
    connection = connect(mlflow)
    mlflow.log(0)
    row = connections.ask_for(actor=cast.admin, connection=connection, direction="pull", enqueue=False)
    Transfer.objects.filter(pk=row.pk).update(state="running", attempt=1, lease_until="2026-01-01T00:00:00Z")
    assert connections.reap() >= 1
    assert connections.run_transfer(transfer_id=row.pk).state == "done"
    assert ImportFile.objects.count() == 1


def test_commands_connect_pull_and_push(
    cast: Cast, mlflow: FakeMLflow, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.CONNECTION_URLS = [mlflow.url]
    mlflow.log(0, 1)
    where = ("--kind", "mlflow", "--address", mlflow.url, "--source", "demo")
    call_command("connect", "bench", "Runs", *where)
    call_command("transfer", "bench", "Runs", "pull", "--dry-run")
    assert "pull (dry run): new 2." in capsys.readouterr().err
    call_command("transfer", "bench", "Runs", "pull", "--json")
    assert json.loads(capsys.readouterr().out)["counts"]["new"] == 2
    people.make_unanimous(cast, 2)
    call_command("transfer", "bench", "Runs", "push")
    assert "push: written 6." in capsys.readouterr().err and len(mlflow.labels()) == 6
    mlflow.server.misbehave = [302]
    with pytest.raises(CommandError, match="redirects"):
        call_command("transfer", "bench", "Runs", "push")


def test_only_admins_connect_and_transfer(cast: Cast, mlflow: FakeMLflow, connect: Connect) -> None:
    connection = connect(mlflow)
    for user in (cast.ann, cast.judith, cast.oscar):
        with pytest.raises(Denied):
            connections.ask_for(actor=user, connection=connection, direction="pull")
        with pytest.raises(Denied):
            connections.update_connection(actor=user, connection=connection, values={"name": "x"})


def test_key_goes_to_the_server_and_is_nowhere_else(
    cast: Cast, mlflow: FakeMLflow, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    connection = connect(mlflow)
    mlflow.log(0)
    transfer(connection, cast.admin, "pull")
    assert {seen.headers["authorization"] for seen in mlflow.server.seen} == {f"Bearer {KEY}"}
    mlflow.server.misbehave = [401]
    row = transfer(connection, cast.admin, "pull")
    assert row.error == "The key in $TRISTEP_CONNECTION_KEY_T was refused by the server (401)."
    kept = [
        *Connection.objects.values_list(),
        *Transfer.objects.values_list(),
        *ImportFile.objects.values_list(),
    ]
    assert KEY not in repr(kept) + caplog.text
    assert Step.objects.count() == 2
