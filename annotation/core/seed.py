"""The seed of all chance that must come out the same twice: intervals, samples, training."""

from typing import Final

SEED: Final = 20_260_314
