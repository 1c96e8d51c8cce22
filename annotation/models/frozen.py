"""The triggers that keep releases frozen (docs/design.md, "Releases"), the audit log as it was written, and
the kind of a project as it began, as constraints that Django's Meta cannot express.

They are installed by a migration; a migration that remakes one of these tables (SQLite drops a remade table's
triggers), or that changes what stands here, ends with `install`. Only the tests' helper lifts them.
`problems` compares what the database has with what stands here, definition by definition; the system check
and /healthz report it.

On SQLite, INSERT OR REPLACE deletes the row that is in its way without asking a delete trigger, unless the
connection has `recursive_triggers` on, which only ours have. So insert triggers refuse a row whose place is
taken: they fire before anything is replaced, whoever connects.

On PostgreSQL the triggers are ENABLE ALWAYS, so that `session_replication_role` does not pass them by, and
their functions look up names in the release's own schema, so that a temporary table of the same name deceives
nobody. No role but the owner of the audit log's tables may change or delete there in the first place.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

RELEASE = "annotation_release"
RECORD = "annotation_releaserecord"
LABEL = "annotation_releaselabel"
WITHDRAWAL = "annotation_releasewithdrawal"
RELEASES = (RELEASE, RECORD, LABEL, WITHDRAWAL)
EVENT = "annotation_auditevent"
LINK = "annotation_auditlink"
LOG = (EVENT, LINK)
PROJECT = "annotation_project"
TABLES = (*RELEASES, *LOG, PROJECT)

CHANGED = "a frozen release cannot be changed or deleted"
ADDED = "nothing can be added to a frozen release"
LOG_CHANGED = "the audit log cannot be changed or deleted"
LOG_REPLACED = "no row of the audit log can take the place of another"
KIND_CHANGED = "the kind of a project is fixed when it is created"
FUNCTION_CHANGED = "tristep_refuse_change"
FUNCTION_LOG_CHANGED = "tristep_refuse_change_of_log"
FUNCTION_KIND_CHANGED = "tristep_refuse_change_of_kind"

_FROZEN = f"EXISTS (SELECT 1 FROM {RELEASE} WHERE id = NEW.release_id)"
_TAKEN = "EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id)"
# What a new row must not meet, by table. A label is also refused through its record's release: REPLACE takes
# away the label of the same record and message, whatever release the new one names.
REFUSED = {
    RELEASE: (
        f"{_TAKEN.format(table=RELEASE)} OR EXISTS (SELECT 1 FROM {RELEASE} WHERE "
        "project_id = NEW.project_id AND (number = NEW.number OR version = NEW.version))"
    ),
    RECORD: f"{_FROZEN} OR {_TAKEN.format(table=RECORD)}",
    LABEL: (
        f"{_FROZEN} OR {_TAKEN.format(table=LABEL)} OR EXISTS (SELECT 1 FROM {RECORD} AS record "
        f"JOIN {RELEASE} AS release ON release.id = record.release_id WHERE record.id = NEW.record_id)"
    ),
    WITHDRAWAL: (
        f"{_TAKEN.format(table=WITHDRAWAL)} OR "
        f"EXISTS (SELECT 1 FROM {WITHDRAWAL} WHERE release_id = NEW.release_id)"
    ),
    EVENT: _TAKEN.format(table=EVENT),
    LINK: f"EXISTS (SELECT 1 FROM {LINK} WHERE event_id = NEW.event_id OR position = NEW.position)",
}
# Records and labels whose release has no row yet are staged, and may be deleted: a kill may leave them. Only
# on SQLite releases are staged (services/release/staging.py).
KEPT = {
    RECORD: f"EXISTS (SELECT 1 FROM {RELEASE} WHERE id = OLD.release_id)",
    LABEL: (
        f"EXISTS (SELECT 1 FROM {RELEASE} WHERE id = OLD.release_id) OR EXISTS (SELECT 1 FROM {RECORD} AS "
        f"record JOIN {RELEASE} AS release ON release.id = record.release_id WHERE record.id = OLD.record_id)"
    ),
}
# Of projects only the kind is kept: everything else may change, and a whole one may be deleted.
_KIND_DIFFERS = "NEW.kind <> OLD.kind"
# On SQLite a row can also be replaced by its hidden row number; elsewhere that is the primary key.
_ROW_NUMBER = f" OR EXISTS (SELECT 1 FROM {RELEASE} WHERE rowid = NEW.rowid)"

# pg_trigger.tgtype of BEFORE triggers: for each row 1, before 2, insert 4, delete 8, update 16, truncate 32
_TYPES = {"INSERT": 7, "DELETE": 11, "UPDATE": 19, "TRUNCATE": 34}


class Trigger(NamedTuple):
    """One trigger of ours; all fire before their event, and raise."""

    name: str
    table: str
    event: str


def triggers(vendor: str, tables: Sequence[str] = TABLES) -> list[Trigger]:
    """The triggers that must be there on a database of this vendor."""
    every = ("UPDATE", "DELETE", "INSERT", *(("TRUNCATE",) if vendor == "postgresql" else ()))
    return [
        Trigger(f"{table}_no_{event.lower()}", table, event)
        for table in tables
        for event in (("UPDATE",) if table == PROJECT else every)
    ]


def install(connection: BaseDatabaseWrapper, tables: Sequence[str] = TABLES) -> None:
    """Make the triggers what stands here, whatever was there under their names; safe to repeat.

    A migration that comes before some of the tables names those that are there.
    """
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # no table is altered while rows of this transaction wait for their deferred checks
            connection.check_constraints()
            statements = _postgresql(_schema(cursor), tables)
        else:
            statements = _sqlite(tables)
        for statement in statements:
            cursor.execute(statement)


def lift(connection: BaseDatabaseWrapper, tables: Sequence[str] = TABLES) -> None:
    """Drop the triggers. For the tests' clean-up and for reverse migrations only."""
    with connection.cursor() as cursor:
        for trigger in triggers(connection.vendor, tables):
            on_table = f" ON {trigger.table}" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TRIGGER IF EXISTS {trigger.name}{on_table}")


