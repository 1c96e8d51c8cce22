"""The effect of triage on real data: three published judges on HotpotQA (docs/influence.md has the table)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest

from annotation.core.influence.triage import BATCH, contested, share_found_early, triaged

pytestmark = pytest.mark.published
SEEDS = range(10)
Labels = tuple[dict[int, int | None], int | None]


def identity(record: Mapping[str, Any]) -> tuple[int, int]:
    return record["query_index"], record["sample_index"]


@cache
def said(published: Path) -> dict[str, dict[tuple[int, int], Labels]]:
    """Labels by judge, the newest line of each record; a failed judgement says nothing."""
    found: dict[str, dict[tuple[int, int], Labels]] = {}
    for path in sorted((published / "agentprocessbench" / "predictions").glob("*/hotpotqa__*.jsonl")):
        newest: dict[tuple[int, int], dict[str, Any]] = {}
        for record in map(json.loads, path.read_text().splitlines()):
            known = newest.get(identity(record))
            if known is None or str(record.get("updated_at", "")) >= str(known.get("updated_at", "")):
                newest[identity(record)] = record
        its = found.setdefault(path.parent.name, {})
        for key, record in newest.items():
            labels = {int(index): value for index, value in record["step_labels"].items()}
            failed = all(value is None for value in labels.values())
            its[key] = (labels, None if failed else record["final_label"])
    return found


@cache
def people(published: Path) -> dict[tuple[int, int], dict[int, int]]:
    """The published labels, in the order of the file."""
    records = map(json.loads, (published / "agentprocessbench" / "hotpotqa.jsonl").read_text().splitlines())
    return {
        identity(record): {int(index): value for index, value in record["step_labels"].items()}
        for record in records
    }


def order(published: Path, judges: tuple[str, ...], seed: int) -> list[tuple[int, int]]:
    by_judge = said(published)
    scores = []
    for key in people(published):
        given = [by_judge[judge][key] for judge in judges if key in by_judge[judge]]
        scores.append((key, contested([labels for labels, _ in given], [outcome for _, outcome in given])))
    return triaged(scores, batch_size=BATCH, seed=seed)


def early(queue: list[tuple[int, int]], weight: Mapping[tuple[int, int], int], part: float) -> float:
    """The share of `weight` in the first `part` of the queue; with weights 0 and 1, as the product says."""
    cut = part * len(queue)
    found = sum(weight[key] * min(1.0, max(0.0, cut - place)) for place, key in enumerate(queue))
    share = found / sum(weight.values())
    if set(weight.values()) <= {0, 1}:
        its = np.array([place for place, key in enumerate(queue) if weight[key]])
        assert share_found_early(its, len(queue), part) == pytest.approx(share)
    return share


def wanted(published: Path) -> dict[str, dict[tuple[int, int], int]]:
    by_judge = said(published)
    one, other = by_judge["GPT-5.2"], by_judge["DeepSeek-V3.2"]
    steps = {
        key: sum(one[key][0].get(step) != other[key][0].get(step) for step in labels)
        for key, labels in people(published).items()
    }
    return {
        "erroneous": {key: int(-1 in labels.values()) for key, labels in people(published).items()},
        "disputed": {key: int(steps[key] > 0 or one[key][1] != other[key][1]) for key in steps},
        "disputed steps": steps,
    }


@pytest.mark.parametrize(
    ("what", "how_many", "triage", "imported"),
    [
        ("erroneous", 104, (0.56, 0.78), (0.260, 0.490)),
        ("disputed", 92, (0.64, 0.86), (0.293, 0.478)),
        ("disputed steps", 171, (0.76, 0.92), (0.386, 0.532)),
    ],
)
def test_triage_brings_errors_and_disputes_forward(
    published: Path,
    what: str,
    how_many: int,
    triage: tuple[float, float],
    imported: tuple[float, float],
) -> None:
    weight = wanted(published)[what]
    judges = tuple(said(published))
    queues = [order(published, judges, seed) for seed in SEEDS]

    assert len(judges) == 3 and sum(weight.values()) == how_many
    for part, found, by_import in zip((1 / 3, 1 / 2), triage, imported, strict=True):
        assert mean(early(queue, weight, part) for queue in queues) == pytest.approx(found, abs=0.02)
        assert early(list(people(published)), weight, part) == pytest.approx(by_import, abs=0.0005)
