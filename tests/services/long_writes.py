"""Long writes with what they need, for tests of their turns and of kills in the middle."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

from annotation.models import (
    Assignment,
    Trajectory,
)
from annotation.policies import OPERATOR
from annotation.services import label, projects, release, suggest
from tests import people
from tests.fixtures.judges import make_imported_judge
from tests.people import Cast
from tests.suggesting import suggest as suggest_values


def prepared(how_many: int) -> tuple[Cast, list[Trajectory], Assignment]:
    """Trajectories of four steps, of which the first is being labelled by cleo."""
    cast = people.make_cast()
    rows = people.import_records(cast.project, people.make_records(how_many, steps=4))
    return cast, rows, people.claim(cast.cleo, cast.project)


def lines(rows: list[Trajectory], value: int = 1) -> io.BytesIO:
    """A file with labels of these trajectories."""
    return io.BytesIO(
        b"".join(
            json.dumps(
                {
                    "record_id": row.record_id,
                    "step_labels": {str(index): value for index in people.step_indexes(row)},
                    "final_label": value,
                }
            ).encode()
            + b"\n"
            for row in rows
        )
    )


def import_labels(cast: Cast, rows: list[Trajectory], who: str = "humans") -> label.LabelImport:
    return label.import_labels(
        actor=OPERATOR, project=cast.project, annotator=who, stream=lines(rows), filename="labels.jsonl"
    )


def import_suggestions(cast: Cast, rows: list[Trajectory]) -> suggest.SuggestionImport:
    return suggest.import_suggestions(
        actor=OPERATOR, project=cast.project, judge_name="Sage", stream=lines(rows), filename="sage.jsonl"
    )


def labels_writer(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    return lambda: import_labels(cast, rows)


def suggestions_writer(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    return lambda: import_suggestions(cast, rows)


def triage_writer(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    judges = [make_imported_judge(cast.project, name) for name in ("one", "other")]
    for number, row in enumerate(rows):
        suggest_values(judges[0], row, 1)
        suggest_values(judges[1], row, (-1) ** number)
    return lambda: projects.triage(actor=OPERATOR, project=cast.project, batch_size=50, seed=3)


def freeze_writer(cast: Cast, rows: list[Trajectory]) -> Callable[[], Any]:
    for who in ("first", "second"):
        import_labels(cast, rows, who)
    return lambda: release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