def problems(connection: BaseDatabaseWrapper) -> list[str]:
    """Faults of the protection here, as "name (what is wrong)"; empty when all is well.

    One query on PostgreSQL, two on SQLite.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            return _problems_on_postgresql(cursor)
        return _problems_on_sqlite(cursor)


def _added(table: str) -> str:
    return LOG_REPLACED if table in LOG else ADDED


# ── SQLite ────────────────────────────────
def _definition(trigger: Trigger) -> str:
    """CREATE TRIGGER as SQLite keeps it, character by character."""
    if trigger.event == "INSERT":
        when = f"WHEN {REFUSED[trigger.table]}{_ROW_NUMBER if trigger.table == RELEASE else ''} "
        message = _added(trigger.table)
    elif trigger.table == PROJECT:
        when, message = f"WHEN {_KIND_DIFFERS} ", KIND_CHANGED
    else:
        kept = KEPT.get(trigger.table, "") if trigger.event == "DELETE" else ""
        when = f"WHEN {kept} " if kept else ""
        message = LOG_CHANGED if trigger.table in LOG else CHANGED
    return (
        f"CREATE TRIGGER {trigger.name} BEFORE {trigger.event} ON {trigger.table} FOR EACH ROW {when}"
        f"BEGIN SELECT RAISE(ABORT, '{message}'); END"
    )


def _sqlite(tables: Sequence[str]) -> Iterator[str]:
    for trigger in triggers("sqlite", tables):
        yield f"DROP TRIGGER IF EXISTS {trigger.name}"
        yield _definition(trigger)


def _problems_on_sqlite(cursor: CursorWrapper) -> list[str]:
    cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
    stored = {name: (table, sql) for name, table, sql in cursor.fetchall()}
    wrong = []
    for trigger in triggers("sqlite"):
        there = stored.pop(trigger.name, None)
        if there is None:
            wrong.append(f"{trigger.name} (missing)")
        elif there != (trigger.table, _definition(trigger)):
            wrong.append(f"{trigger.name} (changed)")
    wrong += [f"{name} (not ours)" for name, (table, _) in stored.items() if table in TABLES]
    cursor.execute("PRAGMA recursive_triggers")
    if not cursor.fetchone()[0]:
        wrong.append("PRAGMA recursive_triggers (off)")
    return sorted(wrong)


# ── PostgreSQL ────────────────────────────
def _functions() -> dict[str, str]:
    """The trigger functions: body by name."""
    refuse = "RAISE EXCEPTION '{message}' USING ERRCODE = 'restrict_violation';"
    bodies = {
        FUNCTION_CHANGED: f" BEGIN {refuse.format(message=CHANGED)} END ",
        FUNCTION_LOG_CHANGED: f" BEGIN {refuse.format(message=LOG_CHANGED)} END ",
        FUNCTION_KIND_CHANGED: (
            f" BEGIN IF {_KIND_DIFFERS} THEN {refuse.format(message=KIND_CHANGED)} END IF; RETURN NEW; END "
        ),
    }
    for table, condition in REFUSED.items():
        refusal = refuse.format(message=_added(table))
        bodies[f"{table}_no_insert"] = f" BEGIN IF {condition} THEN {refusal} END IF; RETURN NEW; END "
    return bodies


def _function(trigger: Trigger) -> str:
    if trigger.event == "INSERT":
        return trigger.name
    if trigger.table == PROJECT:
        return FUNCTION_KIND_CHANGED
    return FUNCTION_LOG_CHANGED if trigger.table in LOG else FUNCTION_CHANGED


def _schema(cursor: CursorWrapper) -> str:
    """The schema of the releases' table, quoted."""
    cursor.execute(
        "SELECT quote_ident(nspname) FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid "
        "WHERE pg_class.oid = %s::regclass",
        [RELEASE],
    )
    return str(cursor.fetchone()[0])


