"""What the agreement page costs with many labels, beside scikit-learn on the same pairs:
`python -m bench.agreement_page`.

In this process, on the database of DATABASE_URL, in a project of its own that is taken away again. Paired
labels are written as settling writes them, without messages; figures read nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

STEPS = 9
SAMPLES = 5
PEOPLE = 8
SUBSETS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
CUTS = ("subset", "model", "pair", "week", "position", "kind", "source")


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
    packed = (first * 4 + second + 16 * (rng.random(truth.shape) < 0.7)).astype(np.uint8)
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
                outcome=10,
                steps=packed[number].tobytes(),
            )
        )
    PairedLabels.objects.bulk_create(paired, batch_size=2000)
    return project


def measure(pairs: int, repeat: int) -> dict[str, Any]:
    """Milliseconds of the report behind the page: read whole, after a new trajectory, again, and by cut."""
    from sklearn.metrics import cohen_kappa_score

    from annotation.core.agreement import packed
    from annotation.models import PairedLabels
    from annotation.policies import OPERATOR
    from annotation.reports import paired_labels
    from annotation.reports.agreement import agreement
    from annotation.services import planner_stats

    project = fill(pairs)
    planner_stats.analyse(PairedLabels)

    def page(by: str = "subset") -> None:
        agreement(viewer=OPERATOR, project=project, by=by, details=False)

    def timed(work: Callable[[], Any]) -> float:
        began = time.perf_counter()
        work()
        return 1000 * (time.perf_counter() - began)

    def whole() -> None:
        paired_labels.in_memory.clear()
        page()

    def settled() -> None:
        """As after the settling of one trajectory: its rows are new, everything is worked out anew."""
        newest = PairedLabels.objects.filter(project=project).order_by("-pk").first()
        assert newest is not None
        PairedLabels.objects.filter(pk=newest.pk).delete()
        paired_labels.paired_rows(project)
        newest.pk = None
        newest.save(force_insert=True)

    def after() -> float:
        settled()
        return timed(page)

    first = timed(whole)
    renewed = [after() for _ in range(repeat)]
    again = [timed(page) for _ in range(repeat * 5)]
    cuts = {cut: timed(partial(page, cut)) for cut in CUTS}
    rows = paired_labels.paired_rows(project).rows
    values = [(one.astype(int) - 1).tolist() for one in packed.values(rows.steps)]
    weights = (None, "linear", "quadratic")
    reference = timed(lambda: [cohen_kappa_score(*values, weights=weight) for weight in weights])

    def p95(times: list[float]) -> float:
        return statistics.quantiles(times, n=20)[-1]

    return {
        "pairs": int(packed.paired(rows.steps).sum()),
        "first_ms": first,
        "after_a_submission_ms_p95": p95(renewed),
        "again_ms_p95": p95(again),
        "cuts_ms": cuts,
        "sklearn_three_kappas_ms": reference,
        "ratio": reference / statistics.median(renewed),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.agreement_page", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
    import django
    from django.db import transaction

    django.setup()
    with transaction.atomic():
        found = measure(options.pairs, options.repeat)
        transaction.set_rollback(True)
    json.dump(found, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
