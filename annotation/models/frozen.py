"""The triggers that keep releases frozen (docs/design.md, "Releases"), as constraints that Django's Meta
cannot express.

They are installed by a migration; a migration that remakes one of these tables (SQLite drops a remade table's
triggers) ends with `install` again. Only the tests' helper lifts them. `missing` is what the system check
reports.

SQLite's INSERT OR REPLACE goes round delete triggers unless `recursive_triggers` is on: the settings turn it
on for every connection, and `missing` checks that too.
"""

from collections.abc import Iterator

from django.db.backends.base.base import BaseDatabaseWrapper

RELEASE = "annotation_release"
PARTS = ("annotation_releaserecord", "annotation_releaselabel")
TABLES = (RELEASE, *PARTS, "annotation_releasewithdrawal")

CHANGED = "a frozen release cannot be changed or deleted"
ADDED = "nothing can be added to a frozen release"
FUNCTION_CHANGED = "tristep_refuse_change"
FUNCTION_ADDED = "tristep_refuse_addition"


def _names() -> Iterator[tuple[str, str, str]]:
    """(table, event, trigger name) of every trigger on both databases, TRUNCATE apart."""
    for table in TABLES:
        yield table, "UPDATE", f"{table}_no_update"
        yield table, "DELETE", f"{table}_no_delete"
    for table in PARTS:
        yield table, "INSERT", f"{table}_no_insert"


def _sqlite() -> Iterator[str]:
    for table, event, name in _names():
        when = f"WHEN EXISTS (SELECT 1 FROM {RELEASE} WHERE id = NEW.release_id)" if event == "INSERT" else ""
        message = ADDED if event == "INSERT" else CHANGED
        yield (
            f"CREATE TRIGGER IF NOT EXISTS {name} BEFORE {event} ON {table} FOR EACH ROW {when} "
            f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
        )


def _postgresql() -> Iterator[str]:
    yield (
        f"CREATE OR REPLACE FUNCTION {FUNCTION_CHANGED}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"RAISE EXCEPTION '{CHANGED}' USING ERRCODE = 'restrict_violation'; END $$"
    )
    yield (
        f"CREATE OR REPLACE FUNCTION {FUNCTION_ADDED}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        f"IF EXISTS (SELECT 1 FROM {RELEASE} WHERE id = NEW.release_id) THEN "
        f"RAISE EXCEPTION '{ADDED}' USING ERRCODE = 'restrict_violation'; END IF; RETURN NEW; END $$"
    )
    for table, event, name in _names():
        function = FUNCTION_ADDED if event == "INSERT" else FUNCTION_CHANGED
        yield (
            f"CREATE OR REPLACE TRIGGER {name} BEFORE {event} ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {function}()"
        )
    for table in TABLES:
        yield (
            f"CREATE OR REPLACE TRIGGER {table}_no_truncate BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {FUNCTION_CHANGED}()"
        )


def expected(vendor: str) -> set[str]:
    """The names of the triggers that must be there on a database of this vendor."""
    names = {name for _, _, name in _names()}
    if vendor == "postgresql":
        names |= {f"{table}_no_truncate" for table in TABLES}
    return names


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers where they are missing; safe to repeat."""
    statements = _postgresql() if connection.vendor == "postgresql" else _sqlite()
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def lift(connection: BaseDatabaseWrapper) -> None:
    """Drop the triggers. For the tests' clean-up and for reverse migrations only."""
    with connection.cursor() as cursor:
        for name in sorted(expected(connection.vendor)):
            table = name.rsplit("_no_", 1)[0]
            on_table = f" ON {table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on_table}")


def missing(connection: BaseDatabaseWrapper) -> list[str]:
    """What of the protection is not in place on this connection, as names; empty when all is well."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'")
            found = {row[0] for row in cursor.fetchall()}
            return sorted(expected("postgresql") - found)
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        found = {row[0] for row in cursor.fetchall()}
        lacking = sorted(expected("sqlite") - found)
        cursor.execute("PRAGMA recursive_triggers")
        if not cursor.fetchone()[0]:
            lacking.append("PRAGMA recursive_triggers")
        return lacking
