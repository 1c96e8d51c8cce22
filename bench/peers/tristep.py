"""Tristep as `make run` starts it, in the protocol of its peers.

A save is one label, on disk when it is answered.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import inside, records, releases
from bench.client import Client, Refused
from bench.inside import PASSWORD
from bench.installations import Installation, Served, Stock
from bench.peers.peer import Moved, emptied, install, postmaster
from bench.records import ROOT

SLUG, EXPORTED = "steps", "exported"


@dataclass
class Tristep:
    """One installation on a database of the stock; `exported` records are labelled for the export."""

    folder: Path
    stock: Stock
    people: int
    exported: int
    name: str = ""
    settings: str = ""
    installation: Installation | None = None
    server: Served | None = None

    def install(self) -> tuple[float, int]:
        """As `Peer`."""
        spent = install(self.folder / "environment", "sync", "--require-hashes", ROOT / "requirements.lock")
        database = {"sqlite": "SQLite", "postgres": "PostgreSQL"}[self.stock.kind]
        self.name = f"Tristep, {database}"
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        self.settings = f"Tristep at {commit.stdout.strip()}, `make run` on {database}"
        return spent

    def start(self) -> None:
        """As `Peer`."""
        self.installation = self.stock.untouched("peers")
        python = str(self.folder / "environment" / "bin" / "python")
        self.server = Served(self.installation, "--no-demo", python=python)
        Client(self.server.port).get("/sign-in/")

    def add(self, path: Path, count: int) -> Moved:
        """As `Peer`: by the command."""
        self._inside(inside.start, SLUG)
        self._inside(members, SLUG, str(self.people))
        told = self._inside(inside.import_file, SLUG, path)
        if told["trajectories"] != count:
            raise Refused(f"{count} records were sent, {told['trajectories']} imported")
        return Moved(count, told["seconds"], told["peak_bytes"])

    def person(self, number: int) -> Worker:
        """As `Peer`."""
        assert self.server is not None
        client = Client(self.server.port, reopens=True)
        client.sign_in(f"person{number}", PASSWORD)
        return Worker(client, number)

    def export(self) -> Moved:
        """As `Peer`: a release is frozen, which checks all of it, and written as AgentProcessBench lines."""
        assert self.installation is not None
        path = emptied(self.folder / "out") / "records.jsonl"
        records.write(path, self.exported)
        self._inside(inside.start, EXPORTED)
        self._inside(inside.import_file, EXPORTED, path)
        self._inside(inside.fill, EXPORTED, "1", "unanimous")
        told = [
            self._inside(releases.publish, work, EXPORTED, self.installation.folder)
            for work in ("freeze", "export")
        ]
        return Moved(self.exported, sum(one["seconds"] for one in told))

    def _inside(self, work: Any, *arguments: str | Path) -> dict[str, Any]:
        assert self.installation is not None
        return self.installation.inside(work, *arguments)

    def roots(self) -> list[int]:
        """As `Peer`."""
        if self.server is None:
            return []
        database = [postmaster(self.stock.address)] if self.stock.kind == "postgres" else []
        return [self.server.process.pid, *database]

    def stop(self) -> None:
        """As `Peer`."""
        if self.server:
            self.server.stop()
        self.server = None


@dataclass
class Worker:
    """A `Person`."""

    client: Client
    number: int
    labels: int = 0
    assignment: int = 0
    opened: int = 0
    saves: int = 0
    steps: list[int] = field(default_factory=list)
    versions: dict[int, int] = field(default_factory=dict)

    def open_next(self) -> float:
        """As `Person`: claimed, then the page."""
        self.opened += 1
        key = {"claim_key": f"bench-{self.number}-{self.opened}"}
        claimed, found = self.client.post(f"/api/v1/projects/{SLUG}/claim/", key, expected=201)
        self.assignment = found["id"]
        seconds, _ = self.client.get(f"/assignments/{self.assignment}/")
        body = json.loads(self.client.get(f"/api/v1/assignments/{self.assignment}/")[1])
        self.steps = [step["message_index"] for step in body["steps"]]
        self.labels, self.versions = len(self.steps) + 1, {}
        return claimed + seconds

    def save(self, which: int, value: int) -> float:
        """As `Person`."""
        self.saves += 1
        change: dict[str, Any] = {"version": self.versions.get(which, 0), "value": value}
        if which < len(self.steps):
            change |= {"target": "step", "message_index": self.steps[which]}
        else:
            change["target"] = "outcome"
        known = sum(self.versions.values())
        batch = {"op_id": f"press-{self.saves}", "changes": [change], "known_versions": known}
        seconds, saved = self.client.post(f"/api/v1/assignments/{self.assignment}/labels/", batch)
        if saved["results"][0]["status"] != "saved":
            raise Refused(f"not saved: {saved['results'][0]}")
        self.versions[which] = saved["results"][0]["label"]["version"]
        return seconds

    def submit(self) -> float:
        """As `Person`."""
        return self.client.post(f"/api/v1/assignments/{self.assignment}/submit/", {})[0]

    def close(self) -> None:
        """As `Person`."""
        self.client.close()


# ── Inside the product's process ──────────
def members(slug: str, count: str) -> dict[str, Any]:
    """So many annotators more, who have read the guidelines."""
    from annotation.models import Project
    from annotation.policies import OPERATOR
    from annotation.services import accounts, projects

    project = Project.objects.get(slug=slug)
    for number in range(int(count)):
        user = accounts.create_user(
            actor=OPERATOR, username=f"person{number}", password=PASSWORD, check_password=False
        )
        projects.add_member(actor=OPERATOR, project=project, user=user, is_annotator=True)
        projects.read_guidelines(actor=user, guideline=project.guidelines.get())
    return {"people": int(count)}
