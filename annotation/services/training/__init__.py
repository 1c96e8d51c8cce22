"""Training: subsets with keyed trajectories, and people's turns at them (docs/training.md)."""

from .copies import copy_into
from .finishing import finished
from .gate import gate, refuse_paused
from .gold import make_gold, remove_gold
from .keys import refuse_without_key, write_key_label
from .pauses import forget_mark, mark_now, pause, resume, sweep
from .pilots import begin_pilot, stop_pilot, sweep_pilots
from .subsets import make_items, mark_training, read_keys, unmark_training
from .turns import ask, note_key_seen
from .tutorial import give_feedback, set_tutorial, skip_tutorial

__all__ = [
    "ask",
    "begin_pilot",
    "copy_into",
    "finished",
    "forget_mark",
    "gate",
    "give_feedback",
    "make_gold",
    "make_items",
    "mark_now",
    "mark_training",
    "note_key_seen",
    "pause",
    "read_keys",
    "refuse_paused",
    "refuse_without_key",
    "remove_gold",
    "resume",
    "set_tutorial",
    "skip_tutorial",
    "stop_pilot",
    "sweep",
    "sweep_pilots",
    "unmark_training",
    "write_key_label",
]
