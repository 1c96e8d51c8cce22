"""Fixtures for every room, and the rules about skipping.

`make test` runs everything on SQLite and, on PostgreSQL, what can differ there: see ON_BOTH. A skip is a
failure when TRISTEP_REQUIRE_ALL=1, as it is in CI.
"""

from __future__ import annotations

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from django.conf import settings as django_settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import TransactionTestCase, override_settings
from django.utils import timezone, translation
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker

from annotation.core.baseline import forest
from config.broker import Broker, BrokerMissing
from config.server.frames import with_room
from config.server.loading import keep_what_is_loaded
from tests import databases
from tests.browser.server import Site, shared_site
from tests.servers import ROOT, ServerMissing, WebServer, Worker, database_url, server_environment
from tests.shared import locked

# until all are collected: see config/server/loading.py
gc.disable()

pytest_plugins = [
    *("tests.chromium", "tests.fixtures.chance", "tests.fixtures.shared_rows", "tests.people"),
    *("tests.fixtures.judges", "tests.fixtures.uploads", "tests.fixtures.agreement"),
    *("tests.fixtures.resolved_tasks", "tests.fixtures.derivations", "tests.fixtures.distractors"),
    *("tests.fixtures.questions", "tests.fixtures.buckets", "tests.fixtures.in_process"),
    "tests.fixtures.wheels",
]

# A busy machine is not a finding: properties are about values, bench/ is about time.
hypothesis_settings.register_profile("tristep", deadline=None)
hypothesis_settings.load_profile("tristep")

PUBLISHED = ROOT.parent / "shared" / "data"
# Queries, locks, transactions, migrations and triggers may differ between databases. How a page looks, who
# may do what, how the API puts it into words and what pure code computes do not. The two modules about
# queries open every page and every list of the API once. Services say themselves which of their tests are
# about locks and races, JSON, NULLs, text and aggregates; together these ask each of their statements.
ON_BOTH = (
    *("commands", "config", "jobs", "models"),
    *("api/test_queries.py", "frontend/test_query_counts.py", "test_line.py", "test_policies.py"),
)
LONGEST_ID = 200
DATABASE_FIXTURES = frozenset({"db", "transactional_db", "live_server", "django_db_serialized_rollback"})


def on_postgres() -> bool:
    """Was this run asked to use PostgreSQL?"""
    return os.environ.get("TRISTEP_TEST_DB", "sqlite") == "postgres"


def pytest_report_header() -> str:
    return f"tristep: tests on {'PostgreSQL' if on_postgres() else 'SQLite'}"


def _uses_database(item: pytest.Item) -> bool:
    names = frozenset(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(DATABASE_FIXTURES & names)


def _runs_on_both(path: Path) -> bool:
    place = path.relative_to(Path(__file__).parent)
    return place.parts[0] in ON_BOTH or place.as_posix() in ON_BOTH


def _can_differ(item: pytest.Item) -> bool:
    """May this test end otherwise on PostgreSQL than on SQLite?"""
    for mark in item.iter_markers():  # the test's own come before those of its module
        if mark.name in ("postgres", "browser", "once"):
            return mark.name == "postgres"
    return _uses_database(item) and _runs_on_both(item.path)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """On PostgreSQL the modules of which no test runs are not even imported, with all that they import."""
    if not on_postgres() or not collection_path.match("test_*.py") or _runs_on_both(collection_path):
        return None
    return True if "mark.postgres" not in collection_path.read_text() else None


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """A value that is long does not name its test: each process tells the first one all names, and names it
    in each report (one had seven million letters)."""
    long = isinstance(val, str | bytes) and len(val) > LONGEST_ID
    return f"{argname}-of-{len(val)}" if long else None  # type: ignore[arg-type]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this run is not about; what is left out is counted as deselected, not as skipped."""
    out: list[pytest.Item] = []
    for item in items:
        if (on_postgres() and not _can_differ(item)) or (
            item.get_closest_marker("published") and not PUBLISHED.is_dir()
        ):
            out.append(item)
    if out:
        config.hook.pytest_deselected(items=out)
        gone = set(out)
        items[:] = [item for item in items if item not in gone]
    items[:] = _dealt(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))
    if reason := getattr(django_settings, "POSTGRES_MISSING", ""):
        for item in items:
            item.add_marker(pytest.mark.skip(reason=reason))


