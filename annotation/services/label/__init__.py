"""Labelling: saving in batches, submitting, and finished labels that come from files (DESIGN §5 and §6)."""

from .changes import MAX_CHANGES, MAX_NOTE
from .files import LabelImport, import_labels
from .marks import add_activity, mark
from .reopen import reopen
from .reveal import reveal
from .save import save_labels
from .sheet import Sheet, rules_of
from .submit import finish, submit

__all__ = [
    "MAX_CHANGES",
    "MAX_NOTE",
    "LabelImport",
    "Sheet",
    "add_activity",
    "finish",
    "import_labels",
    "mark",
    "reopen",
    "reveal",
    "rules_of",
    "save_labels",
    "submit",
]
