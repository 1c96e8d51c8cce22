"""How the work is shared out: places that are kept for people, and how often two people have met."""

from . import meetings, reservations

__all__ = ["meetings", "reservations"]
