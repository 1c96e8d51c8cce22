"""Scores of models that label the steps of a release (docs/scoring.md). Pure functions on integer arrays.

`labels` holds a release's consensus and a model's predictions side by side, step by step; `counts` makes sums
by task of them, of which `figures.FIGURES` makes every figure; `scores` adds intervals and design effect.
`ranks` compares models task by task, `best_of_n` selects runs with them, and `details` cuts one model's
figures. Two conventions hold everywhere: a step without a prediction is a wrong step, never a 0, and an
undefined figure is a `Measure` without a value and with a reason in words.
"""

from annotation.core.scoring.labels import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.scores import Scores, scores

__all__ = ["MISSING", "Predictions", "ReleasedLabels", "Scores", "scores"]
