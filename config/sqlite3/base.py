"""The backend: a connection takes its turn before it begins to write, and ends it with the transaction."""

from __future__ import annotations

from functools import lru_cache
from sqlite3 import ProgrammingError
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base

from .queue import QueueTimeout, WriteTurn, queue_before

WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "ANALYZE", "REINDEX"})
BUSY = "database is locked: too many are writing"
# Longer statements are of blocks of rows, hardly ever twice the same, and would fill the memory.
LONGEST_KEPT = 16_384


@lru_cache(maxsize=512)
def with_question_marks(query: str) -> str:
    """A statement with `?` in the place of each `%s`, as Django writes it for the driver: looking for them
    takes longer than the driver takes to find the statement that it has prepared before."""
    cursor: Any = None  # of which it asks nothing
    converted: str = base.SQLiteCursorWrapper.convert_query(cursor, query)
    return converted


class QueuedCursor(base.SQLiteCursorWrapper):
    """A cursor whose single statements, outside of a transaction, take their turn too."""

    wrapper: DatabaseWrapper

    def execute(self, query: str, params: Any = None) -> Any:
        """Execute a statement; a write by itself queues first."""
        if not self._queues(query):
            return super().execute(query, params)
        with self.wrapper.turn():
            return super().execute(query, params)

    def executemany(self, query: str, param_list: Any) -> Any:
        """The same for many rows."""
        if not self._queues(query):
            return super().executemany(query, param_list)
        with self.wrapper.turn():
            return super().executemany(query, param_list)

    def convert_query(self, query: str, *, param_names: Any = None) -> str:
        """The statement as the driver takes it; that of a query asked before is kept."""
        if param_names is None and len(query) <= LONGEST_KEPT:
            return with_question_marks(query)
        converted: str = super().convert_query(query, param_names=param_names)
        return converted

    def _queues(self, query: str) -> bool:
        return not self.connection.in_transaction and query.split(None, 1)[0].upper() in WRITES


class _OneStatement:
    """The turn of one statement."""

    def __init__(self, turn: WriteTurn | None) -> None:
        self._turn = turn

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self._turn is not None:
            self._turn.end()


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection to SQLite that waits in the queue for as long as its `timeout` says."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: WriteTurn | None = None

    def create_cursor(self, name: str | None = None) -> QueuedCursor:
        cursor: QueuedCursor = self.connection.cursor(factory=QueuedCursor)
        cursor.wrapper = self
        return cursor

    def turn(self) -> _OneStatement:
        """A turn for one statement; none where the database is in memory, or the turn is had already.

        Raises OperationalError when it does not come in time.
        """
        return _OneStatement(self._take() if self._turn is None else None)

    def _take(self) -> WriteTurn | None:
        if self.is_in_memory_db():
            return None
        seconds = float(self.settings_dict["OPTIONS"].get("timeout", 5.0))
        try:
            return WriteTurn(queue_before(str(self.settings_dict["NAME"])), seconds)
        except QueueTimeout:
            raise OperationalError(BUSY) from None

    def _start_transaction_under_autocommit(self) -> None:
        if self._turn is None:
            self._turn = self._take()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        """Once no transaction is open any more (a commit that failed leaves it open)."""
        if self._turn is not None and not (self.connection is not None and self._is_open()):
            self._turn.end()
            self._turn = None

    def _is_open(self) -> bool:
        try:
            return bool(self.connection.in_transaction)
        except ProgrammingError:  # closed
            return False
