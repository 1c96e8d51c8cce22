"""Audits of labels: begin, add draws, end; compare readings; decide, and correct the consensus."""

from .begin import MOST_DRAWS, add_draws, begin_audit, end_audit
from .comparing import sweep
from .ruling import decide_case, keep_rulings, take_case

__all__ = [
    "MOST_DRAWS",
    "add_draws",
    "begin_audit",
    "decide_case",
    "end_audit",
    "keep_rulings",
    "sweep",
    "take_case",
]
