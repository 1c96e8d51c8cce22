"""Correct: somebody says what would have been right in the place of a first error, and judges propose it."""

from .proposing import MAX_PROPOSALS, Proposal, propose, reveal
from .saving import Draft, check_draft, described, fields_of, save_correction
from .taking import restore, take, withdraw

__all__ = [
    "MAX_PROPOSALS",
    "Draft",
    "Proposal",
    "check_draft",
    "described",
    "fields_of",
    "propose",
    "restore",
    "reveal",
    "save_correction",
    "take",
    "withdraw",
]
