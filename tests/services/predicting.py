"""A frozen release, and files of predictions of it, for tests."""

from __future__ import annotations

import io
import json
from typing import Any

from annotation.models import Release
from annotation.services import evaluate
from annotation.services.evaluate import PredictionImport
from tests.people import Cast


def line(query: int = 0, labels: Any = None, outcome: Any = 1, **more: Any) -> dict[str, Any]:
    """A prediction of a trajectory with the steps 2, 4 and 6."""
    return {
        "record_id": f"tiny:{query}:0",
        "step_labels": {"2": 1, "4": 0, "6": -1} if labels is None else labels,
        "final_label": outcome,
        **more,
    }


def content(*lines: dict[str, Any]) -> bytes:
    """A prediction file."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in lines)


def bring(
    cast: Cast, release: Release, *lines: dict[str, Any], model: str = "Sage", **options: Any
) -> PredictionImport:
    """Import these lines, by the admin."""
    options = {"actor": cast.admin, "filename": "sage.jsonl", **options}
    return evaluate.import_predictions(
        release=release, model=model, stream=io.BytesIO(content(*lines)), **options
    )
