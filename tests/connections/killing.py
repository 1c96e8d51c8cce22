"""Workers that are killed in the middle of a transfer, for fake servers and for real ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.models import Connection, Trajectory, Transfer
from annotation.services import connections, ingest, label
from tests import people
from tests.outside.strange_server import Answer, Seen
from tests.people import Cast
from tests.servers import Worker

PATIENCE = 90.0
TRACES = 4
HELD_AT = {
    "mlflow": {"pull": (1, "GET batchGet"), "push": (5, "POST assessments")},
    "phoenix": {"pull": (1, "GET spans"), "push": (5, "POST annotations")},
}
"""The calls at which a worker is killed: amid the traces, and amid the labels of the second record."""


class Holding:
    """Lets calls through until one is to be held: that one is carried out and its answer kept back, so that
    its caller cannot know whether it was."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._method, self._part, self._left = "", "", 0
        self._lock = threading.Lock()
        self.holds, self._free = threading.Event(), threading.Event()

    def __call__(self, seen: Seen) -> tuple[int, Any]:
        said = self._answer(seen)
        with self._lock:
            self._left -= seen.method == self._method and self._part in seen.path
            hold, self._method = (True, "") if self._method and not self._left else (False, self._method)
        if hold:
            self.holds.set()
            self._free.wait(PATIENCE)
        return said

    @contextmanager
    def at(self, nth: int, call: str) -> Iterator[None]:
        """Hold the `nth` call of this method whose path contains this part, until the block ends."""
        self.holds.clear()
        self._free.clear()
        with self._lock:
            (self._method, self._part), self._left = call.split(), nth
        try:
            yield
        finally:
            self._free.set()


@dataclass
class Killed:
    """A connection whose workers are killed, and `told`, their environment."""

    cast: Cast
    connection: Connection
    held: Holding
    told: dict[str, str]
    folder: Path

    def transfer(self, direction: str) -> Transfer:
        """A transfer whose first worker is killed while its server holds an answer back, at its end."""
        first = Worker(self.told, self.folder / f"{direction}-first.log")
        with self.held.at(*HELD_AT[self.connection.kind][direction]):
            row = connections.ask_for(actor=self.cast.admin, connection=self.connection, direction=direction)
            assert self.held.holds.wait(PATIENCE), first.words()
            first.kill()
        # its lease is over at once, so that nobody has to wait for it
        assert Transfer.objects.filter(pk=row.pk, state="running").update(
            lease_until=timezone.now() - timedelta(seconds=1)
        )
        assert connections.reap() >= 1
        # what the next worker does: its start would cost more than all of it
        row = connections.run_transfer(transfer_id=row.pk)
        if row.imported_id:
            ingest.run_import(source_id=row.imported_id)
        assert (row.state, row.error, row.attempt, row.left_out) == ("done", "", 2, [])
        return row


def walk_killed(killed: Killed, side: Any) -> None:
    """Pull, label, push: all of it is there once."""
    cast, traces = killed.cast, side.log(*range(TRACES))
    assert killed.transfer("pull").counts["new"] == TRACES
    assert sorted(Trajectory.objects.values_list("record_id", flat=True)) == sorted(traces)
    for user in (cast.ann, cast.ben):
        for _ in traces:
            assignment = people.claim(user, cast.project)
            people.label_all(assignment, [1, -1], outcome=-1)
            label.submit(actor=user, assignment=assignment)

    counts = killed.transfer("push").counts
    # what the first one had pushed was not pushed again
    assert counts["unchanged"] > 3 and counts["written"] + counts["unchanged"] == 3 * TRACES
    wanted = {}
    for trace in traces:
        first, second = side.spans(trace)
        wanted |= {(trace, first): [1], (trace, second): [-1], (trace, ""): [-1]}
    assert side.labels() == wanted
