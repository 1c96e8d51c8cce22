"""Predictions of models on frozen releases; nothing here changes a release."""

from .import_file import About, PredictionImport, import_predictions
from .sets import delete_predictions

__all__ = ["About", "PredictionImport", "delete_predictions", "import_predictions"]
