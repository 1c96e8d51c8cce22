"""Training: subsets with keyed trajectories, and people's turns at them (docs/training.md)."""

from .copies import copy_into
from .gate import gate
from .keys import edit_key, keyed, refuse_without_key
from .subsets import make_items, mark_training, read_keys, unmark_training
from .turns import ask, finished, note_key_seen

__all__ = [
    "ask",
    "copy_into",
    "edit_key",
    "finished",
    "gate",
    "keyed",
    "make_items",
    "mark_training",
    "note_key_seen",
    "read_keys",
    "refuse_without_key",
    "unmark_training",
]
