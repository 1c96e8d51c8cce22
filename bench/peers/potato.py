"""Potato as its Docker image runs it: one gunicorn process (more lose labels, it says) with eight threads.

A save is `POST /updateinstance`, which its page sends half a second after each change: all labels of the
record. The server writes anew the file of all that this person has labelled so far, appends to their history,
and syncs both. Records are read when it starts, and kept in memory.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from bench import records
from bench.client import Client, Refused
from bench.installations import Failed
from bench.peers.peer import (
    PASSWORD,
    Moved,
    Server,
    emptied,
    name_of,
    peak,
    plain_environment,
    same_as,
    timed,
    turns,
    version,
)
from tests.servers import free_port

PACKAGE: Final = "potato-annotation"
THREADS: Final = 8
OUTCOMES: Final = {1: "success", 0: "unclear", -1: "failure"}
# YAML takes JSON
SETTINGS: Final[dict[str, Any]] = {
    "annotation_task_name": "Steps",
    "task_dir": ".",
    "output_annotation_dir": "labels",
    "data_files": ["records.jsonl"],
    "item_properties": {"id_key": "id", "text_key": "question"},
    "user_config": {"allow_all_users": True},
    # few at a time; "fixed_order" gives each person all records at once, and each save writes their names
    "assignment_strategy": "random",
    "num_annotators_per_item": 2,
    "instance_display": {
        "fields": [
            {"key": "question", "type": "text", "label": "Task"},
            {"key": "structured_turns", "type": "coding_trace", "label": "Trajectory"},
        ]
    },
    "annotation_schemes": [
        {
            "annotation_type": "process_reward",
            "name": "steps",
            "description": "Label each step",
            "steps_key": "structured_turns",
            "mode": "per_step",
            "allow_neutral": True,
            "inline_with_trace": True,
        },
        {
            "annotation_type": "radio",
            "name": "outcome",
            "description": "Outcome",
            "labels": list(OUTCOMES.values()),
        },
    ],
}


@dataclass
class Potato:
    """One task in `folder`."""

    folder: Path
    name: str = "Potato"
    settings: str = ""
    server: Server | None = None
    port: int = field(default_factory=free_port)

    def install(self) -> tuple[float, int]:
        """As `Peer`."""
        spent = same_as("potato", emptied(self.folder / "environment"), self.folder)
        python = self.folder / "environment" / "bin" / "python"
        self.settings = (
            f"{PACKAGE} {version(python, PACKAGE)}, gunicorn {version(python, 'gunicorn')}, {THREADS} threads"
        )
        return spent

    def start(self) -> None:
        """As `Peer`; it does not start without a record."""
        task = emptied(self.folder / "task")
        (task / "config.yaml").write_text(json.dumps(SETTINGS))
        self._write(records.records(1))
        self._serve()

    def _serve(self) -> None:
        url = f"http://127.0.0.1:{self.port}"
        self.server = Server(
            [
                *(self.folder / "environment" / "bin" / "gunicorn", "--bind", f"127.0.0.1:{self.port}"),
                *("--workers", "1", "--threads", str(THREADS), "--timeout", "120"),
                *("--access-logfile", "-", "--error-logfile", "-"),
                "potato.flask_server:create_app('config.yaml')",
            ],
            self.folder / "task",
            plain_environment(POTATO_SECRET_KEY="a key for the bench alone"),
            ready=f"{url}/",
        )

    def _write(self, rows: Iterable[Mapping[str, Any]]) -> None:
        with (self.folder / "task" / "records.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(converted(row)) + "\n" for row in rows)

    def add(self, path: Path, count: int) -> Moved:
        """As `Peer`: how much longer it takes to start with them."""
        self.stop()
        bare = timed(self._serve)
        self.stop()
        with path.open(encoding="utf-8") as file:
            self._write(map(json.loads, file))
        seconds = timed(self._serve) - bare
        return Moved(count, max(seconds, 1e-9), peak(self.roots()))

    def person(self, number: int) -> Worker:
        """As `Peer`."""
        client = Client(self.port, reopens=True)
        client.form("/register", {"email": f"person{number}", "pass": PASSWORD, "action": "signup"})
        return Worker(client)

    def export(self) -> Moved:
        """As `Peer`: JSON Lines, for its `coding_eval` finds no step rewards that its own page has stored."""
        out = emptied(self.folder / "out")
        command = [self.folder / "environment" / "bin" / "python", "-m", "potato.export"]
        command += ["--config", "config.yaml", "--format", "jsonl", "--output", out]
        seconds = timed(lambda: self._run(command))
        return Moved(exported(out), seconds)

    def _run(self, command: list[Any]) -> None:
        done = subprocess.run(
            command,
            cwd=self.folder / "task",
            env=plain_environment(),
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise Failed(f"Potato's export failed: {done.stderr.decode(errors='replace')[-2000:]}")

    def roots(self) -> list[int]:
        """As `Peer`."""
        return [self.server.process.pid] if self.server else []

    def stop(self) -> None:
        """As `Peer`."""
        if self.server:
            self.server.stop()
        self.server = None


@dataclass
class Worker:
    """A `Person`."""

    client: Client
    labels: int = 0
    item: str = ""
    given: dict[int, int] = field(default_factory=dict)

    def open_next(self) -> float:
        """As `Person`: what its button "Next" does, a move and then the page."""
        moved = 0.0
        if self.item:
            asked = {"action": "next_instance"}
            moved, _ = self.client.post("/annotate", asked, X_Potato_Navigation="1")
        seconds, _ = self.client.get("/annotate")
        self.item = json.loads(self.client.get("/api/current_instance")[1])["instance_id"]
        data = json.loads(self.client.get(f"/api/instance_data?instance_id={self.item}")[1])
        self.labels = labels(data)
        self.given = {}
        return moved + seconds

    def save(self, which: int, value: int) -> float:
        """As `Person`."""
        self.given[which] = value
        asked = {
            "instance_id": self.item,
            "annotations": answers_of(self.given, self.labels),
            "cleared_schemas": [],
            "span_annotations": [],
        }
        seconds, said = self.client.post("/updateinstance", asked)
        if said["status"] != "success":
            raise Refused(f"not saved: {said}")
        return seconds

    def submit(self) -> float:
        """As `Person`: there is no such act."""
        return 0.0

    def close(self) -> None:
        """As `Person`."""
        self.client.close()


# ── Formats ───────────────────────────────
def converted(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as Potato's trace display and its step rewards take it."""
    before, steps = turns(record)
    return {
        "id": name_of(record),
        "question": record["question"],
        "structured_turns": [
            {"role": "user", "content": before},
            *(
                {
                    "role": "assistant",
                    "content": turn.said,
                    "tool_calls": [
                        {
                            "tool": call["name"] if call else "answer",
                            "input": {"arguments": call["arguments"]} if call else {},
                            "output": result or "",
                        }
                        for call, result in zip_longest(turn.calls, turn.results)
                    ],
                }
                for turn in steps
            ),
        ],
    }


def labels(data: Mapping[str, Any]) -> int:
    """How many labels an item takes that the server sends."""
    found = data.get("structured_turns") or data["data"]["structured_turns"]
    return sum(turn["role"] == "assistant" for turn in found) + 1


def answers_of(given: Mapping[int, int], wanted: int) -> dict[str, str]:
    """What the page sends for the labels given so far: those of steps by number, that of the outcome last."""
    steps = [{"index": 0, "reward": None}]  # the turn of the user, which takes none
    steps += [{"index": number + 1, "reward": given.get(number)} for number in range(wanted - 1)]
    found = {"steps:steps": json.dumps({"steps": steps, "mode": "per_step"})}
    if wanted - 1 in given:
        outcome = OUTCOMES[given[wanted - 1]]
        found[f"outcome:{outcome}"] = outcome
    return found


def exported(folder: Path) -> int:
    """How many records an export has labels of steps for, by anybody."""
    return sum(
        bool(json.loads(line).get("labels", {}).get("steps"))
        for path in folder.glob("annotations*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    )
