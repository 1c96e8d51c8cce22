"""Connections: traces are pulled from a server where runs lie, and the consensus is pushed to their spans
(docs/connections.md)."""

from .setting_up import create_connection, delete_connection, operator, update_connection
from .transfers import ask_for, cancel, reap, run_transfer

__all__ = [
    "ask_for",
    "cancel",
    "create_connection",
    "delete_connection",
    "operator",
    "reap",
    "run_transfer",
    "update_connection",
]
