"""Import: a file is received, read by its importer, written in small batches nobody sees, and published at
once."""

from .archives import ReceivedFiles, receive_upload
from .context import read_context
from .examples import add_examples, start_with_examples
from .previews import look_at, set_options, start
from .reaper import reap
from .receive import abandon, default_subset, discard_previews, receive_file
from .run import run_import

__all__ = [
    "ReceivedFiles",
    "abandon",
    "add_examples",
    "default_subset",
    "discard_previews",
    "look_at",
    "read_context",
    "reap",
    "receive_file",
    "receive_upload",
    "run_import",
    "set_options",
    "start",
    "start_with_examples",
]
