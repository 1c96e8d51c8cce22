"""The baseline as a provider: it answers here and now, from a model in memory, and costs nothing.

It has no `create`: it comes out of a training (`services.suggest.baseline`), not out of
settings.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from decimal import Decimal

from annotation.core.baseline.features import VERSION
from annotation.core.baseline.training import Trained
from annotation.core.judging import CostEstimate, Usage

from .base import Exchange, Hooks, Reply, Request


class Baseline:
    """`tasks`: the task (`core.baseline.training.task_of`) of each trajectory, by `Request.reference`.

    A trajectory that is not in `tasks` raises `KeyError`: without its task there is no telling which
    model has not seen it.
    """

    def __init__(self, trained: Trained, tasks: Mapping[str, str], hooks: Hooks) -> None:
        self._trained = trained
        self._tasks = tasks
        self._hooks = hooks

    def judge(self, request: Request) -> Reply:
        """The most probable labels. What is kept for audit is all probabilities, as JSON."""
        self._hooks.admit()
        begun = time.perf_counter()
        prediction = self._trained.judge(request.material, self._tasks[request.reference])
        kept = {
            "features_version": VERSION,
            "task_in_training": prediction.seen,
            "probabilities": {
                str(index): [round(float(probability), 6) for probability in row]
                for index, row in zip(request.material.steps, prediction.probabilities, strict=True)
            },
            "outcome": [round(float(probability), 6) for probability in prediction.outcome],
        }
        return Reply(
            judgement=prediction.judgement,
            usage=Usage(0, 0),
            cost=Decimal(0),
            prompt_version="",
            exchange=Exchange(response=json.dumps(kept).encode(), seconds=time.perf_counter() - begun),
        )

    def estimate(self, request: Request) -> CostEstimate:
        """An estimate of the call alone."""
        return CostEstimate(calls=1)

    def close(self) -> None:
        """Release nothing: there are no connections."""
