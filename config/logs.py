"""One line of JSON for each log record, without trajectory text.

Exceptions are logged as their type and the places they passed through, never with their message: a
database's message quotes the row, and a row may hold a trajectory or somebody's note.
"""

from __future__ import annotations

import json
import logging
import traceback
from datetime import UTC, datetime

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
# Objects that libraries attach to a record; their text could be anything.
_OBJECTS = frozenset({"request", "response", "data", "exception", "sql", "params", "server_time"})


class OneLine(logging.Formatter):
    """Time (UTC, ISO 8601), level, logger, message, and the record's own plain extras."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._message(record),
        }
        for name, value in vars(record).items():
            if name in _STANDARD or name in _OBJECTS or name.startswith("_"):
                continue
            if value is None or isinstance(value, (str, int, float, bool)):
                line[name] = value
        if record.exc_info and record.exc_info[0] is not None:
            kind, _, trace = record.exc_info
            line["error"] = f"{kind.__module__}.{kind.__qualname__}"
            line["at"] = [f"{f.filename}:{f.lineno} {f.name}" for f in traceback.extract_tb(trace)]
        return json.dumps(line, ensure_ascii=True)

    @staticmethod
    def _message(record: logging.LogRecord) -> str:
        # Celery puts the exception's text, and the task's arguments, into the message of a failed task.
        if record.name.startswith("celery") and isinstance(record.args, dict) and "exc" in record.args:
            return f"Task {record.args.get('name')}[{record.args.get('id')}] failed"
        return record.getMessage()


def settings(level: str) -> dict[str, object]:
    """Django's LOGGING: everything to stderr, one line each."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": "config.logs.OneLine"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"handlers": ["stderr"], "level": level, "propagate": False},
            "django.server": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            "django.db.backends": {"level": "WARNING"},
            "axes": {"level": "WARNING"},
            "celery": {"level": level},
            "kombu": {"level": "WARNING"},
            # a socket, or no broker at all, has no host to be named
            "kombu.connection": {"level": "ERROR"},
        },
    }
