"""Models fitted on a release, kept beside its outline as bytes."""

from annotation.core.scoring.labels import Predictions, ReleasedLabels


def kept(predicted: Predictions | None) -> bytes:
    """Predictions for `read`; None, where nothing can be fitted, is kept as well."""
    return b"" if predicted is None else predicted.packed()


def read(stored: bytes | memoryview | None, released: ReleasedLabels) -> Predictions | None:
    """The predictions that `kept` made; None also where nothing is stored."""
    return Predictions.unpacked(bytes(stored), released) if stored else None
