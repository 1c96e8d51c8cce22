"""Labelling: saving in batches, submitting, and finished labels that come from files (docs/design.md, "Labels
and propagation" and "Who may see what")."""

from .changes import MAX_CHANGES, MAX_NOTE
from .import_file import LabelImport, NewPerson, import_labels, sweep_half_imports
from .label_set import LabelSet
from .look_again import look_again, queue_again, queue_since_check, sweep_looks, unqueue
from .reopen import reopen
from .reveal import reveal
from .save import save_labels
from .submit import finish, submit
from .trajectory_flags import add_activity, set_flags
from .uploads import LabelPreview, annotator_of, look_at_labels, receive_labels, run_import

__all__ = [
    "MAX_CHANGES",
    "MAX_NOTE",
    "LabelImport",
    "LabelPreview",
    "LabelSet",
    "NewPerson",
    "add_activity",
    "annotator_of",
    "finish",
    "import_labels",
    "look_again",
    "look_at_labels",
    "queue_again",
    "queue_since_check",
    "receive_labels",
    "reopen",
    "reveal",
    "run_import",
    "save_labels",
    "set_flags",
    "submit",
    "sweep_half_imports",
    "sweep_looks",
    "unqueue",
]
