"""The topic `agreement`: the agreement page with many labels, beside scikit-learn on the same pairs.

In one process, by Django's own client: permissions, queries and the page are in it, the network is not. One
trajectory of ten is touched, so that there are figures of untouched labels.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from bench.installations import Stock
from bench.report import Limit, Report, Say, number, percentiles, table, timed

FEW = 10_000
SIZES = {"sqlite": (FEW,), "postgres": (FEW, 1_000_000)}
QUICK_SIZES = (300,)
REPEAT, QUICK_REPEAT = 20, 2
SETTLED = "settled"
MANY_MS = 300
# after a trajectory was settled: the query, and the limit of its 95th percentile; the last two read labels
REQUESTS = {
    SETTLED: ("", 100),
    "settled, by policy model": ("by=model", None),
    "settled, by pair of annotators": ("by=pair", None),
    "settled, one subset": ("subset=tau2", None),
    "settled, by part of the trajectory": ("by=position", 3_000),
    "settled, tool calls only": ("kind=call", 3_000),
}
STEPS = 9
SAMPLES = 5
PEOPLE = 8
SUBSETS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
TOUCHED = 0.1


def fill(pairs: int) -> Any:
    """A project with so many pairs of labels, one pair of annotators a trajectory. They are written as
    settling writes them, without messages: figures read nothing else."""
    import numpy as np
    from django.utils import timezone

    from annotation.models import ImportFile, PairedLabels, Subset, Task, Trajectory, User
    from annotation.policies import OPERATOR
    from annotation.services import projects

    rng, now = np.random.default_rng(1), timezone.now()
    project = projects.create_project(actor=OPERATOR, name="bench", slug=f"agreement-{pairs}", guidelines="")
    users = User.objects.bulk_create(
        [User(username=f"bench{pairs}-{place}", password="!") for place in range(PEOPLE)]
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
        [Task(subset=subsets[place % 4], key=str(place)) for place in range(-(-total // SAMPLES))],
        batch_size=2000,
    )
    rows = [
        Trajectory(
            project=project,
            subset_id=tasks[place // SAMPLES].subset_id,
            task=tasks[place // SAMPLES],
            source=sources[place // SAMPLES % 4],
            record_id=str(place),
            policy_model=f"model-{place % SAMPLES}",
            content_digest="",
            message_count=2 * STEPS,
            step_count=STEPS,
            live=True,
            position=place,
            free_slots=0,
            state="disputed",
        )
        for place in range(total)
    ]
    rows = Trajectory.objects.bulk_create(rows, batch_size=2000)
    truth = rng.choice(3, size=(total, STEPS), p=[0.25, 0.1, 0.65])
    first, second = (
        np.where(rng.random(truth.shape) < 0.15, rng.integers(0, 3, truth.shape), truth) for _ in range(2)
    )
    steps = (first * 4 + second + 16 * (rng.random(truth.shape) < 0.7)).astype(np.uint8)
    touched = rng.random(total) < TOUCHED
    steps[touched] += 64
    monday = now.date().toordinal() - now.weekday()
    paired = []
    for place, row in enumerate(rows):
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
                week=monday - 7 * (place * 26 // total),
                n=STEPS,
                outcome=10 + 64 * int(touched[place]),
                steps=steps[place].tobytes(),
            )
        )
    PairedLabels.objects.bulk_create(paired, batch_size=2000)
    return project


def measure(project: Any, repeat: int) -> dict[str, Any]:
    """Milliseconds of requests for the page by Django's own client, in the order of `REQUESTS`; of a process
    that has nothing in memory; and of three κ by scikit-learn."""
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

    def cold() -> float:
        paired_labels.in_memory.clear()
        return timed(page)

    def settled(query: str) -> float:
        """The seconds of a query after the settling of one trajectory: its rows are new."""
        newest = PairedLabels.objects.filter(project=project).order_by("-pk").first()
        assert newest is not None
        PairedLabels.objects.filter(pk=newest.pk).delete()
        paired_labels.paired_rows(project)
        newest.pk = None
        newest.save(force_insert=True)
        return timed(partial(page, query))

    page()
    few = max(2, repeat // 4)
    found = {name: [settled(query) for _ in range(few)] for name, (query, _) in REQUESTS.items()}
    found[SETTLED] += [settled("") for _ in range(repeat - few)]
    found["again"] = [timed(page) for _ in range(repeat)]
    found["nothing in memory"] = [cold() for _ in range(few)]
    rows = paired_labels.paired_rows(project).rows
    values = [value.astype(int) - 1 for value in label_pair_codec.values(rows.steps)]
    weights = (None, "linear", "quadratic")
    reference = timed(lambda: [cohen_kappa_score(*values, weights=weight) for weight in weights])
    return {"times": found, "reference": reference}


def inside(pairs: str, repeat: str) -> dict[str, Any]:
    """Fill the database, and measure (inside the product's process)."""
    from annotation.models import PairedLabels, Trajectory
    from annotation.services import planner_stats

    project = fill(int(pairs))
    planner_stats.analyse(PairedLabels, Trajectory)
    return measure(project, int(repeat))


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """All sizes: print, compare with what is promised."""
    for pairs in QUICK_SIZES if quick else SIZES[stock.kind]:
        installation = stock.installation("agreement")
        installation.run("manage.py", "collectstatic", "--noinput", "--verbosity", "0")
        found = installation.inside(inside, str(pairs), str(QUICK_REPEAT if quick else REPEAT))
        say(f"{stock.kind}: agreement over {pairs:,} pairs looked at")
        times = {name: percentiles(values) for name, values in found["times"].items()}
        table(
            f"Agreement page, {pairs:,} pairs, {stock.kind} (ms)",
            ("", "p50", "p95", "of three κ by scikit-learn"),
            [
                (name, number(p50), number(p95), number(p50 / found["reference"]))
                for name, (p50, p95) in times.items()
            ],
        )
        report.line("agreement", kind=stock.kind, pairs=pairs, **found)
        for name, (_, limit) in REQUESTS.items():
            most = MANY_MS if name == SETTLED and pairs > FEW else limit
            if most is not None:
                what = f"{stock.kind}: agreement page, {pairs:,} pairs, {name}, p95 (ms)"
                report.limit(Limit(what, times[name][1], most))
