"""The queue before SQLite's write lock: in order, between processes, with an end to waiting."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.db import OperationalError, connection, connections, transaction

from annotation.models import Project
from config.sqlite3.queue import QueueTimeout, WriteQueue, queue_before
from tests import people
from tests.servers import ROOT

pytestmark = pytest.mark.once

OTHER = """
import sys, time
from pathlib import Path
from config.sqlite3.queue import WriteQueue
queue = WriteQueue(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    queue.acquire(60)
    print("turn", flush=True)
    sys.stdin.readline()
    queue.release()
print("done", flush=True)
sys.stdin.readline()
"""


class Other:
    """Another process at the same queue, which says when it has a turn and keeps it until it is told."""

    def __init__(self, path: Path, turns: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(path), str(turns)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.heard() == "ready"

    def heard(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


def test_queue_serves_threads_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    queue, served = WriteQueue(tmp_path / "queue"), []
    queue.acquire(1)
    threads = []
    for number in range(8):

        def work(number: int = number) -> None:
            queue.acquire(60)
            served.append(number)
            queue.release()

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        while len(queue._waiting) <= number:
            time.sleep(0.001)
    queue.release()
    for thread in threads:
        thread.join(60)
    assert served == list(range(8))


def test_queue_gives_another_process_its_turn_between_two_of_ours(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "queue")
    other = Other(tmp_path / "queue", 3)
    ours: list[int] = []

    def hold() -> None:
        for number in range(200):
            queue.acquire(60)
            ours.append(number)
            time.sleep(0.002)
            queue.release()

    queue.acquire(1)
    thread = threading.Thread(target=hold)
    thread.start()
    other.go_on()
    time.sleep(0.2)  # it stands in the queue now; if it did not, its turn would come all the earlier
    queue.release()
    counts = []
    for _ in range(3):
        assert other.heard() == "turn"
        counts.append(len(ours))
        other.go_on()
    assert other.heard() == "done"
    thread.join(60)
    other.process.communicate("\n", timeout=60)
    assert counts[-1] < 150, f"the other process had its three turns after {counts} of ours"


def test_queue_ends_the_turn_of_a_process_that_is_killed(tmp_path: Path) -> None:
    queue, other = WriteQueue(tmp_path / "queue"), Other(tmp_path / "queue", 1)
    other.go_on()
    assert other.heard() == "turn"
    with pytest.raises(QueueTimeout):
        queue.acquire(0.05)
    other.process.kill()
    other.process.wait(60)
    queue.acquire(5)
    queue.release()


def test_queue_refuses_after_its_time_and_goes_on(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "queue")
    queue.acquire(1)
    for _ in range(2):
        with pytest.raises(QueueTimeout):
            queue.acquire(0.02)
    queue.release()
    queue.acquire(0.02)
    queue.release()


@pytest.mark.django_db(transaction=True)
def test_queue_is_joined_by_transactions_and_single_writes_and_left_with_them() -> None:
    project = people.make_project()
    queue = queue_before(str(connection.settings_dict["NAME"]))

    def others_wait() -> bool:
        answers = []

        def ask() -> None:
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.05)
                try:
                    Project.objects.filter(pk=project.pk).update(name="Other")
                    answers.append(False)
                except OperationalError as error:
                    answers.append("locked" in str(error))
                finally:
                    connections.close_all()

        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(60)
        return answers[0]

    assert not others_wait()
    with transaction.atomic():
        assert others_wait()
        with transaction.atomic():
            pass
        assert others_wait()
    assert not others_wait()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        raise ZeroDivisionError
    assert not others_wait()
    atomic = transaction.atomic()
    atomic.__enter__()
    connection.close()
    atomic.__exit__(None, None, None)
    assert not others_wait()
    assert not queue._busy
