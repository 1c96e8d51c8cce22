"""Assign trajectories: claim the next one, give it back, take it up again, take it from somebody."""

from .claiming import (
    CLAIM_KEY_RULE,
    claim_next,
    claim_this,
    has_seen_labels,
    label_next,
    unfinished,
)
from .return_assignment import MAX_REASON, resume_assignment, return_assignment, take_back
from .slots import guideline_in_force, take_slot, take_slots

__all__ = [
    "CLAIM_KEY_RULE",
    "MAX_REASON",
    "claim_next",
    "claim_this",
    "guideline_in_force",
    "has_seen_labels",
    "label_next",
    "resume_assignment",
    "return_assignment",
    "take_back",
    "take_slot",
    "take_slots",
    "unfinished",
]
