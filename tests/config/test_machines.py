"""Two web servers and three workers on one PostgreSQL, one Redis and one bucket, behind a proxy that spreads
what it is asked (docs/machines.md). Each web server has a data folder of its own, as on its own machine."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.files.storage import storages
from django.db import connection

from annotation.core.releases.signatures import SigningKey
from annotation.core.vocabulary import ImportState, SuggestionRunState
from annotation.models import Assignment, ImportFile, Release, Trajectory
from annotation.policies import OPERATOR
from annotation.services import label, suggest
from bench import endurance
from config.broker import Broker
from config.env import Env
from config.settings import files
from config.sign_in import Argon2
from tests import people
from tests.callers import token_of
from tests.forked_workers import ForkedWorker, ForkedWorkers
from tests.judge_server import JudgeServer
from tests.people import PASSWORD, Cast
from tests.servers import WebServer, database_url, server_environment, wait_for
from tests.services.together import annotators
from tests.spreading import SpreadingProxy

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

KEY = "TRISTEP_JUDGE_KEY_TEST"
WORKERS, CLAIMERS, WANTED, TRAJECTORIES = 3, 64, 2, 24
COSTLY = 10
SAVES = 42
# one call of the judge in so many seconds, and so many at a time
GAP, CONCURRENCY = 0.12, 2


@dataclass
class Machines:
    """What runs, and the proxy in front of it."""

    environments: list[dict[str, str]]
    web: list[WebServer]
    workers: list[ForkedWorker]
    proxy: SpreadingProxy
    storage: dict[str, Any]
    logs: Path

    def ask(
        self, method: str, path: str, token: str = "", body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        """One request, on a connection of its own: the status, and the bytes of the answer."""
        line = http.client.HTTPConnection("127.0.0.1", self.proxy.port, timeout=60)
        known = {"Authorization": f"Bearer {token}"} if token else {}
        if isinstance(body, dict):
            body, known["Content-Type"] = json.dumps(body), "application/json"
        try:
            line.request(method, path, body, {"Host": "localhost", **known, **headers})
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()

    def stop(self) -> None:
        """End the web servers."""
        for web in self.web:
            web.stop()

    def restart(self, number: int) -> None:
        """End a web server as a deployment does, and start it anew at its port."""
        assert self.web[number].stop(), "it did not end by itself"
        port = self.web[number].port
        self.web[number] = WebServer(self.environments[number], self.logs / "again.log", port=port)


@pytest.fixture
def judges() -> Iterator[JudgeServer]:
    with JudgeServer(delay=0.1) as server:
        yield server


@pytest.fixture
def machines(
    celery_broker: Broker, judges: JudgeServer, files_in_bucket: dict[str, str], tmp_path: Path
) -> Iterator[Machines]:
    """Two web servers and the workers, with a data folder for each server and one for the workers."""
    shared = {
        **files_in_bucket,
        "TRISTEP_RELEASE_KEY": _one_line(SigningKey.generate()),
        "TRISTEP_JUDGE_URLS": judges.url,
        "TRISTEP_REAP_SECONDS": "2",
        "TRISTEP_WEB_THREADS": "3",
        "TRISTEP_WORKER_THREADS": "2",
        # an hour, so that no minute ends meanwhile
        "TRISTEP_THROTTLE_COSTLY": f"{COSTLY}/hour",
        KEY: "sk-of-the-tests",
    }
    database, environments = database_url(connection.settings_dict), []
    for name in ("web1", "web2", "workers"):
        (data := tmp_path / name).mkdir()
        environments.append(
            server_environment(database=database, data=data, broker=celery_broker.url, **shared)
        )
    first, second, third = environments
    logs = [tmp_path / f"worker{number}.log" for number in range(WORKERS)]
    with ExitStack() as stack, ThreadPoolExecutor(3) as pool:
        starting = [pool.submit(WebServer, one, tmp_path / "web.log") for one in (first, second)]
        forked = pool.submit(ForkedWorkers, third, logs).result()
        stack.callback(forked.stop)
        web = [one.result() for one in starting]
        proxy = stack.enter_context(SpreadingProxy([server.port for server in web]))
        storage = files.read(Env(files_in_bucket))
        running = Machines(environments, web, forked.workers, proxy, storage, tmp_path)
        stack.callback(running.stop)
        yield running


def _one_line(key: SigningKey) -> str:
    return "".join(line for line in key.pem.decode().splitlines() if not line.startswith("-"))


def test_two_web_servers_and_three_workers_are_one_tristep(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    if connection.vendor != "postgresql":  # several machines share no SQLite
        return
    machines: Machines = request.getfixturevalue("machines")
    judges: JudgeServer = request.getfixturevalue("judges")
    monkeypatch.setenv(KEY, "sk-of-the-tests")
    settings.JUDGE_URLS = [judges.url]
    cast = people.make_cast(annotators_per_trajectory=WANTED)

    one_is_signed_in_on_both(machines, cast)
    requests_are_counted_together(machines, cast)
    an_upload_reaches_whichever_worker_takes_it(machines, cast)
    every_trajectory_goes_to_exactly_so_many_people(machines, cast)
    a_judge_is_asked_at_its_rate_by_one_worker_after_the_other(machines, cast, judges)
    a_release_is_signed_by_a_worker_and_the_same_from_both(machines, cast)
    web_servers_are_restarted_in_turn_and_no_save_is_lost(machines, cast)
    for data in (Path(one["TRISTEP_DATA_DIR"]) for one in machines.environments):
        kept = [path.name for path in data.rglob("*") if path.is_file()]
        assert set(kept) <= {"freezing.lock"}, "what a machine keeps for itself"


def one_is_signed_in_on_both(machines: Machines, cast: Cast) -> None:
    type(cast.ann).objects.filter(pk=cast.ann.pk).update(
        password=Argon2().encode(PASSWORD, "a-salt-of-tests")
    )
    once = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(base_url=machines.proxy.url, limits=once, timeout=60) as browser:
        browser.cookies["csrftoken"] = token = "t" * 32
        form = {"username": "ann", "password": PASSWORD, "csrfmiddlewaretoken": token}
        assert browser.post("/sign-in/", data=form).status_code == 302
        for _server in machines.web:
            assert browser.get("/api/v1/me/").json()["username"] == "ann"
    assert set(machines.proxy.given) == {server.port for server in machines.web}


def requests_are_counted_together(machines: Machines, cast: Cast) -> None:
    # an annotator may import nothing, which the server says only as often as it lets them ask
    ask = partial(machines.ask, "POST", "/api/v1/projects/bench/imports/", token_of(cast.ann))
    assert Counter(ask()[0] for _time in range(COSTLY + 4)) == {403: COSTLY, 429: 4}


def an_upload_reaches_whichever_worker_takes_it(machines: Machines, cast: Cast) -> None:
    token = token_of(cast.admin)
    data = people.jsonl(
        people.make_record(n, question=f"Question {n}? [[id:tiny:{n}:0]]") for n in range(TRAJECTORIES)
    )
    where = "/api/v1/projects/bench/imports/?subset=tiny&filename=tiny.jsonl"
    status, body = machines.ask("POST", where, token, data, **{"Content-Type": "application/x-ndjson"})
    assert status == 202, body
    source = ImportFile.objects.get()

    def ended() -> bool:
        source.refresh_from_db()
        return source.state not in (ImportState.QUEUED, ImportState.RUNNING)

    wait_for(ended, "the import to end")
    assert (source.state, source.created_count) == (ImportState.PUBLISHED, TRAJECTORIES), source.error
    assert source.size == len(data)
    bucket = storages.create_storage(machines.storage)
    wait_for(lambda: bucket.listdir("") == ([], []), "the bytes to be deleted")


def claim(machines: Machines, token: str) -> str:
    """Ask until the answer is not that many are asking: "claimed", or the code of the refusal."""
    while True:
        status, body = machines.ask("POST", "/api/v1/projects/bench/claim/", token)
        answer = "claimed" if status == 201 else str(json.loads(body)["error"]["code"])
        if answer != "busy":
            return answer


def every_trajectory_goes_to_exactly_so_many_people(machines: Machines, cast: Cast) -> None:
    tokens = [token_of(user) for user in annotators(cast.project, CLAIMERS)]
    before = Counter(machines.proxy.given)
    with ThreadPoolExecutor(CLAIMERS) as pool:
        answers = Counter(pool.map(partial(claim, machines), tokens))
    slots = WANTED * TRAJECTORIES
    assert answers == {"claimed": slots, "nothing_left": CLAIMERS - slots}
    given = machines.proxy.given - before
    assert min(given[server.port] for server in machines.web) >= CLAIMERS // 2
    held = Counter(Assignment.objects.values_list("trajectory", flat=True))
    assert len(held) == TRAJECTORIES and set(held.values()) == {WANTED}
    assert Assignment.objects.values("trajectory", "annotator").distinct().count() == slots
    assert set(Trajectory.objects.values_list("free_slots", flat=True)) == {0}


def a_judge_is_asked_at_its_rate_by_one_worker_after_the_other(
    machines: Machines, cast: Cast, judges: JudgeServer
) -> None:
    judge = suggest.create_judge(
        actor=OPERATOR,
        project=cast.project,
        name="ok",
        kind="openai_compatible",
        model="ok",
        base_url=judges.url,
        key_name=KEY,
        concurrency=CONCURRENCY,
        rate_per_minute=round(60 / GAP),
    )
    run = suggest.start_run(actor=OPERATOR, judge=judge)
    wait_for(lambda: judges.total >= CONCURRENCY, "the first calls")
    first = next(worker for worker in machines.workers if "annotation.run_suggestions[" in worker.words())
    first.stop()
    assert judges.total < TRAJECTORIES

    def finished() -> bool:
        run.refresh_from_db()
        return run.state == SuggestionRunState.FINISHED and run.lease_until is None

    wait_for(finished, "another worker to finish the run")
    assert (run.attempt, run.progress_done, run.progress_failed) == (2, TRAJECTORIES, 0)
    assert set(judges.calls.values()) == {1}, "nothing is asked for twice"
    assert judges.peak <= CONCURRENCY
    times = sorted(call.at for call in judges.seen)
    assert times[-1] - times[0] >= (TRAJECTORIES - 1) * GAP - 0.2


def a_release_is_signed_by_a_worker_and_the_same_from_both(machines: Machines, cast: Cast) -> None:
    for assignment in Assignment.objects.filter(trajectory=Trajectory.objects.earliest("pk")):
        people.label_all(assignment)
        label.submit(actor=assignment.annotator, assignment=assignment)
    token = token_of(cast.admin)
    place = "/api/v1/projects/bench/releases/"
    status, body = machines.ask("POST", place, token, {"version": "1.0", "title": "Tiny"})
    assert status == 202, body
    wait_for(Release.objects.exists, "a worker to freeze the release")
    for name in ("export/tiny.jsonl", "release-key.pem"):
        first, second = (machines.ask("GET", f"{place}1.0/{name}", token) for _server in machines.web)
        assert first == second and first[0] == 200
    status, body = machines.ask("POST", f"{place}1.0/verify/", token)
    assert status == 200 and json.loads(body)["ok"] is True, body


def web_servers_are_restarted_in_turn_and_no_save_is_lost(machines: Machines, cast: Cast) -> None:
    savers = [one.annotator for one in Assignment.objects.filter(state="open").order_by("pk")[:3]]
    tokens = [token_of(user) for user in savers]

    def end_the_second() -> None:
        assert machines.web[1].stop(), "it did not end by itself"

    steps: list[Callable[[], None]] = [partial(machines.restart, 0), end_the_second]
    saves, _again = endurance.save_through(
        steps, port=machines.proxy.port, slug="bench", tokens=tokens, saves=SAVES, seed=1
    )
    assert endurance.compare(saves) == {"saves": SAVES, "lost": 0, "doubled": 0, "wrong": 0}
