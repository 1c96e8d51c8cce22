"""What the leaderboard of a release costs, beside scikit-learn on the same predictions and one pass over the
same bytes: `python -m bench.leaderboard [--database sqlite|postgres] [--records 1000] [--models 20]`.

On a throw-away database, in one process. A release of the size of the published benchmark (1,000 records with
three times the steps of a HotpotQA record, in four subsets) is written as freezing writes it; the predictions
come in through the importer. Every figure has its interval, every pair of models its test.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import statistics
import sys
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from bench import records
from bench.installations import scratch, stock

SUBSETS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
SAMPLES = 5
JOINED = 3
"""So many records of HotpotQA make one, for 8.5 steps a record."""
RIGHT = (0.45, 0.85)
"""Shares of steps that the worst and the best model get right."""
IMPORTED_MS = 300
NOTHING_MS = 3_000


def fill(size: int) -> Any:
    """A frozen release of so many records, five a task."""
    import numpy as np
    from django.db import transaction
    from django.utils import timezone

    from annotation.core.jsonio.canonical import canonical_json
    from annotation.core.releases.record_format import RecordIndexes, Resolved, record_line, release_record
    from annotation.core.trajectories.trajectory import step_indexes
    from annotation.models import Release, ReleaseRecord
    from annotation.policies import OPERATOR
    from annotation.services import projects

    rng = np.random.default_rng(1)
    project = projects.create_project(actor=OPERATOR, name="bench", slug="leaderboard", guidelines="")
    release_id, rows = uuid.uuid4(), []
    templates = list(records.records(size + JOINED))
    for number in range(size):
        subset = SUBSETS[number * len(SUBSETS) // size]
        messages = [*templates[number]["messages"]]
        for more in range(1, JOINED):
            messages += templates[number + more]["messages"][2:]
        indexes = step_indexes(messages)
        values = rng.choice([-1, 0, 1], size=len(indexes), p=[0.25, 0.1, 0.65]).tolist()
        query, sample = divmod(number, SAMPLES)
        record = release_record(
            {"messages": messages, "question": f"{number // SAMPLES}", "query_index": query},
            RecordIndexes(subset, f"{subset}:{query}:{sample}", "", number, query, sample),
            Resolved(
                {index: (value, "unanimous") for index, value in zip(indexes, values, strict=True)},
                (values[-1] or 1, "unanimous"),
            ),
        )
        body = record_line(record)
        rows.append(
            ReleaseRecord(
                release_id=release_id,
                ordinal=number,
                subset=subset,
                record_id=record["record_id"],
                sha256=hashlib.sha256(body).hexdigest(),
                body=zlib.compress(body, 1),
            )
        )
    # the release comes last, as when it is frozen
    with transaction.atomic():
        ReleaseRecord.objects.bulk_create(rows, batch_size=200)
        release = Release.objects.create(
            pk=release_id,
            project=project,
            number=1,
            version="1.0",
            digest="0" * 64,
            record_count=size,
            label_count=0,
            manifest=canonical_json({"subsets": dict.fromkeys(SUBSETS)}).decode(),
            created_at=timezone.now(),
        )
    return release


def predict(release: Any, models: int) -> None:
    """Predictions of so many models, better and better, through the importer."""
    import numpy as np

    from annotation.policies import OPERATOR
    from annotation.reports.shared.release_labels import released_labels
    from annotation.services import evaluate

    released = released_labels(release)
    starts = released.starts()

    def lines(right: float, rng: Any) -> Iterator[bytes]:
        said = np.where(
            rng.random(released.n_steps) < right, released.value, rng.integers(-1, 2, released.n_steps)
        )
        for place, record_id in enumerate(released.record_id):
            steps = slice(starts[place], starts[place + 1])
            labels = zip(released.message_index[steps].tolist(), said[steps].tolist(), strict=True)
            line = {
                "record_id": record_id,
                "step_labels": {str(index): value for index, value in labels},
                "final_label": 1,
                "comment": "because " * 20,
            }
            yield json.dumps(line).encode() + b"\n"

    for model in range(models):
        right = RIGHT[0] + (RIGHT[1] - RIGHT[0]) * model / max(models - 1, 1)
        evaluate.import_predictions(
            actor=OPERATOR,
            release=release,
            model=f"model-{model}",
            stream=io.BytesIO(b"".join(lines(right, np.random.default_rng(model)))),
            filename="bench",
        )


def measure(release: Any, repeat: int) -> dict[str, Any]:
    """Milliseconds: of the figures, the JSON and the page; of all of them without an outline; of fitting; and
    of the same figures, without an interval, by scikit-learn."""
    from django.test import Client
    from django.urls import reverse

    from annotation.models import PredictionSet, ReleaseOutline, User
    from annotation.policies import OPERATOR
    from annotation.reports.evaluation.leaderboard import leaderboard
    from annotation.reports.evaluation.score_json import leaderboard_json
    from annotation.reports.shared.release_labels import predictions, released_labels
    from annotation.services import evaluate

    admin = User.objects.create(username="bench-admin", is_superuser=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(admin, "django.contrib.auth.backends.ModelBackend")
    address = reverse("frontend:leaderboard", args=[release.project.slug, release.version])

    def page() -> None:
        assert client.get(address).status_code == 200

    def figures() -> None:
        leaderboard_json(leaderboard(actor=OPERATOR, release=release))

    first = timed(figures)  # loads scipy
    fit = timed(lambda: evaluate.fit_release(release_id=release.pk))
    page()
    found = {
        "figures": [timed(figures) for _ in range(repeat)],
        # what a busy machine does not change
        "figures, CPU": [timed(figures, time.process_time) for _ in range(repeat)],
        "page": [timed(page) for _ in range(repeat)],
        "page, CPU": [timed(page, time.process_time) for _ in range(repeat)],
    }
    kept = ReleaseOutline.objects.get()
    nothing = []
    for _ in range(max(2, repeat // 5)):
        ReleaseOutline.objects.all().delete()
        nothing.append(timed(figures))
    kept.save(force_insert=True)

    released = released_labels(release)
    rows = list(PredictionSet.objects.filter(release=release))
    said = [one.steps for one in predictions(released, rows)]
    places = [released.subset[released.record] == at for at in range(len(released.subsets))]
    everywhere = [slice(None), *places]
    naive = [timed(lambda: _naive(released.value, said, everywhere)) for _ in range(3)]
    small = [timed(lambda: _bytes(release, outline=True)) for _ in range(3)]
    all_bytes = [timed(lambda: _bytes(release, outline=False)) for _ in range(2)]
    middle = statistics.median(found["figures"])
    return {
        "records": released.n_records,
        "steps": released.n_steps,
        "tasks": released.n_tasks,
        "models": len(rows),
        "fitting everything, ms": round(fit),
        "first in a process, before fitting, ms": round(first),
        **{f"{name}, ms": quantiles(times) for name, times in found.items()},
        "figures from nothing, ms": quantiles(nothing),
        "κ and StepAcc by scikit-learn, no interval, ms": quantiles(naive),
        "one pass over the predictions' bytes, ms": quantiles(small),
        "one pass over the records' bytes (inflate, parse), ms": quantiles(all_bytes),
        "figures / scikit-learn": round(middle / statistics.median(naive), 2),
        "from nothing / one pass over the records": round(
            statistics.median(nothing) / statistics.median(all_bytes), 2
        ),
        "holds": middle <= IMPORTED_MS and statistics.median(nothing) <= NOTHING_MS,
    }


def _naive(value: Any, said: list[Any], parts: list[Any]) -> None:
    """κ and StepAcc of every model, on all and on each subset, as a notebook would have them."""
    from sklearn.metrics import accuracy_score, cohen_kappa_score

    for one in said:
        for part in parts:
            cohen_kappa_score(value[part], one[part])
            accuracy_score(value[part], one[part])


def _bytes(release: Any, *, outline: bool) -> None:
    """Read and inflate what the leaderboard is made of: predictions and outline, or all records."""
    from annotation.models import PredictionSet, ReleaseOutline, ReleaseRecord

    if outline:
        for body in PredictionSet.objects.filter(release=release).values_list("labels", flat=True):
            hashlib.sha256(zlib.decompress(bytes(body))).digest()
        json.loads(zlib.decompress(bytes(ReleaseOutline.objects.get(release=release).labels)))
        return
    rows = ReleaseRecord.objects.filter(release=release).order_by("ordinal")
    for body in rows.values_list("body", flat=True).iterator(chunk_size=100):
        json.loads(zlib.decompress(bytes(body)))


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """Milliseconds of the work, by the clock."""
    began = clock()
    work()
    return 1000 * (clock() - began)


def quantiles(times: list[float]) -> dict[str, float]:
    """The median, and the 95th percentile."""
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return {"p50": round(statistics.median(times), 1), "p95": round(p95, 1)}


def inside(size: int, models: int, repeat: int) -> None:
    """Fill the database of DATABASE_URL, and measure."""
    import django

    django.setup()
    release = fill(size)
    predict(release, models)
    json.dump(measure(release, repeat), sys.stdout, indent=1, ensure_ascii=False)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.leaderboard", description=__doc__.splitlines()[0])
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--records", type=int, default=1_000)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")
        inside(options.records, options.models, options.repeat)
        return
    folder = scratch()
    databases = stock(options.database, folder)
    made = []
    try:
        made.append(databases.installation("leaderboard"))
        made[0].run("manage.py", "collectstatic", "--noinput", "--verbosity", "0")
        sizes = [f"--{name}={getattr(options, name)}" for name in ("records", "models", "repeat")]
        print(databases.note)
        print(made[0].run("-m", "bench.leaderboard", "--inside", *sizes).decode())
    finally:
        databases.close(made)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
