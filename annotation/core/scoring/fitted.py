"""Models fitted on a release, kept beside its outline as bytes."""

from typing import Final

from annotation.core.baseline import training
from annotation.core.scoring import recalibration
from annotation.core.scoring.labels import Predictions, ReleasedLabels

METHOD: Final = f"{recalibration.VERSION} {training.METHOD}"
"""Changes with every change of what comes out of a fit: what was kept before is fitted again."""


def kept(said: Predictions | None) -> bytes:
    """Predictions for `read`; None, where nothing can be fitted, is kept as well."""
    return b"" if said is None else said.packed()


def read(stored: bytes | memoryview | None, released: ReleasedLabels) -> Predictions | None:
    """The predictions that `kept` made; None also where nothing is stored."""
    return Predictions.unpacked(bytes(stored), released) if stored else None
