"""Assign trajectories: keep one for somebody, claim the next one, give it back, take it up again, take it
from somebody."""

from .claiming import (
    CLAIM_KEY_RULE,
    claim_next,
    claim_this,
    has_seen_labels,
    label_next,
    unfinished,
)
from .reserving import Plan, assign_trajectories, plan, withdraw
from .return_assignment import MAX_REASON, resume_assignment, return_assignment, take_back
from .slots import guideline_in_force, take_slot, take_slots

__all__ = [
    "CLAIM_KEY_RULE",
    "MAX_REASON",
    "Plan",
    "assign_trajectories",
    "claim_next",
    "claim_this",
    "guideline_in_force",
    "has_seen_labels",
    "label_next",
    "plan",
    "resume_assignment",
    "return_assignment",
    "take_back",
    "take_slot",
    "take_slots",
    "unfinished",
    "withdraw",
]
