"""Predictions of models on frozen releases; nothing here changes a release."""

from .fitting import fit_release, sweep_unfitted
from .import_file import About, PredictionImport, import_predictions
from .sets import delete_predictions

__all__ = [
    "About",
    "PredictionImport",
    "delete_predictions",
    "fit_release",
    "import_predictions",
    "sweep_unfitted",
]
