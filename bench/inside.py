"""Work of the bench inside the product's own process: `python -m bench.inside MODULE:FUNCTION …`.

The process has the database and the settings of the server that is measured; the bench itself never touches
Django. `Installation.inside` starts it: the function gets its arguments as texts, and what it returns goes to
stdout as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

PASSWORD = "believable-horse-battery-9"
PEOPLE = ("ann", "ben", "judith", "admin")
BLOCK = 1 << 20


def peak_memory() -> int:
    """The largest resident set of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():  # unlike getrusage, this forgets the process that this one was forked from
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def spent(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer of the work, with the seconds and the memory that it took."""
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return answer | {
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_bytes": peak_memory(),
        "idle_bytes": before,
    }


def start(slug: str) -> dict[str, Any]:
    """Make a project with people who may label, resolve and look; not measured: hashing a password takes more
    memory than an import."""
    from annotation.models import User
    from annotation.policies import OPERATOR
    from annotation.services import accounts, projects

    project = projects.create_project(actor=OPERATOR, name=slug, slug=slug, guidelines="Judge each step.")
    # with them, answers wait for the next tenth of a second (services.even_time)
    type(project).objects.filter(pk=project.pk).update(retest_percent=0)
    for name in PEOPLE:
        user = User.objects.filter(username=name).first() or accounts.create_user(
            actor=OPERATOR, username=name, password=PASSWORD, check_password=False
        )
        roles = {
            "is_annotator": name in ("ann", "ben"),
            "is_adjudicator": name == "judith",
            "is_admin": name == "admin",
        }
        projects.add_member(actor=OPERATOR, project=project, user=user, **roles)
        projects.read_guidelines(actor=user, guideline=project.guidelines.get())
    return {"project": slug}


def import_file(slug: str, path: str) -> dict[str, Any]:
    """Receive and import a file as the command does."""
    from annotation.models import Project
    from annotation.policies import OPERATOR
    from annotation.services import ingest

    project = Project.objects.get(slug=slug)

    def work() -> dict[str, Any]:
        source = ingest.receive_file(
            actor=OPERATOR,
            project=project,
            subset="hotpotqa",
            filename=Path(path).name,
            chunks=_blocks(Path(path)),
            enqueue=False,
        )
        source = ingest.run_import(source_id=source.pk)
        return {"trajectories": source.created_count, "steps": source.step_count}

    return spent(work)


def pull(slug: str, kind: str, url: str, source: str) -> dict[str, Any]:
    """Pull from a server what is new there, measured, and import it, which is not."""
    from annotation.models import Connection, Project
    from annotation.policies import OPERATOR
    from annotation.services import connections, ingest

    project = Project.objects.get(slug=slug)
    connection = Connection.objects.filter(project=project).first() or connections.create_connection(
        actor=OPERATOR, project=project, kind=kind, name="Runs", base_url=url, source=source, subset="runs"
    )
    row = connections.ask_for(actor=OPERATOR, connection=connection, direction="pull", enqueue=False)

    def work() -> dict[str, Any]:
        ended = connections.run_transfer(transfer_id=row.pk)
        if ended.error:
            raise RuntimeError(ended.error)
        return ended.counts

    told = spent(work)
    row.refresh_from_db()
    if row.imported_id is not None:
        ingest.run_import(source_id=row.imported_id)
    return told


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def fill(slug: str, share: str, *unanimous: str) -> dict[str, Any]:
    """Label that share of a project, the first in the queue, by ann and ben; see `bench.filling`."""
    from annotation.models import Project
    from bench import filling

    return filling.label(
        project=Project.objects.get(slug=slug), share=float(share), unanimous=bool(unanimous)
    )


def multiply(slug: str, times: str) -> dict[str, Any]:
    """Let a project have so many times its trajectories; see `bench.multiplying`."""
    from annotation.models import Project
    from bench import multiplying

    return multiplying.multiply(project=Project.objects.get(slug=slug), times=int(times))


def on_disk() -> dict[str, Any]:
    """Bytes of the largest tables with their indexes, and of the whole database."""
    from django.conf import settings
    from django.db import connection

    if connection.vendor != "postgresql":
        name = settings.DATABASES["default"]["NAME"]
        return {"whole database": Path(name).stat().st_size}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'public'::regnamespace ORDER BY 2 DESC LIMIT 8"
        )
        tables: dict[str, Any] = dict(cursor.fetchall())
        cursor.execute("SELECT pg_database_size(current_database())")
        return tables | {"whole database": cursor.fetchone()[0]}


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
    import django

    django.setup()
    place, *arguments = sys.argv[1:]
    module, _, name = place.partition(":")
    json.dump(getattr(importlib.import_module(module), name)(*arguments), sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
