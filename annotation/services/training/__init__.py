"""Training: subsets with keyed trajectories, and people's turns at them (docs/training.md)."""

from .copies import copy_into
from .gate import gate, refuse_paused
from .gold import gold_too_late, make_gold, remove_gold
from .keys import refuse_without_key, write_key_label
from .pauses import forget_mark, pause, resume, sweep
from .subsets import make_items, mark_training, read_keys, unmark_training
from .turns import ask, finished, note_key_seen

__all__ = [
    "ask",
    "copy_into",
    "finished",
    "forget_mark",
    "gate",
    "gold_too_late",
    "make_gold",
    "make_items",
    "mark_training",
    "note_key_seen",
    "pause",
    "read_keys",
    "refuse_paused",
    "refuse_without_key",
    "remove_gold",
    "resume",
    "sweep",
    "unmark_training",
    "write_key_label",
]
