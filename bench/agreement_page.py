"""What the agreement page costs with many labels, beside scikit-learn on the same pairs:
`python -m bench.agreement_page [--database sqlite|postgres] [--pairs 10000] [--repeat 20]`.

On a throw-away database, in one process, by Django's own client: signing in, permissions, queries and the
page are in it, the network is not. Paired labels are written as settling writes them, without messages;
figures read nothing else. One trajectory of ten is touched, so that there are figures of untouched labels.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench.installations import scratch, stock

STEPS = 9
SAMPLES = 5
PEOPLE = 8
SUBSETS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
TOUCHED = 0.1
CUTS = ("subset", "model", "pair", "week", "position", "kind", "exposure")
FILTERS = ("subset=tau2", "model=model-1", "kind=call", "position=early&kind=call")


def fill(pairs: int) -> Any:
    """A project with so many pairs of labels, one pair of annotators a trajectory."""
    import numpy as np
    from django.utils import timezone

    from annotation.models import ImportFile, PairedLabels, Subset, Task, Trajectory, User
    from annotation.policies import OPERATOR
    from annotation.services import projects

    rng, now = np.random.default_rng(1), timezone.now()
    project = projects.create_project(actor=OPERATOR, name="bench", slug=f"agreement-{pairs}", guidelines="")
    users = User.objects.bulk_create(
        [User(username=f"bench{pairs}-{number}", password="!") for number in range(PEOPLE)]
    )
    ids = sorted(user.pk for user in users)
    subsets = [Subset.objects.create(project=project, name=name, created_at=now) for name in SUBSETS]
    sources = [
        ImportFile.objects.create(
            project=project, subset=subset, filename="bench", sha256="", size=0, created_at=now
        )
        for subset in subsets
    ]
    total = -(-pairs // STEPS)
    tasks = Task.objects.bulk_create(
        [Task(subset=subsets[number % 4], key=str(number)) for number in range(-(-total // SAMPLES))],
        batch_size=2000,
    )
    rows = [
        Trajectory(
            project=project,
            subset_id=tasks[number // SAMPLES].subset_id,
            task=tasks[number // SAMPLES],
            source=sources[number // SAMPLES % 4],
            record_id=str(number),
            policy_model=f"model-{number % SAMPLES}",
            content_digest="",
            message_count=2 * STEPS,
            step_count=STEPS,
            live=True,
            position=number,
            free_slots=0,
            state="disputed",
        )
        for number in range(total)
    ]
    rows = Trajectory.objects.bulk_create(rows, batch_size=2000)
    truth = rng.choice(3, size=(total, STEPS), p=[0.25, 0.1, 0.65])
    first, second = (
        np.where(rng.random(truth.shape) < 0.15, rng.integers(0, 3, truth.shape), truth) for _ in range(2)
    )
    label_pair_codec = (first * 4 + second + 16 * (rng.random(truth.shape) < 0.7)).astype(np.uint8)
    touched = rng.random(total) < TOUCHED
    label_pair_codec[touched] += 64
    monday = now.date().toordinal() - now.weekday()
    paired = []
    for number, row in enumerate(rows):
        one, two = sorted(rng.choice(PEOPLE, 2, replace=False).tolist())
        paired.append(
            PairedLabels(
                project=project,
                subset_id=row.subset_id,
                task_id=row.task_id,
                trajectory_id=row.pk,
                policy_model=row.policy_model,
                first_id=ids[one],
                second_id=ids[two],
                first_guideline=1,
                second_guideline=1,
                week=monday - 7 * (number * 26 // total),
                n=STEPS,
                outcome=10 + 64 * int(touched[number]),
                steps=label_pair_codec[number].tobytes(),
            )
        )
    PairedLabels.objects.bulk_create(paired, batch_size=2000)
    return project


def measure(project: Any, repeat: int) -> dict[str, Any]:
    """Milliseconds of one request for the page: of a process that has nothing in memory, after a trajectory
    was settled, and again; cut and filtered, each after a trajectory was settled."""
    from django.test import Client
    from django.urls import reverse
    from sklearn.metrics import cohen_kappa_score

    from annotation.core.agreement import label_pair_codec
    from annotation.models import PairedLabels, User
    from annotation.reports.agreement import paired_labels

    admin = User.objects.create(username="bench-admin", is_superuser=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(admin, "django.contrib.auth.backends.ModelBackend")
    address = reverse("frontend:agreement", args=[project.slug])

    def page(query: str = "") -> None:
        answer = client.get(f"{address}?{query}")
        assert answer.status_code == 200, answer.status_code

    def timed(work: Callable[[], Any]) -> float:
        began = time.perf_counter()
        work()
        return 1000 * (time.perf_counter() - began)

    def cold() -> float:
        paired_labels.in_memory.clear()
        return timed(page)

    def settled(query: str = "") -> float:
        """As after the settling of one trajectory: its rows are new."""
        newest = PairedLabels.objects.filter(project=project).order_by("-pk").first()
        assert newest is not None
        PairedLabels.objects.filter(pk=newest.pk).delete()
        paired_labels.paired_rows(project)
        newest.pk = None
        newest.save(force_insert=True)
        return timed(partial(page, query))

    page()
    few = max(4, repeat // 4)
    found = {
        "after a submission": [settled() for _ in range(repeat)],
        "again": [timed(page) for _ in range(repeat)],
        "nothing in memory": [cold() for _ in range(few)],
        **{f"by {cut}": [settled(f"by={cut}") for _ in range(few)] for cut in CUTS},
        **{query: [settled(query) for _ in range(few)] for query in FILTERS},
    }
    rows = paired_labels.paired_rows(project).rows
    values = [one.astype(int) - 1 for one in label_pair_codec.values(rows.steps)]
    weights = (None, "linear", "quadratic")
    reference = timed(lambda: [cohen_kappa_score(*values, weights=weight) for weight in weights])
    return {
        "pairs": int(label_pair_codec.paired(rows.steps).sum()),
        **{f"{name}, ms": quantiles(times) for name, times in found.items()},
        "three κ by scikit-learn, ms": round(reference, 1),
        "page / scikit-learn": round(statistics.median(found["after a submission"]) / reference, 2),
    }


def quantiles(times: list[float]) -> dict[str, float]:
    """The median, and the 95th percentile."""
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return {"p50": round(statistics.median(times), 1), "p95": round(p95, 1)}


def inside(pairs: int, repeat: int) -> None:
    """Fill the database of DATABASE_URL, and measure."""
    import django

    django.setup()
    from annotation.models import PairedLabels, Trajectory
    from annotation.services import planner_stats

    project = fill(pairs)
    planner_stats.analyse(PairedLabels, Trajectory)
    json.dump(measure(project, repeat), sys.stdout, indent=1, ensure_ascii=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.agreement_page", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
        inside(options.pairs, options.repeat)
        return
    folder = scratch()
    databases = stock(options.database, folder)
    made = []
    try:
        made.append(databases.installation("agreement"))
        made[0].run("manage.py", "collectstatic", "--noinput", "--verbosity", "0")
        sizes = ("--pairs", str(options.pairs), "--repeat", str(options.repeat))
        print(databases.note)
        print(made[0].run("-m", "bench.agreement_page", "--inside", *sizes).decode())
    finally:
        databases.close(made)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
