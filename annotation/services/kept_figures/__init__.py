"""Show figures of much work as they were a moment ago, and let a worker make newer ones."""

from .keep import FRESH, LARGE, Kept, oldest, renew, sweep
from .pages import (
    annotator_figures,
    board,
    candidate,
    checklist,
    days_of_work,
    influence,
    own_part,
    triage_so_far,
    versions,
)

__all__ = [
    "FRESH",
    "LARGE",
    "Kept",
    "annotator_figures",
    "board",
    "candidate",
    "checklist",
    "days_of_work",
    "influence",
    "oldest",
    "own_part",
    "renew",
    "sweep",
    "triage_so_far",
    "versions",
]
