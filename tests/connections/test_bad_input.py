"""Servers and settings that are not as they should be: one sentence, and nothing half done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from annotation.connections import RUNS, base
from annotation.core.errors import Invalid
from annotation.models import Connection, ImportFile, Trajectory
from annotation.services import connections
from tests import people
from tests.people import Cast

from .conftest import transfer
from .fakes import FakeMLflow, Side

Connect = Callable[..., Connection]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"base_url": "http://127.0.0.1:9"}, "base_url"),
        ({"base_url": "http://169.254.169.254"}, "base_url"),
        ({"key_name": "TRISTEP_JUDGE_KEY_A"}, "key_name"),
        ({"key_name": "DATABASE_URL"}, "key_name"),
        ({"source": ""}, "source"),
        ({"subset": "no subset"}, "subset"),
        ({"name": ""}, "name"),
        ({"uid": "mine"}, "uid"),
    ],
)
def test_setting_that_cannot_be_is_named(
    mlflow: FakeMLflow, connect: Connect, wrong: dict[str, str], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        connect(mlflow, **wrong)
    assert list(refused.value.fields) == [field]


def test_operator_who_takes_an_address_back_is_obeyed_at_once(
    cast: Cast, mlflow: FakeMLflow, connect: Connect, settings: Any
) -> None:
    connection = connect(mlflow)
    settings.CONNECTION_URLS = []
    row = transfer(connection, cast.admin, "pull")
    assert row.error == "The address is not among those that the operator allows."
    assert mlflow.server is not None and mlflow.server.seen == []


def test_key_that_is_missing_is_named(
    cast: Cast, mlflow: FakeMLflow, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(mlflow)
    monkeypatch.delenv("TRISTEP_CONNECTION_KEY_T")
    row = transfer(connection, cast.admin, "pull")
    assert row.error == "The key is missing: $TRISTEP_CONNECTION_KEY_T is not set."


def test_place_that_is_gone_is_named(cast: Cast, side: Side, connect: Connect) -> None:
    row = transfer(connect(side, source="gone"), cast.admin, "pull")
    assert row.state == "failed" and row.error.endswith("“gone”.")


@pytest.mark.parametrize("ill", ["endless", "huge", "redirect", "html", 401, 500])
def test_hostile_server_brings_nothing_in(
    cast: Cast,
    side: Side,
    connect: Connect,
    ill: int | str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("annotation.services.connections.lease.Beat.sleep", lambda self, seconds: None)
    for kind in RUNS:
        monkeypatch.setattr(f"annotation.connections.{kind}.ANSWER_BYTES", 100_000)
    connection = connect(side)
    side.log(*range(9))
    assert side.server is not None
    answer = side.server.answer

    def turned(seen: Any) -> Any:
        # well at first, ill from the second page on
        body = seen.body or {}
        if (
            {"page_token", "cursor"} & body.keys()
            or "cursor" in seen.query
            or seen.query.get("page") == ["2"]
        ):
            side.server.misbehave = [ill] * 20
            return 500, None
        return answer(seen)

    side.server.answer = turned
    row = transfer(connection, cast.admin, "pull")
    assert row.state == "failed" and row.error.endswith(".") and row.imported is None
    assert not ImportFile.objects.exists() and not Trajectory.objects.exists()


def test_pages_that_repeat_or_never_end_are_given_up(
    cast: Cast, side: Side, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(side)
    side.log(*range(9))
    side.repeats = True
    assert "repeats its pages" in transfer(connection, cast.admin, "pull").error
    side.repeats = False
    monkeypatch.setattr(base.Paging.__init__, "__defaults__", (3,))
    if side.kind == "mlflow":
        assert "more than 3 traces" in transfer(connection, cast.admin, "pull").error
    assert not ImportFile.objects.exists()


def test_what_cannot_be_labelled_is_left_out_by_name_and_the_rest_comes(
    cast: Cast, mlflow: FakeMLflow, connect: Connect
) -> None:
    connection = connect(mlflow)
    (running,) = mlflow.log(0, state="IN_PROGRESS")
    empty, good = mlflow.log(1, 2)
    mlflow.traces[empty]["spans"] = mlflow.traces[empty]["spans"][:1]
    row = transfer(connection, cast.admin, "pull")
    reasons = {one["id"]: one["reason"] for one in row.left_out}
    assert reasons == {running: "has not ended yet", empty: "has no call of a model"}
    assert list(Trajectory.objects.values_list("record_id", flat=True)) == [good]


def test_span_or_trace_that_is_gone_at_push_is_named_and_the_rest_is_pushed(
    cast: Cast, side: Side, connect: Connect
) -> None:
    connection = connect(side)
    first, second = side.log(0, 1)
    transfer(connection, cast.admin, "pull")
    people.make_unanimous(cast, 2)
    lost = side.spans(first)[0]
    side.lose(first, lost)
    row = transfer(connection, cast.admin, "push")
    assert [one["id"] for one in row.left_out] == [first] and "span" in row.left_out[0]["reason"]
    assert len(side.labels()) == 5 and (first, lost) not in side.labels()
    # it is tried again, and named again, as long as it is so
    assert transfer(connection, cast.admin, "push").counts["left_out"] == 1
    if isinstance(side, FakeMLflow):
        del side.traces[second]
        row = transfer(connection, cast.admin, "push")
        assert row.state == "done"


def test_kind_of_project_that_has_no_runs_is_refused(mlflow: FakeMLflow, settings: Any, db: None) -> None:
    project = people.make_project("choices", kind="decisions")
    settings.CONNECTION_URLS = [mlflow.url]
    with pytest.raises(Invalid):
        connections.create_connection(
            actor=people.OPERATOR,
            project=project,
            kind="mlflow",
            name="x",
            base_url=mlflow.url,
            source="demo",
            subset="runs",
        )
