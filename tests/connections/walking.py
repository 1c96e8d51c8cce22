"""The line from traces to labels on their spans, for fake servers and for real ones."""

from __future__ import annotations

from typing import Any

from annotation.models import Adjudication, Connection, Consensus, OutcomeConsensus, Trajectory
from annotation.services import adjudicate, connections, label
from tests import people
from tests.people import Cast

from .conftest import transfer


def walk(cast: Cast, side: Any, connection: Connection) -> None:
    """Pull, label by two people, adjudicate, push; again; a changed consensus; a withdrawn one."""
    traces = side.log(0, 1)
    row = transfer(connection, cast.admin, "pull")
    assert (row.state, row.error, row.counts["new"], row.left_out) == ("done", "", 2, [])
    again = transfer(connection, cast.admin, "pull")
    assert (again.counts["known"], again.imported) == (2, None)

    held = {one.record_id: one for one in Trajectory.objects.filter(live=True)}
    assert set(held) == set(traces)
    messages = held[traces[1]].content.parsed()["messages"]
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant"]

    for user in (cast.ann, cast.ben):
        for _ in traces:
            assignment = people.claim(user, cast.project)
            first = assignment.trajectory.record_id == traces[0]
            values = [1, -1] if first else [1, 0 if user == cast.ann else -1]
            people.label_all(assignment, values, outcome=-1)
            label.submit(actor=user, assignment=assignment)
    case = _decided(cast, people.open_case(cast.judith, Trajectory.objects.get(state="disputed")), 0)

    row = transfer(connection, cast.admin, "push")
    assert (row.state, row.error, row.left_out, row.counts["written"]) == ("done", "", [], 6)
    expected = {}
    for trace in traces:
        spans = side.spans(trace)
        labels = Consensus.objects.filter(trajectory=held[trace]).order_by("step__message_index")
        expected |= {(trace, span): [one.value] for span, one in zip(spans, labels, strict=True)}
        expected[trace, ""] = [OutcomeConsensus.objects.get(trajectory=held[trace]).value]
    assert side.labels() == expected
    assert len(set(map(str, expected.values()))) > 1

    again = transfer(connection, cast.admin, "push")
    assert (again.counts, side.labels()) == ({"unchanged": 6}, expected)
    # what was pushed comes back with the trace, and makes no new version of it
    assert transfer(connection, cast.admin, "pull").counts["known"] == 2

    disputed = case.trajectory.record_id
    _decided(cast, adjudicate.reopen_case(actor=cast.judith, adjudication=case), 1)
    row = transfer(connection, cast.admin, "push")
    assert (row.counts["changed"], row.counts["written"], row.counts["withdrawn"]) == (1, 0, 0)
    expected[disputed, side.spans(disputed)[1]] = [1]
    assert side.labels() == expected

    adjudicate.reopen_case(actor=cast.judith, adjudication=case)
    row = transfer(connection, cast.admin, "push")
    assert row.counts["withdrawn"] == 3
    assert side.labels() == {key: value for key, value in expected.items() if key[0] != disputed}
    connections.delete_connection(actor=cast.admin, connection=connection)


def _decided(cast: Cast, case: Adjudication, value: int) -> Adjudication:
    """The case with its one disputed step, the second, decided."""
    index = people.step_indexes(case.trajectory_id)[1]
    version = case.decisions.filter(step__message_index=index).values_list("version", flat=True).first() or 0
    adjudicate.decide(actor=cast.judith, adjudication=case, message_index=index, value=value, version=version)
    return adjudicate.close_case(actor=cast.judith, adjudication=case)
