"""The topic `leaderboard`: the leaderboard of a release, beside scikit-learn on the same predictions and one
pass over the same records.

In one process. A release of the size of the published benchmark (1,000 records with three times the steps of
a HotpotQA record, in four subsets) is written as freezing writes it; the predictions come in by the command.
Every figure has its interval, every pair of models its test.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import records
from bench.installations import Stock
from bench.report import Limit, Report, Say, number, percentiles, table, timed

RECORDS, MODELS, REPEAT = 1_000, 20, 15
QUICK = (20, 2, 2)
SUBSETS = ("bfcl", "gaia_dev", "hotpotqa", "tau2")
SAMPLES = 5
JOINED = 3
"""So many records of HotpotQA make one, for 8.5 steps a record."""
RIGHT = (0.45, 0.85)
"""Shares of steps that the worst and the best model get right."""
REASON = "Refines the search to connect the place with the school, from what the tool has said before."
IMPORTED, READ = "importing prediction files, CPU", "reading and checking them, CPU"
HELD = "decoding them and holding their labels against the release, CPU"
OF_READING = 2.0
LIMITS = {"figures": 300, "figures from nothing": 3_000}
"""Milliseconds, p50."""


def fill(size: int) -> Any:
    """A frozen release of so many records, five a task."""
    import numpy as np
    from django.db import transaction
    from django.utils import timezone

    from annotation.core.jsonio.canonical import canonical_json
    from annotation.core.releases.record_format import (
        ConsensusSnapshot,
        RecordIndexes,
        record_line,
        release_record,
    )
    from annotation.core.trajectories.trajectory import step_indexes
    from annotation.models import Release, ReleaseRecord
    from annotation.policies import OPERATOR
    from annotation.services import projects

    rng = np.random.default_rng(1)
    project = projects.create_project(actor=OPERATOR, name="bench", slug="leaderboard", guidelines="")
    release_id, rows = uuid.uuid4(), []
    templates = list(records.records(size + JOINED))
    for place in range(size):
        subset = SUBSETS[place * len(SUBSETS) // size]
        messages = [*templates[place]["messages"]]
        for more in range(1, JOINED):
            messages += templates[place + more]["messages"][2:]
        indexes = step_indexes(messages)
        values = rng.choice([-1, 0, 1], size=len(indexes), p=[0.25, 0.1, 0.65]).tolist()
        query, sample = divmod(place, SAMPLES)
        record = release_record(
            {"messages": messages, "question": f"{place // SAMPLES}", "query_index": query},
            RecordIndexes(subset, f"{subset}:{query}:{sample}", "", place, query, sample),
            ConsensusSnapshot(
                {index: (value, "unanimous") for index, value in zip(indexes, values, strict=True)},
                (values[-1] or 1, "unanimous"),
            ),
        )
        body = record_line(record)
        rows.append(
            ReleaseRecord(
                release_id=release_id,
                ordinal=place,
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


def prediction_files(release: Any, models: int, folder: Path) -> list[Path]:
    """Files of so many models, better and better, with a reason for each label as the published ones have."""
    import numpy as np

    from annotation.reports.shared.release_labels import released_labels

    released = released_labels(release)
    starts = released.starts()

    def lines(right: float, rng: Any) -> Iterator[bytes]:
        said = np.where(
            rng.random(released.n_steps) < right, released.value, rng.integers(-1, 2, released.n_steps)
        )
        for place, record_id in enumerate(released.record_id):
            steps = slice(starts[place], starts[place + 1])
            labels = zip(map(str, released.message_index[steps]), said[steps].tolist(), strict=True)
            by_index = dict(labels)
            line = {
                "record_id": record_id,
                "step_labels": by_index,
                "final_label": 1,
                "updated_at": "2026-02-05T02:15:19.524419+00:00",
                "explanations": {"steps": dict.fromkeys(by_index, REASON), "final": REASON},
            }
            yield json.dumps(line).encode() + b"\n"

    paths = [folder / f"model-{model}.jsonl" for model in range(models)]
    for model, path in enumerate(paths):
        right = RIGHT[0] + (RIGHT[1] - RIGHT[0]) * model / max(models - 1, 1)
        path.write_bytes(b"".join(lines(right, np.random.default_rng(model))))
    return paths


def import_files(release: Any, paths: list[Path], repeat: int) -> dict[str, list[float]]:
    """Milliseconds of CPU: of importing the files by the command, of reading and checking them only, of the
    same without their reasons and times, and of `json.loads` of their lines; in turns. What was imported last
    stays."""
    import numpy as np
    from django.core.management import call_command

    from annotation.core.label_files import LabelLine, label_lines
    from annotation.core.scoring.labels import aligned
    from annotation.core.scoring.reading import read_predictions
    from annotation.models import PredictionSet
    from annotation.policies import OPERATOR
    from annotation.reports.shared.release_labels import released_labels
    from annotation.services import evaluate

    released, found = released_labels(release), dict[str, list[float]]()
    starts = released.starts()

    def by_command() -> None:
        call_command("import_predictions", release.project.slug, release.version, *paths, no_fit=True)

    def read() -> None:
        for path in paths:
            with path.open("rb") as file, tempfile.TemporaryFile() as reasons:
                assert not read_predictions(file, path.name, released, reasons=reasons).errors

    def hold() -> None:
        steps = dict(zip(released.record_id, np.split(released.message_index, starts[1:-1]), strict=True))
        indexes = {record: own.tolist() for record, own in steps.items()}
        for path in paths:
            with path.open("rb") as file:
                for line in label_lines(file, path.name):
                    assert isinstance(line, LabelLine)
                    assert not aligned(line.step_labels, indexes[line.record_id])[1]

    def parse() -> None:
        for path in paths:
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)

    for _ in range(repeat):
        for row in PredictionSet.objects.filter(release=release):
            evaluate.delete_predictions(actor=OPERATOR, prediction_set=row)
        works = {IMPORTED: by_command, READ: read, HELD: hold, "json.loads of their lines, CPU": parse}
        for name, work in works.items():
            found.setdefault(name, []).append(timed(work, time.process_time))
    return found


def measure(release: Any, repeat: int) -> dict[str, list[float]]:
    """Milliseconds: of the figures as JSON and of the page, by the clock and in CPU; of fitting; of figures
    without an outline; of κ and StepAcc by scikit-learn, no interval; and of one pass over the records."""
    from django.test import Client
    from django.urls import reverse

    from annotation.models import PredictionSet, ReleaseOutline, User
    from annotation.policies import OPERATOR
    from annotation.reports.evaluation.leaderboard import as_json as leaderboard_json
    from annotation.reports.evaluation.leaderboard import leaderboard
    from annotation.reports.shared.release_labels import predictions, records, released_labels
    from annotation.services import evaluate

    admin = User.objects.create(username="bench-admin", is_superuser=True)
    client = Client(SERVER_NAME="localhost")
    client.force_login(admin, "django.contrib.auth.backends.ModelBackend")
    address = reverse("frontend:leaderboard", args=[release.project.slug, release.version])

    def page() -> None:
        assert client.get(address).status_code == 200

    def figures() -> None:
        leaderboard_json(leaderboard(actor=OPERATOR, release=release))

    def from_nothing() -> None:
        ReleaseOutline.objects.all().delete()
        figures()

    figures()  # loads scipy
    fitting = timed(lambda: evaluate.fit_release(release_id=release.pk))
    page()
    found = {
        "figures": [timed(figures) for _ in range(repeat)],
        # what a busy machine does not change
        "figures, CPU": [timed(figures, time.process_time) for _ in range(repeat)],
        "page": [timed(page) for _ in range(repeat)],
        "page, CPU": [timed(page, time.process_time) for _ in range(repeat)],
        "fitting everything": [fitting],
    }
    released = released_labels(release)
    said = [one.steps for one in predictions(released, list(PredictionSet.objects.filter(release=release)))]
    places = [released.subset[released.record] == at for at in range(len(released.subsets))]
    few = max(2, repeat // 5)
    return found | {
        "figures from nothing": [timed(from_nothing) for _ in range(few)],
        "κ and StepAcc by scikit-learn": [
            timed(lambda: _naive(released.value, said, [slice(None), *places])) for _ in range(few)
        ],
        "one pass over the records": [timed(lambda: list(records(release))) for _ in range(few)],
    }


def _naive(value: Any, said: list[Any], parts: list[Any]) -> None:
    """κ and StepAcc of every model, on all and on each subset, as a notebook would have them."""
    from sklearn.metrics import accuracy_score, cohen_kappa_score

    for one in said:
        for part in parts:
            cohen_kappa_score(value[part], one[part])
            accuracy_score(value[part], one[part])


def inside(size: str, models: str, repeat: str) -> dict[str, list[float]]:
    """Fill the database, and measure (inside the product's process)."""
    release = fill(int(size))
    with tempfile.TemporaryDirectory() as folder:
        paths = prediction_files(release, int(models), Path(folder))
        imported = import_files(release, paths, max(1, int(repeat) // 3))
    return measure(release, int(repeat)) | imported


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Print, compare with what is promised."""
    sizes = QUICK if quick else (RECORDS, MODELS, REPEAT)
    installation = stock.installation("leaderboard")
    installation.run("manage.py", "collectstatic", "--noinput", "--verbosity", "0")
    found = installation.inside(inside, *map(str, sizes))
    times = {name: percentiles(values) for name, values in found.items()}
    reference = times["κ and StepAcc by scikit-learn"][0]
    table(
        f"Leaderboard of {sizes[1]} models on {sizes[0]:,} records, {stock.kind} (ms)",
        ("", "p50", "p95", "of scikit-learn"),
        [(name, number(p50), number(p95), number(p50 / reference)) for name, (p50, p95) in times.items()],
    )
    report.line("leaderboard", kind=stock.kind, records=sizes[0], models=sizes[1], times=found)
    what = f"{stock.kind}: CPU of importing {sizes[1]} prediction files against reading them"
    report.limit(Limit(what, times[IMPORTED][0] / times[READ][0], OF_READING))
    for name, most in LIMITS.items():
        report.limit(Limit(f"{stock.kind}: leaderboard, {name}, p50 (ms)", times[name][0], most))
