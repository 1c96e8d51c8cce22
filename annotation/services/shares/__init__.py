"""How the work is shared out: places that are kept for people, how often two people have met, quotas and days
away."""

from . import limits, meetings, reservations

__all__ = ["limits", "meetings", "reservations"]
