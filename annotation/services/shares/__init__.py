"""The sharing of work: places kept for people, meetings of two people, quotas and days away."""

from . import limits, meetings, reservations

__all__ = ["limits", "meetings", "reservations"]
