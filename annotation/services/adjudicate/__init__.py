"""Adjudicate: one person takes a dispute, decides what is disputed, and closes the case."""

from .assign_cases import assign_cases
from .claim_case import open_case, release_case, reveal, take_cases_back
from .close_case import close_case, reopen_case
from .deciding import decide, let_majority_stand, withdraw_decision
from .examples import MAX_TEXT, MAX_TITLE, mark_example, unmark_example

__all__ = [
    "MAX_TEXT",
    "MAX_TITLE",
    "assign_cases",
    "close_case",
    "decide",
    "let_majority_stand",
    "mark_example",
    "open_case",
    "release_case",
    "reopen_case",
    "reveal",
    "take_cases_back",
    "unmark_example",
    "withdraw_decision",
]
