"""The topic `requests`: latencies over HTTP of claim, open, save and submit, and of a whole project's pages.

For each size there is one server with two projects of that size: `zero`, of which nothing is labelled, and
`ninety`, of which nine tenths are. The four projects take turns, trajectory by trajectory, so that whatever
else the machine does meets all of them alike.
"""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench import imports, inside, records
from bench.client import Client
from bench.inside import PASSWORD
from bench.installations import Installation, Served, Stock
from bench.report import Limit, Report, Say, percentiles, table

SIZES = (1_000, 20_000)
QUICK_SIZES = (200, 1_000)
# of each project; nine tenths of one are labelled already, and the rest must do
TURNS, QUICK_TURNS = 97, 17
RATIO = 1.5
SAVE_MS = 10
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
        values = self.seconds[what, size, share]
        p50, p95 = percentiles(values)
        return Times(p50=p50 * 1000, p95=p95 * 1000, count=len(values))


@dataclass
class Annotator:
    """One person at one project, of which that share was labelled at the start."""

    client: Client
    slug: str
    size: int
    found: Found
    share: float

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


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Label over HTTP, print, compare small with large."""
    sizes = QUICK_SIZES if quick else SIZES
    installations = {size: prepare(stock, size, folder, say) for size in sizes}
    found = measure(installations, QUICK_TURNS if quick else TURNS, say)
    small, large = sizes
    for share in SHARES:
        rows = []
        for what in found.names(share):
            one, other = (found.of(what, size, share) for size in sizes)
            times = (f"{value:.1f}" for value in (one.p50, one.p95, other.p50, other.p95))
            rows.append((what, *times, f"{other.p50 / one.p50:.2f}", str(min(one.count, other.count))))
            report.line(
                "request", kind=stock.kind, what=what, share=share, small=asdict(one), large=asdict(other)
            )
        table(
            f"Requests, {stock.kind}, {share:.0%} labelled (ms)",
            ("", f"p50 of {small:,}", "p95", f"p50 of {large:,}", "p95", "ratio of p50", "n"),
            rows,
        )
    for share in SHARES:
        for what in FLAT:
            one, other = (found.of(what, size, share) for size in sizes)
            name = f"{stock.kind}: {what}, {large:,} against {small:,}, {share:.0%} labelled"
            report.limit(Limit(name, other.p50 / one.p50, RATIO))
        if stock.kind == "sqlite":
            name = f"sqlite: save label, p50 of {small:,}, {share:.0%} labelled (ms)"
            report.limit(Limit(name, found.of("save label", small, share).p50, SAVE_MS))


def prepare(stock: Stock, size: int, folder: Path, say: Say) -> Installation:
    """An installation with both projects of that size."""
    path = imports.written(folder, "own.jsonl", [size], records.write)[size]
    installation = stock.installation(f"requests_{size}")
    for slug, share in PROJECTS.items():
        installation.inside(inside.start, slug)
        installation.inside(inside.import_file, slug, path)
        made = installation.inside(inside.fill, slug, str(share))
        say(f"{installation.name}: {slug} has {made['labels']:,} labels of {made['labelled']:,} trajectories")
    return installation


def measure(installations: dict[int, Installation], turns: int, say: Say) -> Found:
    """Start a server on every installation and label `turns` trajectories of each project over HTTP."""
    found = Found()
    with contextlib.ExitStack() as stack:
        served = {}
        for size, installation in installations.items():
            served[size] = Served(installation)
            stack.callback(served[size].stop)
        say("requests: the servers are up")

        def annotators(username: str) -> list[Annotator]:
            clients = {size: Client(server.port) for size, server in served.items()}
            for client in clients.values():
                stack.callback(client.close)
                client.sign_in(username, PASSWORD)
            return [
                Annotator(clients[size], slug, size, found, share)
                for slug, share in PROJECTS.items()
                for size in clients
            ]

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
