"""The registry of export formats. A new format is a new file here and one entry in `FORMATS`.

The first is what an export is unless another is asked for.
"""

from __future__ import annotations

from typing import Final

from .agentprocessbench import AGENTPROCESSBENCH
from .aptbench import APTBENCH
from .base import ExportFormat, ExportOptions
from .decisions import TRISTEP_DECISION
from .huggingface import HUGGINGFACE
from .pairs import TOOLPRMBENCH, TRL_PREFERENCE
from .training import TRAINING

__all__ = ["BY_NAME", "FORMATS", "PLAIN", "ExportFormat", "ExportOptions"]

FORMATS: Final[tuple[ExportFormat, ...]] = (
    AGENTPROCESSBENCH,
    HUGGINGFACE,
    TRAINING,
    TOOLPRMBENCH,
    TRL_PREFERENCE,
    APTBENCH,
    TRISTEP_DECISION,
)
BY_NAME: Final[dict[str, ExportFormat]] = {format.name: format for format in FORMATS} | {
    alias: format for format in FORMATS for alias in format.aliases
}
PLAIN: Final = ExportOptions(FORMATS[0])
