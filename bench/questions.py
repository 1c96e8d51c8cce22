"""The topic `questions`: outputs of models to questions, beside reading their lines.

In one process. A release of questions with texts for keys is written as freezing writes it, and the outputs
of many models come in by the command: each is read twice, and held against its key with ROUGE. Their
leaderboard needs no text then.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import time
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.installations import Stock
from bench.report import Limit, Report, Say, number, percentiles, table, timed

QUESTIONS, MODELS, REPEAT = 6_000, 20, 3
QUICK = (30, 2, 1)
TASKS = 5
"""So many questions of a task."""
WORDS = 16
"""Of a key, and about as many of an output."""
IMPORTED, LINES = "importing outputs by the command, CPU", "json.loads of their lines, CPU"
VERDICTS = "reading them twice, with ROUGE, CPU"
BOARD = "their board, CPU"
OF_LINES = 25.0
SECONDS = 10.0
"""Of CPU, in which the outputs of all models are held against the keys, and their board is there."""


def text(rng: random.Random) -> str:
    """A key, as commands and short answers are."""
    return " ".join(f"w{rng.randrange(400)}" for _ in range(rng.randrange(2, 2 * WORDS)))


def fill(size: int) -> Any:
    """A frozen release of so many questions, each with a text for its key."""
    from django.db import transaction
    from django.utils import timezone

    from annotation.core.decisions.record import Asked, Decision, Option, decision_draft, frozen_details
    from annotation.core.jsonio.canonical import canonical_json
    from annotation.core.kinds import DECISIONS
    from annotation.core.releases.record_format import (
        ConsensusSnapshot,
        RecordIndexes,
        record_line,
        release_record,
    )
    from annotation.core.vocabulary import Ability, DecisionKind
    from annotation.models import Release, ReleaseRecord
    from annotation.policies import OPERATOR
    from annotation.services import projects

    rng = random.Random(1)
    project = projects.create_project(
        actor=OPERATOR, name="bench", slug="questions", guidelines="", kind=DECISIONS.name
    )
    release_id, rows = uuid.uuid4(), []
    for place in range(size):
        draft = decision_draft(
            Decision(
                question=f"Question {place}?",
                tools=[],
                history=[{"role": "user", "content": f"Question {place}? {text(rng)}"}],
                options=[Option({"role": "assistant", "content": text(rng)}, 1)],
                task_key=f"t{place // TASKS}",
                asked=Asked(DecisionKind.COMPLETION, Ability.ACTION, "en"),
                identity=f"q{place}",
            )
        )
        record = release_record(
            draft.content(),
            RecordIndexes("s", draft.record_id, draft.policy_model, place, place // TASKS, place % TASKS),
            ConsensusSnapshot({1: (1, "unanimous")}, (1, "unanimous")),
            decision=frozen_details(draft.raw),
        )
        body = record_line(record)
        rows.append(
            ReleaseRecord(
                release_id=release_id,
                ordinal=place,
                subset="s",
                record_id=record["record_id"],
                sha256=hashlib.sha256(body).hexdigest(),
                body=zlib.compress(body, 1),
            )
        )
    # the release comes last, as when it is frozen
    with transaction.atomic():
        ReleaseRecord.objects.bulk_create(rows, batch_size=200)
        return Release.objects.create(
            pk=release_id,
            project=project,
            number=1,
            version="1.0",
            digest="0" * 64,
            record_count=size,
            label_count=0,
            manifest=canonical_json({"subsets": {"s": None}, "kind": DECISIONS.name}).decode(),
            created_at=timezone.now(),
        )


def output_files(release: Any, models: int, folder: Path) -> list[Path]:
    """Files of so many models, which keep more and more words of each key."""
    from annotation.reports.shared.release_labels import records

    keys = [(record["record_id"], record["messages"][1]["content"]) for record in records(release)]

    def lines(model: int) -> Iterator[bytes]:
        rng = random.Random(model)
        for name, key in keys:
            words = [word if rng.random() < model / models else "other" for word in key.split()]
            yield json.dumps({"record_id": name, "output": " ".join(words) + "]\n"}).encode() + b"\n"

    paths = [folder / f"model-{model}.jsonl" for model in range(models)]
    for model, path in enumerate(paths):
        path.write_bytes(b"".join(lines(model)))
    return paths


def inside(size: str, models: str, repeat: str) -> dict[str, list[float]]:
    """Milliseconds of CPU: of importing the files by the command, of the verdicts on the outputs alone, of
    the leaderboard, and of `json.loads` of the lines; in turns."""
    from django.core.management import call_command

    from annotation.core.releases.scored_questions import questions_of
    from annotation.core.scoring.questions.verdicts import verdict
    from annotation.models import PredictionSet
    from annotation.policies import OPERATOR
    from annotation.reports.evaluation.leaderboard import leaderboard
    from annotation.reports.shared.release_labels import records
    from annotation.services import evaluate

    release = fill(int(size))
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        paths = output_files(release, int(models), Path(folder))
        questions = list(questions_of(records(release)))
        outputs = [[json.loads(line)["output"] for line in path.open("rb")] for path in paths]

        def scored() -> None:
            call_command("import_predictions", release.project.slug, release.version, *paths, no_fit=True)

        def board() -> None:
            leaderboard(actor=OPERATOR, release=release)

        def judge() -> None:
            for said in outputs:
                for question, output in zip(questions, said, strict=True):
                    assert question is not None
                    verdict(question, output)

        def parse() -> None:
            for path in paths:
                with path.open("rb") as file:
                    for line in file:
                        json.loads(line)

        board()  # loads scipy
        works = {IMPORTED: scored, VERDICTS: judge, BOARD: board, LINES: parse}
        for _ in range(int(repeat)):
            for row in PredictionSet.objects.filter(release=release):
                evaluate.delete_predictions(actor=OPERATOR, prediction_set=row)
            for name, work in works.items():
                found.setdefault(name, []).append(timed(work, time.process_time))
    return found


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Print, compare with what is promised."""
    sizes = QUICK if quick else (QUESTIONS, MODELS, REPEAT)
    found = stock.installation("questions").inside(inside, *map(str, sizes))
    times = {name: percentiles(values) for name, values in found.items()}
    reference = times[LINES][0]
    table(
        f"Outputs of {sizes[1]} models to {sizes[0]:,} questions, {stock.kind} (ms)",
        ("", "p50", "p95", "of reading the lines"),
        [(name, number(p50), number(p95), number(p50 / reference)) for name, (p50, p95) in times.items()],
    )
    report.line("questions", kind=stock.kind, questions=sizes[0], models=sizes[1], times=found)
    what = f"{stock.kind}: CPU of importing {sizes[1]} × {sizes[0]:,} outputs against reading their lines"
    report.limit(Limit(what, times[IMPORTED][0] / reference, OF_LINES))
    seconds = (times[VERDICTS][0] + times[BOARD][0]) / 1000
    report.limit(
        Limit(f"{stock.kind}: outputs of all models scored, with their board, CPU (s)", seconds, SECONDS)
    )
