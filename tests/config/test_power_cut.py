"""A power cut on SQLite: everything acknowledged survives, since nothing is answered before it is synced."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection

from tests import people
from tests.servers import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]

SAVES = 5
SAVER = """
import sys
import django
django.setup()
from django.db import connection
from annotation.models import Assignment
from annotation.services import label
mine = Assignment.objects.select_related("annotator").get()
with connection.cursor() as cursor:
    level = cursor.execute("PRAGMA synchronous").fetchone()[0]
print(f"synchronous {level}", flush=True)
for number in range(int(sys.argv[1])):
    change = {"target": "step", "message_index": 2 + 2 * number, "version": 0, "value": 1}
    label.save_labels(actor=mine.annotator, assignment=mine, op_id=f"op-{number}", changes=[change])
    print(f"saved {number}", flush=True)
sys.stdin.readline()
"""
CALL = re.compile(r"\d+ +(?P<call>\w+)\((?P<fd>\d+)<(?P<path>[^>]*)>(?P<rest>.*)")
WRITTEN = re.compile(r", (?P<size>\d+), (?P<offset>\d+)\) += \d+$")


def _synced_when_acknowledged(trace: str, log: str) -> list[tuple[int, int]]:
    """For every "saved": (bytes of the write-ahead log that were written, and that were synced)."""
    written = synced = 0
    found = []
    for line in trace.splitlines():
        call = CALL.match(line)
        if call is None:
            continue
        if call["path"] == log and call["call"] == "pwrite64" and (place := WRITTEN.search(call["rest"])):
            written = max(written, int(place["size"]) + int(place["offset"]))
        elif call["path"] == log and call["call"] in ("fsync", "fdatasync"):
            synced = written
        elif call["call"] == "write" and '"saved ' in call["rest"]:
            found.append((written, synced))
    return found


def test_every_acknowledged_save_is_on_disk_when_the_power_goes(
    process_environment: dict[str, str], tmp_path: Path
) -> None:
    cast = people.make_cast()
    people.import_records(cast.project, [people.make_record(steps=SAVES)])
    people.claim(cast.ann, cast.project)
    with connection.cursor() as cursor:  # the log begins empty, and stays until the end
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database, trace = Path(connection.settings_dict["NAME"]), tmp_path / "trace"
    tracer = ["strace", "-f", "-y", "-e", "trace=write,pwrite64,fsync,fdatasync", "-o", str(trace)]
    traced = shutil.which("strace") is not None
    with subprocess.Popen(
        [*(tracer if traced else []), sys.executable, "-c", SAVER, str(SAVES)],
        cwd=ROOT,
        env=process_environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as saver:
        assert saver.stdout is not None
        said = [saver.stdout.readline().strip() for _ in range(1 + SAVES)]
        assert said == ["synchronous 2", *(f"saved {number}" for number in range(SAVES))]
        if traced:
            acknowledged = _synced_when_acknowledged(trace.read_text(), f"{database}-wal")
            assert len(acknowledged) == SAVES
            assert all(synced == written > 0 for written, synced in acknowledged), acknowledged
            cut = tmp_path / "cut.sqlite3"
            # by another process: when this one closes the file, it loses the locks of its own connections
            for end in ("", "-wal"):
                subprocess.run(["cp", f"{database}{end}", f"{cut}{end}"], check=True)
            os.truncate(f"{cut}-wal", acknowledged[-1][1])
        saver.communicate("\n", timeout=60)
    if traced:
        with closing(sqlite3.connect(cut)) as raw:
            assert raw.execute("SELECT count(*) FROM annotation_label WHERE value = 1").fetchone() == (SAVES,)
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
