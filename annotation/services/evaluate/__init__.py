"""Predictions of models on frozen releases; nothing here changes a release."""

from .delete_predictions import delete_predictions
from .fitting import fit_release, is_fitted, sweep_unfitted
from .import_file import (
    PredictionImport,
    PredictionSource,
    import_prediction_files,
    import_predictions,
)
from .judge_predictions import ScoredJudge, score_judge, score_run, sweep_runs
from .outside_numbers import set_outside_numbers
from .store import PredictionSetDetails

__all__ = [
    "PredictionImport",
    "PredictionSetDetails",
    "PredictionSource",
    "ScoredJudge",
    "delete_predictions",
    "fit_release",
    "import_prediction_files",
    "import_predictions",
    "is_fitted",
    "score_judge",
    "score_run",
    "set_outside_numbers",
    "sweep_runs",
    "sweep_unfitted",
]
