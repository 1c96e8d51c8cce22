"""Label Studio as its Docker Compose file runs it: uWSGI with its own uwsgi.ini, on PostgreSQL.

There nginx stands before it, which serves files and passes on all that is measured here; without it these
take one hop less. Its page keeps what somebody has labelled as a draft, again and again, and makes an
annotation of it with "Submit": a save is the draft, all labels of the record; submitting is counted apart.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from bench.client import Client, Refused
from bench.installations import Failed, connect
from bench.peers.peer import (
    PASSWORD,
    Moved,
    Server,
    emptied,
    name_of,
    peak,
    plain_environment,
    postmaster,
    same_as,
    turns,
    version,
)
from tests.servers import free_port

PACKAGE: Final = "label-studio"
DATABASE: Final = "labelstudio"
OUTCOMES: Final = {1: "success", 0: "unclear", -1: "failure"}
LABELS: Final = """<View>
  <Text name="before" value="$before"/>
  <Repeater on="$steps" indexFlag="{{idx}}">
    <Text name="step_{{idx}}" value="$steps[{{idx}}].text"/>
    <Choices name="label_{{idx}}" toName="step_{{idx}}" choice="single-radio" showInLine="true">
      <Choice value="1"/><Choice value="0"/><Choice value="-1"/>
    </Choices>
  </Repeater>
  <Choices name="outcome" toName="before" choice="single-radio" showInLine="true">
    <Choice value="success"/><Choice value="unclear"/><Choice value="failure"/>
  </Choices>
</View>"""
# deploy/uwsgi.ini of its source, but for ports, paths and what is logged
UWSGI: Final = """[uwsgi]
chdir = {source}
http = 127.0.0.1:{port}
module = core.wsgi:application
master = true
cheaper = true
single-interpreter = true
processes = {processes}
threads = 1
vacuum = true
die-on-term = true
buffer-size = 65535
http-timeout = 300
need-app = true
env = APP_WEBSERVER=uwsgi
ignore-sigpipe = true
ignore-write-errors = true
disable-write-exception = true
harakiri = 120
post-buffering = 4096
disable-logging = true
enable-threads = true
thunder-lock = true
lazy-apps = true
max-requests = 5000
reload-on-rss = 2048
worker-reload-mercy = 300
"""


@dataclass
class LabelStudio:
    """One installation in `folder`, on the PostgreSQL at `address`."""

    folder: Path
    address: str
    name: str = "Label Studio"
    settings: str = ""
    server: Server | None = None
    port: int = field(default_factory=free_port)
    project: int = 0
    admin: Client | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its processes; nothing is told to anybody outside."""
        parts = urlsplit(self.address)
        return plain_environment(
            DJANGO_SETTINGS_MODULE="core.settings.label_studio",
            DJANGO_DB="default",
            POSTGRE_NAME=DATABASE,
            POSTGRE_USER=parts.username or "",
            POSTGRE_PASSWORD="",
            POSTGRE_HOST=parse_qs(parts.query)["host"][0],
            LABEL_STUDIO_BASE_DATA_DIR=str(self.folder / "data"),
            COLLECT_ANALYTICS="false",
            SENTRY_DSN="",
            FRONTEND_SENTRY_DSN="",
            LATEST_VERSION_CHECK="false",
        )

    @property
    def source(self) -> Path:
        """The folder of its manage.py."""
        return next((self.folder / "environment" / "lib").glob("python*")) / "site-packages" / "label_studio"

    def install(self) -> tuple[float, int]:
        """As `Peer`."""
        spent = same_as(PACKAGE, emptied(self.folder / "environment"), self.folder)
        python = self.folder / "environment" / "bin" / "python"
        self.settings = (
            f"{PACKAGE} {version(python, PACKAGE)} on PostgreSQL, uWSGI {version(python, 'pyuwsgi')}"
            f" with {processes()} processes"
        )
        return spent

    def start(self) -> None:
        """As `Peer`; the database is there, and empty."""
        emptied(self.folder / "data")
        connection = connect(self.address)
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {DATABASE}")
        connection.close()
        binaries = self.folder / "environment" / "bin"
        migrate = subprocess.run(
            [binaries / "python", "manage.py", "locked_migrate"],
            cwd=self.source,
            env=self.environment,
            capture_output=True,
            check=False,
        )
        if migrate.returncode:
            raise Failed(
                f"Label Studio's migrations failed: {migrate.stderr.decode(errors='replace')[-2000:]}"
            )
        ini = self.folder / "uwsgi.ini"
        ini.write_text(UWSGI.format(source=self.source, port=self.port, processes=processes()))
        self.server = Server(
            [binaries / "uwsgi", "--ini", ini],
            self.folder,
            self.environment,
            ready=f"http://127.0.0.1:{self.port}/user/login/",
        )

    def add(self, path: Path, count: int) -> Moved:
        """As `Peer`: one request with all of them."""
        self.admin = self._signed_up("admin")
        _, made = self.admin.post(
            "/api/projects/",
            {"title": "Steps", "label_config": LABELS, "maximum_annotations": 2},
            expected=201,
        )
        self.project = made["id"]
        with path.open(encoding="utf-8") as file:
            tasks = [converted(json.loads(line)) for line in file]
        seconds, said = self.admin.post(f"/api/projects/{self.project}/import", tasks, expected=201)
        if said["task_count"] != count:
            raise Refused(f"{count} records were sent, {said['task_count']} imported")
        return Moved(count, seconds, peak(self.roots()[:1]))

    def _signed_up(self, name: str) -> Client:
        client = Client(self.port, reopens=True)
        client.get("/user/signup/")
        client.form("/user/signup/", {"email": f"{name}@example.org", "password": PASSWORD})
        return client

    def person(self, number: int) -> Worker:
        """As `Peer`."""
        return Worker(self._signed_up(f"person{number}"), self.project)

    def export(self) -> Moved:
        """As `Peer`: its JSON, by the address that its page calls."""
        assert self.admin is not None, "nothing was imported"
        seconds, body = self.admin.get(f"/api/projects/{self.project}/export?exportType=JSON")
        return Moved(len(json.loads(body)), seconds)

    def roots(self) -> list[int]:
        """As `Peer`."""
        return [self.server.process.pid, postmaster(self.address)] if self.server else []

    def stop(self) -> None:
        """As `Peer`."""
        if self.admin:
            self.admin.close()
        if self.server:
            self.server.stop()
        self.server = None


