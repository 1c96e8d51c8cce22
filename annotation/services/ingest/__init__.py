"""Import: a file is received, read by its importer, written in small batches nobody sees, and published at
once."""

from .receive import abandon, receive_file
from .run import reap, run_import

__all__ = ["abandon", "reap", "receive_file", "run_import"]
