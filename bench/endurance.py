"""The topic `endurance`: saves while the server is killed, claims while people leave.

Nothing may be lost, doubled or stuck. The tests run the same, smaller (tests/bench/test_endurance.py).
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.client import Client, Refused
from bench.installations import Stock
from bench.report import Limit, Report, Say, table
from tests.servers import WebServer

SAVES, KILLS, SAVERS = 1_000, 20, 4
CLAIMERS, TRAJECTORIES = 64, 200
QUICK_SAVES, QUICK_KILLS, QUICK_CLAIMERS, QUICK_TRAJECTORIES = 40, 1, 10, 16
SLUG = "enduring"
NOUGHT = ("lost", "doubled", "wrong", "wrong_counts", "orphaned", "doubled_claims", "unfinished")
PATIENCE = 120.0
AWAY = (OSError, http.client.HTTPException)


@dataclass
class Acknowledged:
    """The saves that the server has acknowledged: [assignment, op_id, message_index, value] each, in
    order."""

    saves: list[tuple[int, str, int, int]] = field(default_factory=list)
    again: int = 0


class Saver:
    """One person, by a token, who saves label after label until each is acknowledged."""

    def __init__(self, port: int, token: str, slug: str) -> None:
        self.port, self.token, self.slug = port, token, slug
        self.client: Client | None = None
        self.done = Acknowledged()

    def run(self, saves: int, begun: Callable[[], None], faults_are_over: threading.Event) -> None:
        """Make so many acknowledged saves, on one trajectory, step by step and round by round; the last one
        after all faults, which so meet somebody who saves, however late they come."""
        place = f"/api/v1/projects/{self.slug}/claim/"
        claimed = self._until(lambda it: it.post(place, {"resume": True}, expected=201))
        path = f"/api/v1/assignments/{claimed['id']}/labels/"
        versions = {one["message_index"]: one["version"] for one in self._save(path, "look", [])["labels"]}
        for number in range(saves):
            begun()
            if number == saves - 1:
                faults_are_over.wait()
            index = list(versions)[number % len(versions)]
            value = number // len(versions) % 3 - 1
            change = {"target": "step", "message_index": index, "version": versions[index], "value": value}
            op_id = f"save-{number}"
            answer = self._save(path, op_id, [change])
            if answer["results"][0]["status"] != "saved":
                raise RuntimeError(f"{op_id}: {answer['results'][0]}")
            self.done.saves.append((claimed["id"], op_id, index, value))
            versions = {one["message_index"]: one["version"] for one in answer["labels"]}

    def _save(self, path: str, op_id: str, changes: list[dict[str, Any]]) -> Any:
        batch = {"op_id": op_id, "changes": changes}
        return self._until(lambda it: it.post(path, batch))

    def _until(self, ask: Callable[[Client], tuple[float, Any]]) -> Any:
        """Ask until there is an answer, as the page does; the same batch again changes nothing."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if self.client is None:
                    self.client = Client(self.port, token=self.token)
                return ask(self.client)[1]
            except (*AWAY, Refused):
                self.done.again += 1
                if self.client is not None:
                    self.client.close()
                    self.client = None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def save_through(
    faults: Sequence[Callable[[], None]], *, port: int, slug: str, tokens: list[str], saves: int, seed: int
) -> tuple[list[tuple[int, str, int, int]], int]:
    """Let people, by their tokens, save at that port while one fault after the other happens, each at a
    random moment among as many saves: what was acknowledged, and how often somebody had to ask again. A fault
    returns once the server answers again."""
    rng = random.Random(seed)
    savers = [Saver(port, token, slug) for token in tokens]
    begun = threading.Semaphore(0)
    over = threading.Event()
    failed: list[BaseException] = []

    def run(saver: Saver) -> None:
        try:
            saver.run(saves // len(tokens), begun.release, over)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(saver,)) for saver in savers]
    for thread in threads:
        thread.start()
    try:
        for fault in faults:
            for _save in range(max(1, saves // (len(faults) + 1))):
                if not begun.acquire(timeout=PATIENCE):
                    raise RuntimeError("nobody saves any more") from (failed[0] if failed else None)
            time.sleep(rng.uniform(0, 0.02))
            fault()
    finally:
        over.set()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return [save for saver in savers for save in saver.done.saves], sum(saver.done.again for saver in savers)


class Web:
    """The web server at one port, which may be killed."""

    def __init__(self, environment: Mapping[str, str], log: Path) -> None:
        self._environment, self._log = dict(environment), log
        self._running = WebServer(self._environment, log, processes=2)
        self.port = self._running.port
        self.answers = self._running.answers

    def kill(self) -> None:
        """Kill it and start it again."""
        self._running.kill()
        self._running = WebServer(self._environment, self._log, port=self.port, processes=2)

    def stop(self) -> None:
        """Stop it."""
        self._running.stop()


def compare(acknowledged: list[tuple[int, str, int, int]]) -> dict[str, int]:
    """The acknowledged saves that are not in the history (lost) or twice (doubled), and the labels that are
    not as they were last acknowledged (wrong), inside the product's process."""
    from annotation.models import Label, LabelEvent, SaveOperation

    ours = {assignment for assignment, *_rest in acknowledged}
    events = Counter(
        LabelEvent.objects.filter(assignment__in=ours, kind="save").values_list(
            "assignment", "op_id", "step__message_index", "value"
        )
    )
    operations = set(SaveOperation.objects.filter(assignment__in=ours).values_list("assignment", "op_id"))
    last = {(assignment, index): value for assignment, _op_id, index, value in acknowledged}
    stored = Label.objects.filter(assignment__in=ours)
    values = {
        (assignment, index): value
        for assignment, index, value in stored.values_list("assignment", "step__message_index", "value")
    }
    saved = [tuple(save) for save in acknowledged]
    return {
        "saves": len(saved),
        "lost": sum(not events[save] or save[:2] not in operations for save in saved),
        "doubled": sum(events[save] > 1 for save in saved),
        "wrong": sum(values.get(place) != value for place, value in last.items()),
    }


def claim_and_leave(slug: str, *, people: int, seed: int) -> dict[str, int]:
    """Let people claim, label, submit and return at once while others remove, demote and close them; then let
    new people finish what is left (inside the product's process)."""
    from django.db import connections

    from annotation.core.errors import TristepError
    from annotation.models import Assignment, Membership, Project, Trajectory, User
    from annotation.policies import OPERATOR
    from annotation.services import accounts, assign, label, projects

    project = Project.objects.get(slug=slug)
    wanted = project.annotators_per_trajectory

    def newcomer(name: str) -> User:
        user = accounts.create_user(actor=OPERATOR, username=name)
        projects.add_member(actor=OPERATOR, project=project, user=user, is_annotator=True)
        return user

    def finish(user: User, mine: Any) -> None:
        indexes = mine.trajectory.steps.values_list("message_index", flat=True)
        changes = [
            {"target": "step", "message_index": index, "version": 0, "value": 1, "source": "explicit"}
            for index in indexes
        ]
        changes.append({"target": "outcome", "version": 0, "value": 1, "source": "explicit"})
        label.save_labels(actor=user, assignment=mine, op_id=f"all-{mine.pk}", changes=changes)
        label.submit(actor=user, assignment=mine)

    def work(user: User, rng: random.Random) -> None:
        refusals = 0
        while refusals < 5:
            try:
                mine = assign.claim_next(actor=user, project=project)
                if rng.random() < 0.2:
                    assign.return_assignment(actor=user, assignment=mine, reason="not mine")
                elif rng.random() < 0.9:
                    finish(user, mine)
            except TristepError as error:
                if error.code == "nothing_left":
                    return
                refusals += error.code != "busy"

    def leave(user: User, rng: random.Random) -> None:
        time.sleep(rng.uniform(0, 2))
        way = rng.randrange(3)
        if way == 0:
            projects.remove_member(
                actor=OPERATOR, membership=Membership.objects.get(project=project, user=user)
            )
        elif way == 1:
            projects.add_member(actor=OPERATOR, project=project, user=user, is_adjudicator=True)
        else:
            accounts.close_account(actor=OPERATOR, user=user)

    users = [newcomer(f"claimer{number}") for number in range(people)]
    failed: list[BaseException] = []

    def run(do: Callable[[User, random.Random], None], user: User, number: int) -> None:
        try:
            do(user, random.Random(f"{seed} {number}"))
        except BaseException as error:
            failed.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(work, user, n)) for n, user in enumerate(users)]
    threads += [threading.Thread(target=run, args=(leave, user, n)) for n, user in enumerate(users) if n % 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]

    rows = Trajectory.objects.filter(project=project, live=True)
    active = Assignment.objects.filter(project=project, state__in=("open", "submitted"))
    wrong = sum(row.free_slots != wanted - active.filter(trajectory=row).count() for row in rows)
    held = active.filter(state="open")
    orphaned = sum(
        not claim.annotator.is_active
        or not Membership.objects.filter(project=project, user=claim.annotator, is_annotator=True).exists()
        for claim in held.select_related("annotator")
    )
    assign.take_back(actor=OPERATOR, project=project, assignments=list(held))
    for number in range(wanted):
        fresh = newcomer(f"fresh{number}")
        try:
            while True:
                finish(fresh, assign.claim_next(actor=fresh, project=project))
        except TristepError as error:
            if error.code != "nothing_left":
                raise
    doubled = sum(active.filter(trajectory=row).count() > wanted for row in rows)
    return {
        "claimers": people,
        "trajectories": rows.count(),
        "left": sum(1 for number in range(people) if number % 2),
        "wrong_counts": wrong,
        "orphaned": orphaned,
        "doubled": doubled,
        "unfinished": rows.filter(state="labelling").count(),
    }


def run(databases: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Both probes on one fresh installation; everything that is not nought is a miss."""
    saves, kills = (QUICK_SAVES, QUICK_KILLS) if quick else (SAVES, KILLS)
    claimers, trajectories = (QUICK_CLAIMERS, QUICK_TRAJECTORIES) if quick else (CLAIMERS, TRAJECTORIES)
    installation = databases.installation("endurance")
    tokens = installation.inside(prepare, str(trajectories), *(f"saver{n}" for n in range(SAVERS)))["tokens"]
    log, path = folder / "endurance.log", folder / f"{installation.name}-acknowledged.json"
    web = Web(installation.environment, log)
    try:
        acknowledged, again = save_through(
            [web.kill] * kills, port=web.port, slug=SLUG, tokens=tokens, saves=saves, seed=1
        )
    finally:
        web.stop()
    path.write_text(json.dumps(acknowledged))
    found = {"kills": kills, "asked_again": again, **installation.inside(compare_file, path)}
    say(f"{installation.name}: {found['saves']:,} saves, {kills} kills, {again:,} times asked again")
    claims = installation.inside(claim, str(claimers))
    say(f"{installation.name}: {claimers} claimers, {claims['left']} of whom left")
    found |= {name if name != "doubled" else "doubled_claims": n for name, n in claims.items()}
    table(f"Endurance, {databases.kind}", tuple(found), [tuple(map(str, found.values()))])
    report.line("endurance", kind=databases.kind, **found)
    for name in NOUGHT:
        report.limit(Limit(f"{databases.kind}: {name.replace('_', ' ')}", found[name], 0))


# ── Inside the product's process ──────────
def prepare(trajectories: str, *names: str, slug: str = SLUG) -> dict[str, Any]:
    """A project with trajectories and savers."""
    from annotation.policies import OPERATOR
    from annotation.services import accounts, ingest, projects
    from bench import records

    project = projects.create_project(actor=OPERATOR, name=slug, slug=slug, guidelines="Judge each step.")
    tokens = []
    for name in names:
        user = accounts.create_user(actor=OPERATOR, username=name)
        projects.add_member(actor=OPERATOR, project=project, user=user, is_annotator=True)
        tokens.append(accounts.issue_token(actor=OPERATOR, user=user, name="bench")[1])
    lines = b"".join(json.dumps(record).encode() + b"\n" for record in records.records(int(trajectories)))
    source = ingest.receive_file(
        actor=OPERATOR, project=project, subset="made", filename="made.jsonl", chunks=[lines], enqueue=False
    )
    ingest.run_import(source_id=source.pk)
    return {"tokens": tokens}


def compare_file(path: str) -> dict[str, int]:
    """`compare` of what a file holds."""
    return compare(json.loads(Path(path).read_text()))


def claim(people: str) -> dict[str, int]:
    """`claim_and_leave` by so many people."""
    return claim_and_leave(SLUG, people=int(people), seed=1)