def _postgresql(schema: str, tables: Sequence[str]) -> Iterator[str]:
    ours = triggers("postgresql", tables)
    bodies = _functions()
    for name in dict.fromkeys(_function(trigger) for trigger in ours):
        yield (
            f"CREATE OR REPLACE FUNCTION {schema}.{name}() RETURNS trigger LANGUAGE plpgsql "
            f"SET search_path = pg_catalog, {schema}, pg_temp AS $${bodies[name]}$$"
        )
    for trigger in ours:
        each = "STATEMENT" if trigger.event == "TRUNCATE" else "ROW"
        yield (
            f"CREATE OR REPLACE TRIGGER {trigger.name} BEFORE {trigger.event} ON {schema}.{trigger.table} "
            f"FOR EACH {each} EXECUTE FUNCTION {schema}.{_function(trigger)}()"
        )
        yield f"ALTER TABLE {schema}.{trigger.table} ENABLE ALWAYS TRIGGER {trigger.name}"
    for table in LOG:
        if table in tables:
            yield _APPEND_ONLY.format(table=f"{schema}.{table}")


# Roles that may write rows of every table (docker/postgres/roles.sql) may only add them here.
_APPEND_ONLY = """
DO $$
DECLARE
    other record;
BEGIN
    FOR other IN SELECT DISTINCT grantee FROM pg_class, aclexplode(relacl)
        WHERE oid = '{table}'::regclass AND grantee <> relowner LOOP
        EXECUTE 'REVOKE UPDATE, DELETE, TRUNCATE ON {table} FROM '
            || CASE other.grantee WHEN 0 THEN 'PUBLIC' ELSE other.grantee::regrole::text END;
    END LOOP;
END
$$
"""


# Whatever hangs on the tables: triggers with their functions, rules, and tables that inherit from them
# (whose rows are read as theirs).
_FOUND = """
WITH ours AS (
    SELECT pg_class.oid, relname, quote_ident(nspname) AS schema
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE pg_class.oid IN (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name)
)
SELECT tgname, relname, tgenabled <> 'D' AND tgenabled <> 'R', tgenabled = 'A'
        AND tgqual IS NULL AND tgattr = ''::int2vector AND tgnargs = 0 AND tgconstraint = 0
        AND lanname = 'plpgsql' AND NOT prosecdef
        AND proconfig = ARRAY['search_path=pg_catalog, ' || schema || ', pg_temp'],
    tgtype, prosrc
FROM ours JOIN pg_trigger ON tgrelid = ours.oid JOIN pg_proc ON pg_proc.oid = tgfoid
    JOIN pg_language ON pg_language.oid = prolang
WHERE NOT tgisinternal
UNION ALL
SELECT rulename, relname, true, false, 0, '' FROM ours JOIN pg_rewrite ON ev_class = ours.oid
UNION ALL
SELECT inhrelid::regclass::text, relname, true, false, 0, ''
FROM ours JOIN pg_inherits ON inhparent = ours.oid
"""


def _problems_on_postgresql(cursor: CursorWrapper) -> list[str]:
    cursor.execute(_FOUND, [list(TABLES)])
    stored = {(table, name): rest for name, table, *rest in cursor.fetchall()}
    bodies = _functions()
    wrong = []
    for trigger in triggers("postgresql"):
        there = stored.pop((trigger.table, trigger.name), None)
        if there is None:
            wrong.append(f"{trigger.name} (missing)")
            continue
        fires, plain, kind, body = there
        if not fires:
            wrong.append(f"{trigger.name} (switched off)")
        elif not plain or kind != _TYPES[trigger.event] or body != bodies[_function(trigger)]:
            wrong.append(f"{trigger.name} (changed)")
    wrong += [f"{name} (not ours)" for _, name in stored]
    return sorted(wrong)
