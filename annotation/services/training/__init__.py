"""Training: subsets with keyed trajectories, and people's turns at them (docs/training.md)."""

from .copies import copy_into
from .gate import gate
from .keys import refuse_without_key, write_key_label
from .subsets import make_items, mark_training, read_keys, unmark_training
from .turns import ask, finished, note_key_seen

__all__ = [
    "ask",
    "copy_into",
    "finished",
    "gate",
    "make_items",
    "mark_training",
    "note_key_seen",
    "read_keys",
    "refuse_without_key",
    "unmark_training",
    "write_key_label",
]