def _dealt(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """The long tests first in every process, in whatever order they come: at the end, one of them would keep
    a core waiting. `--dist worksteal` begins by cutting the list into a piece for each process."""
    long = [item for item in items if item.get_closest_marker("slow")]
    short = iter([item for item in items if not item.get_closest_marker("slow")])
    dealt: list[pytest.Item] = []
    for process in range(processes):
        size = (len(items) - len(dealt)) // (processes - process)
        first = long[process::processes]
        dealt += [*first, *islice(short, max(0, size - len(first)))]
    return [*dealt, *short]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The order's seed; with `--durations` also where the time of all processes went, by folder."""
    if (seed := config.getoption("randomly_seed", None)) is not None:
        terminalreporter.write_line(f"To repeat this order: --randomly-seed={seed}")
    if config.getoption("durations") is None:
        return
    totals: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                totals["/".join(report.nodeid.split("::")[0].split("/")[:2])] += report.duration
    database = "PostgreSQL" if on_postgres() else "SQLite"
    terminalreporter.section(f"seconds by folder, {database}: {sum(totals.values()):.0f} in all")
    for folder, seconds in sorted(totals.items(), key=lambda one: -one[1]):
        terminalreporter.write_line(f"{seconds:8.1f}  {folder}")


def pytest_collection_finish() -> None:
    """Tests, and all modules that they have imported, stay: the collector need not go through them, and a
    seventh of all time went into its looking for cycles."""
    keep_what_is_loaded()
    # 700 by default: rows and pages of a test soon are as many, and nothing of them is garbage yet
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """pytest's own, with room for the frames of deep calls, as the server gives each request."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    with_room(runtestprotocol)(item, nextitem=nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """In CI a test that could not run has not passed."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("TRISTEP_REQUIRE_ALL") == "1":
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and TRISTEP_REQUIRE_ALL=1 allows no skip: {why}"


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_test_environment: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """In pytest-django's place: a copy of the migrated template for this process."""
    with django_db_blocker.unblock():
        remove = databases.prepare(connection, anew=bool(request.config.getoption("create_db")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _case: databases.reset(connection))
        yield
    with django_db_blocker.unblock():
        remove()


@pytest.fixture(autouse=True)
def few_trees(request: pytest.FixtureRequest) -> Iterator[None]:
    """Train few trees wherever figures are not the point: what holds of two hundred holds of these."""
    with pytest.MonkeyPatch.context() as patch:
        if "published" not in request.keywords:
            patch.setattr(forest, "TREES", 20)
        yield


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Take back what requests leave to the process, for tests come in any order.

    The reader's language and time zone are the thread's, and calls are counted by the id of the user, which
    the next test's users have again; so have its paired labels those of these.
    """
    yield
    translation.deactivate()
    timezone.deactivate()
    cache.clear()
    if "annotation.reports.agreement.paired_labels" in sys.modules:
        sys.modules["annotation.reports.agreement.paired_labels"].in_memory.clear()


@pytest.fixture(scope="session")
def published() -> Path:
    """The published data beside the checkout; mark the test `published`: it is left out without them."""
    return PUBLISHED


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if hasattr(request.config, "workerinput") else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def server(run_folder: Path, django_db_setup: None) -> Iterator[Site]:
    """The product as `make run` starts it, with the demo project; one for all tests that ask for it."""
    with shared_site(run_folder / "server") as site:
        yield site


@pytest.fixture(scope="session")
def collected(run_folder: Path) -> Path:
    """The folder that collectstatic fills in production, made once in a run; no test writes to it."""
    folder = run_folder / "static"
    storages = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "config.static.HashedStaticFiles"},
    }
    with locked(run_folder / "static.lock"):
        if not folder.exists():
            with override_settings(STATIC_ROOT=folder.with_suffix(".new"), STORAGES=storages):
                call_command("collectstatic", interactive=False, verbosity=0)
            folder.with_suffix(".new").rename(folder)
    return folder


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A real Redis-protocol server; `.url` is its REDIS_URL."""
    try:
        server = Broker(tmp_path_factory.mktemp("broker"))
    except BrokerMissing as error:
        pytest.skip(str(error))
    yield server
    server.stop()


@pytest.fixture
def celery_broker(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    """Point this process's Celery app at the real broker, empty at the start of the test."""
    from celery.app.base import Celery
    from redis import Redis

    from config.celery import app
    from config.env import broker as broker_url

    client = Redis(unix_socket_path=str(broker.socket))
    client.flushall()
    client.close()

    def point(celery: Celery, url: str) -> None:
        celery.conf.update(broker_url=url, broker_write_url=url, broker_read_url=url)
        celery.close()
        celery.amqp.__dict__.pop("_producer_pool", None)
        celery.amqp._producer_pool = None

    point(app, broker_url(broker.url))
    yield broker
    point(app, "memory://")


@pytest.fixture
def process_environment(
    transactional_db: None, tmp_path: Path, request: pytest.FixtureRequest
) -> dict[str, str]:
    """The environment in which another process sees this test's database, and broker when there is one."""
    from django.db import connection

    url = request.getfixturevalue("celery_broker").url if "celery_broker" in request.fixturenames else ""
    data = tmp_path / "data"
    data.mkdir()
    return server_environment(database=database_url(connection.settings_dict), data=data, broker=url)


@pytest.fixture
def worker(celery_broker: Broker, process_environment: dict[str, str], tmp_path: Path) -> Iterator[Worker]:
    """A real Celery worker on this test's database and broker."""
    running = Worker(process_environment, tmp_path / "worker.log")
    yield running
    running.stop()


@pytest.fixture
def web_server(process_environment: dict[str, str], collected: Path, tmp_path: Path) -> Iterator[WebServer]:
    """The production server, with collected and hashed static files, on this test's database."""
    process_environment["TRISTEP_STATIC_DIR"] = str(collected)
    try:
        running = WebServer(process_environment, tmp_path / "web.log")
    except ServerMissing as error:
        pytest.fail(str(error))
    yield running
    running.stop()
