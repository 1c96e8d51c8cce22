"""The backend: SQLite, of which each request opens the file of its visit, or the one that never changes."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.db.backends.sqlite3 import base

from config.public_demo import visits

PAGE_BYTES = 4096
IN_A_VISIT = (
    "PRAGMA foreign_keys=ON;PRAGMA recursive_triggers=ON;PRAGMA temp_store=MEMORY;"
    # a visit may be lost, and must not grow
    f"PRAGMA synchronous=OFF;PRAGMA max_page_count={visits.MAX_BYTES // PAGE_BYTES}"
)
OUTSIDE = "PRAGMA recursive_triggers=ON;PRAGMA query_only=ON;PRAGMA temp_store=MEMORY"


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection for one request (CONN_MAX_AGE is 0). One visitor writes there, who needs no queue."""

    def get_connection_params(self) -> dict[str, Any]:
        """The database to connect to: the visit's own file, else the common one, as a file that cannot
        change."""
        parameters: dict[str, Any] = super().get_connection_params()
        visit = visits.current()
        if visit is None:
            parameters["database"] = f"file:{quote(str(parameters['database']))}?mode=ro&immutable=1"
        else:
            # not made anew when it has just been thrown away
            parameters["database"] = f"file:{quote(str(visit.database))}?mode=rw"
        self.init_commands = (OUTSIDE if visit is None else IN_A_VISIT).split(";")
        return parameters
