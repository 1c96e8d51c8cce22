"""Labelling: saving in batches, submitting, and finished labels that come from files (docs/design.md, "Labels
and propagation" and "Who may see what")."""

from .changes import MAX_CHANGES, MAX_NOTE
from .import_file import LabelImport, import_labels, sweep_half_imports
from .label_set import LabelSet
from .look_again import look_again, queue_again, sweep_looks, unqueue
from .reopen import reopen
from .reveal import reveal
from .save import save_labels
from .submit import finish, submit
from .trajectory_flags import add_activity, set_flags

__all__ = [
    "MAX_CHANGES",
    "MAX_NOTE",
    "LabelImport",
    "LabelSet",
    "add_activity",
    "finish",
    "import_labels",
    "look_again",
    "queue_again",
    "reopen",
    "reveal",
    "save_labels",
    "set_flags",
    "submit",
    "sweep_half_imports",
    "sweep_looks",
    "unqueue",
]
