"""The topic `shares`: 32 clients of 6 people label a queue over HTTP.

Every pair must have met within a fifth of the mean, every trajectory exactly two people; what was assigned
must reach those named, and what was claimed and left must come back. With quotas each client is one person
throughout, so that people are as fast as the server has it. Without quotas no queue can make up for that:
there each client is the next person with each claim, so that all are about as fast. The tests run the same,
smaller (tests/bench/test_shares.py).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, count
from math import ceil
from pathlib import Path
from random import Random
from typing import Any

from bench.client import Client, Refused
from bench.endurance import AWAY, PATIENCE
from bench.installations import Installation, Stock
from bench.report import Limit, Report, Say, percentiles, table
from tests.servers import WebServer

PEOPLE, CLIENTS, TRAJECTORIES, ASSIGNED = 6, 32, 600, 60
QUICK_CLIENTS, QUICK_TRAJECTORIES, QUICK_ASSIGNED = 8, 60, 6
SLUG = "shared"
SLACK = 0.01
"""So much more than an even share each may have, so that the last ones find something."""
LEFT_LYING = 0.02
"""The share of claims with which nothing is done."""
UNEVEN = 0.2
WAIT = ("busy", "claim_limit")
ENDS = ("nothing_left", "quota")


@dataclass
class Times:
    """Seconds of each claim, and what went wrong."""

    claims: list[float] = field(default_factory=list)
    failed: list[BaseException] = field(default_factory=list)


def work_off(port: int, tokens: list[str], *, clients: int, seed: int, changing: bool = False) -> Times:
    """Let so many clients claim, label and submit until nothing is left: each for one of these people, or
    (`changing`) for all of them by turns."""
    times = Times()

    def run(number: int) -> None:
        at = number % len(tokens)
        people = tokens[at:] + tokens[:at] if changing else [tokens[at]]
        try:
            Worker(port, people, number, times).run(Random(f"{seed} {number}"))
        except BaseException as error:
            times.failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if times.failed:
        raise times.failed[0]
    return times


@dataclass
class Worker:
    """One client, who claims, labels and submits, for these people (by their tokens) by turns; a connection
    that the server ends is made anew."""

    port: int
    people: list[str]
    number: int
    times: Times
    client: Client | None = None

    def post(self, path: str, value: Any, *, expected: int = 200) -> tuple[float, Any]:
        """Ask until there is an answer. Raises Refused."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.client = self.client or Client(self.port)
                self.client.token = self.people[0]
                return self.client.post(path, value, expected=expected)
            except AWAY:
                self.client = None
                if time.monotonic() > deadline:
                    raise

    def run(self, rng: Random) -> None:
        """Work until nothing is left for any of them."""
        for turn in count():
            key = f"{rng.random()}-{self.number}-{turn}"
            try:
                seconds, mine = self.post(f"/api/v1/projects/{SLUG}/claim/", {"claim_key": key}, expected=201)
            except Refused as refusal:
                if any(code in str(refusal) for code in WAIT):
                    continue
                assert any(code in str(refusal) for code in ENDS), refusal
                del self.people[0]
                if self.people:
                    continue
                return
            self.times.claims.append(seconds)
            if rng.random() >= LEFT_LYING:
                self.label(mine["id"])
            self.people.append(self.people.pop(0))

    def label(self, assignment: int) -> None:
        """Label an assignment whole, and submit it."""
        api = f"/api/v1/assignments/{assignment}/"
        known = self.post(f"{api}labels/", {"op_id": "look", "changes": []})[1]["labels"]
        steps = [one["message_index"] for one in known if one["message_index"] is not None]
        targets: list[dict[str, Any]] = [{"target": "step", "message_index": index} for index in steps]
        changes = [{**one, "version": 0, "value": 1} for one in [*targets, {"target": "outcome"}]]
        self.post(f"{api}labels/", {"op_id": "all", "changes": changes})
        try:
            self.post(f"{api}submit/", {})
        except Refused as refusal:
            # the answer to the first one was lost
            if "not_open" not in str(refusal):
                raise


def finish(
    environment: Mapping[str, str],
    log: Path,
    tokens: list[str],
    clients: int,
    again: Callable[[], int],
    *,
    changing: bool = False,
) -> Times:
    """Work a queue off (as `work_off` does); have what was left lying expire, and lift quotas at last
    (`again` says how much there is to do anew), until nothing is left."""
    server = WebServer(dict(environment), log, processes=2)
    try:
        times, seed = work_off(server.port, tokens, clients=clients, seed=1, changing=changing), 1
        while again():
            seed += 1
            more = work_off(server.port, tokens, clients=clients, seed=seed, changing=changing)
            times.claims += more.claims
        return times
    finally:
        server.stop()


def _finished(
    installation: Installation, log: Path, tokens: list[str], clients: int, *, changing: bool
) -> Times:
    def left() -> int:
        return int(installation.inside(again)["waiting"])

    return finish(installation.environment, log, tokens, clients, left, changing=changing)