@dataclass
class Worker:
    """A `Person`."""

    client: Client
    project: int
    labels: int = 0
    task: int = 0
    draft: int = 0
    given: dict[int, int] = field(default_factory=dict)

    def open_next(self) -> float:
        """As `Person`: the next task of the label stream, which its page draws by itself."""
        seconds, found = self.client.post(f"/api/dm/actions?id=next_task&project={self.project}", {})
        self.task, self.draft, self.given = found["id"], 0, {}
        self.labels = len(found["data"]["steps"]) + 1
        return seconds

    def save(self, which: int, value: int) -> float:
        """As `Person`: the draft is made by the first, and changed by all others."""
        self.given[which] = value
        sent = {"result": result(self.given, self.labels), "lead_time": 1.0, "project": self.project}
        if self.draft:
            path = f"/api/drafts/{self.draft}/?project={self.project}"
            return self.client.post(path, sent, method="PATCH")[0]
        path = f"/api/tasks/{self.task}/drafts?project={self.project}"
        seconds, made = self.client.post(path, sent, expected=201)
        self.draft = made["id"]
        return seconds

    def submit(self) -> float:
        """As `Person`."""
        sent = {
            "result": result(self.given, self.labels),
            "lead_time": 1.0,
            "draft_id": self.draft,
            "project": self.project,
        }
        return self.client.post(
            f"/api/tasks/{self.task}/annotations/?project={self.project}", sent, expected=201
        )[0]

    def close(self) -> None:
        """As `Person`."""
        self.client.close()


def processes() -> int:
    """As many as its uwsgi.ini has: two for each core."""
    return 2 * (os.cpu_count() or 1)


# ── Formats ───────────────────────────────
def converted(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a task for `LABELS`."""
    before, steps = turns(record)
    return {
        "data": {
            "name": name_of(record),
            "before": before,
            "steps": [
                {"text": "\n\n".join((turn.said, *map(json.dumps, turn.calls), *turn.results))}
                for turn in steps
            ],
        }
    }


def result(given: Mapping[int, int], wanted: int) -> list[dict[str, Any]]:
    """The result of an annotation with the labels given so far: of steps by number, of the outcome last."""
    return [
        _chosen("outcome", "before", OUTCOMES[value])
        if which == wanted - 1
        else _chosen(f"label_{which}", f"step_{which}", str(value))
        for which, value in sorted(given.items())
    ]


def _chosen(name: str, of: str, choice: str) -> dict[str, Any]:
    return {
        "id": f"r_{name}",
        "from_name": name,
        "to_name": of,
        "type": "choices",
        "origin": "manual",
        "value": {"choices": [choice]},
    }
