"""Derive decisions from a release: an import whose records are made from the release's while they are read.

It goes the way of every import, so that it is whole or nothing and what is there already stays. Whoever knows
what became of an item's source is noted as having seen its labels, and so cannot claim it; for how many items
that leaves too few people is said beforehand, or refuses the import.
"""

from .derivation import (
    PREVIEWED_RECORDS,
    DerivationPreview,
    derive,
    preview_derivation,
    require_derivable,
    run_import,
    targets,
)
from .request import DerivationRequest

__all__ = [
    "PREVIEWED_RECORDS",
    "DerivationPreview",
    "DerivationRequest",
    "derive",
    "preview_derivation",
    "require_derivable",
    "run_import",
    "targets",
]
