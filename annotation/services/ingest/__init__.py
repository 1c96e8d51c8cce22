"""Import: a file is received, read by its importer, written in small batches nobody sees, and published at
once."""

from .reaper import reap
from .receive import abandon, default_subset, receive_file
from .run import run_import

__all__ = ["abandon", "default_subset", "reap", "receive_file", "run_import"]