def run(databases: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """One queue with quotas and one without, each worked off to its end."""
    clients, trajectories, assigned = (
        (QUICK_CLIENTS, QUICK_TRAJECTORIES, QUICK_ASSIGNED) if quick else (CLIENTS, TRAJECTORIES, ASSIGNED)
    )
    rows = []
    for quotas in ("with", "without"):
        what = f"{databases.kind}, {quotas} quotas"
        installation = databases.installation("shares")
        tokens = installation.inside(prepare, str(trajectories), str(assigned), quotas)["tokens"]
        log = folder / f"{installation.name}.log"
        times = _finished(installation, log, tokens, clients, changing=quotas == "without")
        found = installation.inside(compare)
        p50, p95 = (one * 1000 for one in percentiles(times.claims))
        say(f"{what}: {found}")
        report.line("shares", kind=databases.kind, quotas=quotas, p50=p50, p95=p95, **found)
        rows.append((quotas, *map(str, found.values()), f"{p50:.1f}", f"{p95:.1f}"))
        heading = ("quotas", *found, "claim p50 (ms)", "p95")
        for name in ("wrong", "unfinished", "astray"):
            report.limit(Limit(f"{what}: {name}", found[name], 0))
        if not quick:
            report.limit(Limit(f"{what}: pairs off the mean", found["off"], UNEVEN))
    table(f"Shares, {databases.kind}, {clients} clients", heading, rows)


# ── Inside the product's process ──────────
def prepare(trajectories: str, assigned: str, quotas: str) -> dict[str, Any]:
    """A project with six people, to each of whom something is assigned; `quotas`: "with" or "without"."""
    from annotation.models import Membership, Project, Subset, Trajectory, User
    from annotation.policies import OPERATOR
    from annotation.services import assign
    from annotation.services.shares import limits
    from bench import endurance

    names = [f"sharer{number}" for number in range(PEOPLE)]
    tokens = endurance.prepare(trajectories, *names, slug=SLUG)["tokens"]
    project = Project.objects.get(slug=SLUG)
    Project.objects.update(claim_limit=CLIENTS)
    rows = list(Trajectory.objects.filter(project=project).order_by("pk")[: int(assigned)])
    share = ceil(2 * int(trajectories) / PEOPLE * (1 + SLACK))
    subset = Subset.objects.get(project=project)
    for number, user in enumerate(User.objects.filter(username__in=names).order_by("username")):
        own = rows[number::PEOPLE]
        assign.assign_trajectories(actor=OPERATOR, project=project, trajectories=own, annotators=[user])
        if quotas == "with":
            membership = Membership.objects.get(project=project, user=user)
            limits.set_limits(actor=OPERATOR, membership=membership, quotas={subset: share})
    return {"tokens": tokens}


def again() -> dict[str, Any]:
    """Have what is open be unused for so long that it expires, and without any lift the quotas; how many
    places are free then, for whoever may have them."""
    from datetime import timedelta

    from django.utils import timezone

    from annotation.models import Assignment, Quota, Trajectory
    from annotation.services import claim_expiry

    now = timezone.now()
    before = Assignment.objects.filter(state="open").count()
    for days in (13.5, 30):
        while claim_expiry.sweep(now=now + timedelta(days=days)):
            pass
    expired = before - Assignment.objects.filter(state="open").count()
    free = sum(Trajectory.objects.values_list("free_slots", flat=True))
    lifted = 0 if expired else Quota.objects.all().delete()[0]
    return {"waiting": free if expired or lifted else 0}


def compare() -> dict[str, Any]:
    """How many trajectories have not exactly their people (`wrong`), are not finished, or were assigned and
    reached somebody else (`astray`); and how far the pairs are `off` their mean at most."""
    from annotation.models import Assignment, AuditEvent, Meeting, Trajectory

    held: dict[int, set[str]] = {}
    for one in Assignment.objects.filter(slot__isnull=False).select_related("annotator"):
        held.setdefault(one.trajectory_id, set()).add(one.annotator.username)
    pairs = Counter(pair for people in held.values() for pair in combinations(sorted(people), 2))
    mean = sum(pairs.values()) / max(1, PEOPLE * (PEOPLE - 1) // 2)
    every = [pairs[pair] for pair in combinations([f"sharer{number}" for number in range(PEOPLE)], 2)]
    each = Counter(person for people in held.values() for person in people)
    rows = list(Trajectory.objects.filter(live=True))
    named: dict[str, set[str]] = {}
    for event in AuditEvent.objects.filter(verb="trajectory.assign"):
        named.setdefault(event.object_id, set()).add(event.detail["username"])
    ended = {
        str(pk) for pk in Assignment.objects.filter(slot__isnull=True).values_list("trajectory", flat=True)
    }
    return {
        "trajectories": len(rows),
        "wrong": sum(len(held.get(row.pk, ())) != 2 or bool(row.free_slots or row.reserved) for row in rows)
        + (sum(Meeting.objects.values_list("number", flat=True)) != sum(every)),
        "unfinished": sum(row.state == "labelling" for row in rows),
        "astray": sum(not people <= held[int(pk)] for pk, people in named.items() if pk not in ended),
        "each": " ".join(map(str, sorted(each.values()))),
        "fewest": min(every),
        "most": max(every),
        "mean": round(mean, 1),
        "off": round(max(abs(one - mean) for one in every) / mean, 3),
    }
