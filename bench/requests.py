"""Measure latencies over HTTP: claim, open, save and submit, and the pages of a whole project.

For each size there is one server with two projects of that size: `zero`, of which nothing is labelled, and
`ninety`, of which nine tenths are. The four projects take turns, trajectory by trajectory, so that whatever
else the machine does meets all of them alike.
"""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from bench.client import Client
from bench.inside import PASSWORD
from bench.installations import Installation, Served

PROJECTS = {"zero": 0.0, "ninety": 0.9}
SHARES = tuple(PROJECTS.values())
FLAT = ("claim next", "save label")
WARM_UP = 3
LOOKS = 5

HEALTH = "empty request (healthz)"
ADMIN_PAGES = {
    "page: project": "/p/{slug}/",
    "page: trajectories": "/p/{slug}/trajectories/",
    "page: agreement": "/p/{slug}/agreement/",
    "api: progress": "/api/v1/projects/{slug}/progress/",
}
JUDITH_PAGES = {"page: disputes": "/p/{slug}/adjudication/"}
ANN_PAGES = {"page: my work": "/p/{slug}/work/"}


@dataclass
class Times:
    """Milliseconds of one kind of request."""

    p50: float
    p95: float
    count: int


@dataclass
class Found:
    """All times, in seconds, by (kind of request, size, share labelled)."""

    seconds: dict[tuple[str, int, float], list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, what: str, size: int, share: float, seconds: float) -> None:
        """Note one request."""
        self.seconds[what, size, share].append(seconds)

    def names(self, share: float) -> list[str]:
        """The kinds of request, in the order in which they were first made."""
        return list(dict.fromkeys(what for what, _, of in self.seconds if of == share))

    def of(self, what: str, size: int, share: float) -> Times:
        """Median and 95th percentile."""
        values = sorted(self.seconds[what, size, share])
        cuts = quantiles(values, n=20, method="inclusive") if len(values) > 1 else values * 19
        return Times(p50=cuts[9] * 1000, p95=cuts[18] * 1000, count=len(values))


@dataclass
class Annotator:
    """One person at one project."""

    client: Client
    slug: str
    size: int
    found: Found

    @property
    def share(self) -> float:
        """How much of the project was labelled at the start."""
        return PROJECTS[self.slug]

    def turn(self, number: int) -> None:
        """Claim a trajectory, open it, label it press by press, submit it."""
        note = self._note if number >= WARM_UP else self._forget
        note(HEALTH, self.client.get("/healthz")[0])
        key = {"claim_key": f"bench-{self.slug}-{number}"}
        seconds, claimed = self.client.post(f"/api/v1/projects/{self.slug}/claim/", key, expected=201)
        note("claim next", seconds)
        api = f"/api/v1/assignments/{claimed['id']}/"
        note("open trajectory (page)", self.client.get(f"/assignments/{claimed['id']}/")[0])
        seconds, body = self.client.get(api)
        note("open trajectory (API)", seconds)
        changes: list[dict[str, Any]] = [
            {"target": "step", "message_index": step["message_index"], "version": 0, "value": 1}
            for step in json.loads(body)["steps"]
        ]
        changes.append({"target": "outcome", "version": 0, "value": 1})
        for number, change in enumerate(changes):
            batch = {"op_id": f"press-{number}", "changes": [change]}
            seconds, saved = self.client.post(f"{api}labels/", batch)
            if saved["results"][0]["status"] != "saved":
                raise RuntimeError(f"not saved: {saved['results'][0]}")
            note("save label", seconds)
        note("submit", self.client.post(f"{api}submit/", {})[0])

    def look(self, pages: dict[str, str]) -> None:
        """The pages that show a whole project."""
        for what, path in pages.items():
            self._note(what, self.client.get(path.format(slug=self.slug))[0])

    def _note(self, what: str, seconds: float) -> None:
        self.found.add(what, self.size, self.share, seconds)

    def _forget(self, what: str, seconds: float) -> None:
        """The first few requests warm the caches up."""


def prepare(installations: dict[int, Installation], folder: Path, say: Callable[[str], None]) -> None:
    """Import the second project of every installation and label nine tenths of it."""
    for size, installation in installations.items():
        installation.inside("start", "ninety")
        installation.inside("import", "ninety", folder / f"{size}.jsonl")
        for slug, share in PROJECTS.items():
            made = installation.inside("fill", slug, str(share))
            labels = f"{made['labels']:,} labels of {made['labelled']:,} trajectories"
            say(f"{installation.name}: {slug} has {labels}")


def measure(
    kind: str, installations: dict[int, Installation], folder: Path, turns: int, say: Callable[[str], None]
) -> Found:
    """Start a server on every installation and label `turns` trajectories of each project over HTTP."""
    prepare(installations, folder, say)
    found = Found()
    with contextlib.ExitStack() as stack:
        served = {}
        for size, installation in installations.items():
            served[size] = Served(installation)
            stack.callback(served[size].stop)
        say(f"{kind}: the servers are up")

        def annotators(username: str) -> list[Annotator]:
            clients = {size: Client(server.port) for size, server in served.items()}
            for client in clients.values():
                stack.callback(client.close)
                client.sign_in(username, PASSWORD)
            return [Annotator(clients[size], slug, size, found) for slug in PROJECTS for size in clients]

        label(annotators("ann"), turns)
        for username, pages in (("ann", ANN_PAGES), ("judith", JUDITH_PAGES), ("admin", ADMIN_PAGES)):
            reviewers = annotators(username)
            for _ in range(LOOKS):
                for annotator in reviewers:
                    annotator.look(pages)
    return found


def label(annotators: list[Annotator], turns: int) -> None:
    """Take turns, as often as the smallest project allows."""
    for number in range(turns + WARM_UP):
        for annotator in annotators:
            annotator.turn(number)
