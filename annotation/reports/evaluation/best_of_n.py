"""Best-of-N: the runs of a task that the models of a release select."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.core.kinds import Feature
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.best_of_n import BestOfN, best_of_n
from annotation.models import Release
from annotation.policies import Actor, require

from ..shared.release_labels import answers
from .leaderboard_entries import entries


@dataclass(frozen=True, slots=True)
class Selections:
    """The runs of each task that one model selects, over the subsets that it predicts anything of:
    `all_subsets` of the release, or some."""

    name: str
    overall: BestOfN
    subsets: dict[str, BestOfN]
    all_subsets: bool


def selections(*, actor: Actor, release: Release) -> list[Selections]:
    """Best-of-N of every model that has predictions of a release, by name. Three queries, however many.
    Raises Conflict where the project has none."""
    require(actor, "release.view", release)
    release.project.of_kind.require(Feature.RUNS)
    listed, answers_given = entries(release), np.array(answers(release), dtype=object)
    released = listed.released
    chosen = []
    for one in listed.models:
        by_subset = {
            released.subsets[place]: _selected(released, one.predicted, answers_given, [place])
            for place in sorted(one.covered)
        }
        overall = _selected(released, one.predicted, answers_given, one.covered)
        chosen.append(Selections(one.name, overall, by_subset, len(one.covered) == len(released.subsets)))
    return chosen


def _selected(
    released: ReleasedLabels, predicted: Predictions, answers: np.ndarray, places: Iterable[int]
) -> BestOfN:
    records = np.isin(released.subset, list(places))
    return best_of_n(released.only(records), predicted.only(released, records), answers[records].tolist())


def as_json(release: Release, chosen: Iterable[Selections]) -> dict[str, Any]:
    """The selections as JSON, in the shape of the leaderboard."""
    return {
        "project": release.project.slug,
        "version": release.version,
        "digest": release.digest,
        "models": [
            {
                "model": one.name,
                "overall": one.overall.as_json(),
                "subsets": {name: part.as_json() for name, part in one.subsets.items()},
            }
            for one in chosen
        ],
    }
