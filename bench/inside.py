"""Work of the bench inside the product's own process: `python -m bench.inside WORK …`, JSON on stdout.

The process has the database and the settings of the server that is measured; the bench itself never touches
Django.
"""

from __future__ import annotations

import argparse
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


def start(slug: str) -> dict[str, Any]:
    """Make a project with people who may label, resolve and look; not measured: hashing a password takes more
    memory than an import."""
    from annotation.models import User
    from annotation.policies import OPERATOR
    from annotation.services import accounts, projects

    project = projects.create_project(actor=OPERATOR, name=slug, slug=slug, guidelines="Judge each step.")
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


def import_file(slug: str, path: Path) -> dict[str, Any]:
    """Receive and import a file as the command does; seconds, peak memory, and what came of it."""
    from annotation.models import Project
    from annotation.policies import OPERATOR
    from annotation.services import ingest

    project = Project.objects.get(slug=slug)
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    source = ingest.receive_file(
        actor=OPERATOR,
        project=project,
        subset="hotpotqa",
        filename=path.name,
        chunks=_blocks(path),
        enqueue=False,
    )
    source = ingest.run_import(source_id=source.pk)
    return {
        "trajectories": source.created_count,
        "steps": source.step_count,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_bytes": peak_memory(),
        "idle_bytes": before,
    }


def import_labels(slug: str, path: Path, annotator: str) -> dict[str, Any]:
    """Import somebody's labels as the command does; seconds, peak memory, and how many trajectories are in
    which state then."""
    from collections import Counter

    from annotation.models import Project, Trajectory
    from annotation.policies import OPERATOR
    from annotation.services import label

    project = Project.objects.get(slug=slug)
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    with path.open("rb") as stream:
        made = label.import_labels(
            actor=OPERATOR, project=project, annotator=annotator, stream=stream, filename=path.name
        )
    found = {
        "trajectories": made.created,
        "labels": made.labels,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_bytes": peak_memory(),
        "idle_bytes": before,
    }
    states = Trajectory.objects.filter(project=project, live=True).values_list("state", flat=True)
    return found | {"states": Counter(states.order_by())}


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def fill(slug: str, share: float, unanimous: bool) -> dict[str, Any]:
    """Label that share of a project, the first in the queue, by ann and ben; see `bench.filling`."""
    from annotation.models import Project
    from bench import filling

    return filling.label(project=Project.objects.get(slug=slug), share=share, unanimous=unanimous)


EXPORTS = {"export": "agentprocessbench", "dataset": "huggingface", "rewards": "training"}


def publish(work: str, slug: str, folder: Path) -> dict[str, Any]:
    """Freeze, export or verify release 1.0 of a project as the commands do; seconds and peak memory. An
    export is of one of the formats of EXPORTS."""
    from annotation.core.releases.exports import export_options
    from annotation.models import Project, Release
    from annotation.policies import OPERATOR
    from annotation.services import release

    project = Project.objects.get(slug=slug)
    frozen = Release.objects.filter(project=project).first()
    before = peak_memory()
    wall, cpu = time.perf_counter(), time.process_time()
    if frozen is None:
        count = release.freeze(actor=OPERATOR, project=project, version="1.0").record_count
    elif work in EXPORTS:
        options = export_options({"format": EXPORTS[work]})
        manifest = release.export_release(
            actor=OPERATOR, release=frozen, options=options, output=folder / work
        )
        count = manifest["records"]
    else:
        found = release.verify(actor=OPERATOR, release=frozen)
        if not found.ok:
            raise RuntimeError(found.problems[0])
        count = found.records
    return {
        "records": count,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
        "peak_bytes": peak_memory(),
        "idle_bytes": before,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.inside", description=__doc__)
    works = parser.add_subparsers(dest="work", required=True)
    works.add_parser("start").add_argument("project")
    one = works.add_parser("import")
    one.add_argument("project")
    one.add_argument("file", type=Path)
    six = works.add_parser("labels")
    six.add_argument("project")
    six.add_argument("file", type=Path)
    six.add_argument("annotator")
    two = works.add_parser("fill")
    two.add_argument("project")
    two.add_argument("share", type=float)
    two.add_argument("--unanimous", action="store_true")
    for work in ("freeze", *EXPORTS, "verify"):
        five = works.add_parser(work)
        five.add_argument("project")
        five.add_argument("folder", type=Path)
    works.add_parser("workbench").add_argument("folder", type=Path)
    works.add_parser("stored").add_argument("project")
    three = works.add_parser("endurance-start")
    three.add_argument("project")
    three.add_argument("names", nargs="+")
    works.add_parser("endurance-compare").add_argument("file", type=Path)
    four = works.add_parser("endurance-claims")
    four.add_argument("project")
    four.add_argument("people", type=int)
    options = parser.parse_args()

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
    import django

    from bench import endurance
    from bench.workbench import rows as workbench

    django.setup()
    works_by_name: dict[str, Callable[[], dict[str, Any]]] = {
        "start": lambda: start(options.project),
        "import": lambda: import_file(options.project, options.file),
        "labels": lambda: import_labels(options.project, options.file, options.annotator),
        "fill": lambda: fill(options.project, options.share, options.unanimous),
        "workbench": lambda: workbench.prepare(options.folder, start, import_file),
        "endurance-start": lambda: endurance.prepare(options.project, options.names),
        "endurance-compare": lambda: endurance.compare(json.loads(options.file.read_text())),
        "endurance-claims": lambda: endurance.claim_and_leave(options.project, people=options.people, seed=1),
        "stored": lambda: workbench.stored(options.project),
        **dict.fromkeys(
            ("freeze", *EXPORTS, "verify"), lambda: publish(options.work, options.project, options.folder)
        ),
    }
    json.dump(works_by_name[options.work](), sys.stdout)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
