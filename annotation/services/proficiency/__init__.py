"""Proficiency tests: make one, and sit it (docs/training.md)."""

from .making import change_test, make_test, require_test
from .sitting import begin_attempt, grant_attempt, stop_attempt, stop_attempts_of

__all__ = [
    "begin_attempt",
    "change_test",
    "grant_attempt",
    "make_test",
    "require_test",
    "stop_attempt",
    "stop_attempts_of",
]
