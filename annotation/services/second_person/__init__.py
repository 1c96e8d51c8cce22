"""Judges as the second reader: make the rule, open one place instead of two, ask a second person where judges
doubt (docs/sealing.md, "One person beside judges").

All of it happens in the background: a person who submits waits for nothing, and learns nothing from how long
it takes.
"""

from .comparing import decide
from .looking import look, look_at, sweep
from .second_labels import make_two, second_slots, still_closed

__all__ = ["decide", "look", "look_at", "make_two", "second_slots", "still_closed", "sweep"]
