"""Frozen releases and the audit log: the database itself refuses every change, whichever way it is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.checks import run_checks
from django.db import DatabaseError, connection, models, transaction

from annotation.models import (
    AuditEvent,
    AuditLink,
    Project,
    Release,
    ReleaseLabel,
    ReleaseRecord,
    ReleaseWithdrawal,
    frozen,
)
from annotation.services import audit, release
from tests import people
from tests.fixtures.shared_rows import shared_rows
from tests.people import Cast

TABLES: tuple[type[models.Model], ...] = (
    *(Release, ReleaseRecord, ReleaseLabel, ReleaseWithdrawal),
    *(AuditEvent, AuditLink),
)
ON_SQLITE = "sqlite"
ON_POSTGRESQL = "postgresql"


pytestmark = pytest.mark.usefixtures("withdrawn")


@shared_rows
def withdrawn(cast: Cast) -> Release:
    """A release of two trajectories, withdrawn, and a chained audit log: rows in all tables."""
    people.import_records(cast.project, 2)
    people.make_unanimous(cast, 2)
    made = release.freeze(actor=cast.admin, project=cast.project, version="1.0", note="First.")
    release.withdraw(actor=cast.admin, release=made, reason="Faulty.")
    audit.chain()
    return made


@pytest.fixture
def rows() -> Iterator[None]:
    """The rows of all tables are the same afterwards."""
    before = [list(table._default_manager.order_by("pk").values()) for table in TABLES]
    yield
    assert [list(table._default_manager.order_by("pk").values()) for table in TABLES] == before


def refuses(deed: Callable[[], Any]) -> None:
    with pytest.raises(DatabaseError, match=r"frozen release|audit log"), transaction.atomic():
        deed()


def execute(statement: str, *parameters: Any) -> Callable[[], Any]:
    def deed() -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)

    return deed


@pytest.mark.parametrize("table", TABLES)
def test_orm_can_change_nothing(rows: None, table: type[models.Model]) -> None:
    row = table._default_manager.all()[0]

    refuses(row.save)
    refuses(lambda: table._default_manager.filter(pk=row.pk).update(**_same(row)))
    refuses(lambda: table._default_manager.bulk_update([row], list(_same(row))))
    refuses(lambda: table._default_manager.filter(pk=row.pk)._raw_delete(connection.alias))


def _same(row: models.Model) -> dict[str, Any]:
    field = next(field for field in row._meta.concrete_fields if not field.primary_key)
    return {field.attname: getattr(row, field.attname)}


def test_orm_can_add_nothing(rows: None, withdrawn: Release) -> None:
    record = ReleaseRecord.objects.all()[0]
    more = ReleaseRecord(
        release=withdrawn, ordinal=9, subset="tiny", record_id="new", sha256="0" * 64, body=b""
    )

    refuses(lambda: ReleaseRecord.objects.bulk_create([more]))
    refuses(
        lambda: ReleaseLabel.objects.create(
            release=withdrawn, record=record, message_index=99, value=1, kind="unanimous"
        )
    )


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("where", ["", " WHERE 1 = 1"])
def test_sql_can_change_and_delete_nothing(rows: None, table: type[models.Model], where: str) -> None:
    name = table._meta.db_table
    column = next(str(field.column) for field in table._meta.concrete_fields if not field.primary_key)

    refuses(execute(f"UPDATE {name} SET {column} = {column}{where}"))
    refuses(execute(f"DELETE FROM {name}{where}"))


@pytest.mark.parametrize("table", (ReleaseRecord, ReleaseLabel))
def test_sql_can_add_nothing(rows: None, table: type[models.Model]) -> None:
    columns = ", ".join(str(field.column) for field in table._meta.concrete_fields if not field.primary_key)

    refuses(
        execute(
            f"INSERT INTO {table._meta.db_table} ({columns}) SELECT {columns} FROM {table._meta.db_table}"
        )
    )


@pytest.mark.parametrize("table", TABLES)
def test_upsert_can_change_nothing(rows: None, table: type[models.Model]) -> None:
    name = table._meta.db_table
    key = table._meta.pk.column
    column = next(str(field.column) for field in table._meta.concrete_fields if not field.primary_key)
    columns = ", ".join(str(field.column) for field in table._meta.concrete_fields)

    refuses(
        execute(
            f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {name} WHERE 1 = 1 "
            f"ON CONFLICT ({key}) DO UPDATE SET {column} = excluded.{column}"
        )
    )


@pytest.mark.parametrize("table", TABLES)
def test_sql_of_each_databases_own_can_change_nothing(rows: None, table: type[models.Model]) -> None:
    name = table._meta.db_table
    column = next(str(field.column) for field in table._meta.concrete_fields if not field.primary_key)
    columns = ", ".join(str(field.column) for field in table._meta.concrete_fields)
    ways = {
        ON_SQLITE: [
            f"INSERT OR REPLACE INTO {name} ({columns}) SELECT {columns} FROM {name}",
            f"REPLACE INTO {name} ({columns}) SELECT {columns} FROM {name}",
            f"UPDATE OR REPLACE {name} SET {column} = {column}",
            f"UPDATE OR IGNORE {name} SET {column} = {column}",
        ],
        ON_POSTGRESQL: [
            f"TRUNCATE {name} CASCADE",
            f"TRUNCATE {', '.join(one._meta.db_table for one in TABLES)} CASCADE",
        ],
    }[connection.vendor]

    nothing_deferred()
    for way in ways:
        refuses(execute(way))


def test_project_with_a_release_cannot_be_deleted(rows: None, cast: Cast) -> None:
    with pytest.raises((models.ProtectedError, DatabaseError)), transaction.atomic():
        cast.project.delete()


# ── The guard of the guard ────────────────
def nothing_deferred() -> None:
    """PostgreSQL neither truncates nor alters a table that deferred checks of this transaction wait for."""
    connection.check_constraints()


def problems() -> list[str]:
    return [
        error.msg
        for error in run_checks(tags=["database"], databases=["default"])
        if error.id == "annotation.E001"
    ]


def test_system_check_is_content_with_a_migrated_database() -> None:
    assert problems() == []
    assert frozen.problems(connection) == []


def test_system_check_notices_lifted_triggers_by_name() -> None:
    frozen.lift(connection)

    (message,) = problems()

    for trigger in frozen.triggers(connection.vendor):
        assert f"{trigger.name} (missing)" in message
    frozen.install(connection)
    assert problems() == []


@pytest.mark.parametrize("table", (*frozen.RELEASES, *frozen.LOG))
def test_system_check_notices_a_single_missing_trigger(table: str) -> None:
    on = f" ON {table}" if connection.vendor == ON_POSTGRESQL else ""
    execute(f"DROP TRIGGER {table}_no_delete{on}")()

    assert frozen.problems(connection) == [f"{table}_no_delete (missing)"]


NO_UPDATE = f"{frozen.RELEASE}_no_update"
NO_INSERT = f"{frozen.RECORD}_no_insert"
# How a trigger can be there in name only: the statements, and what must be said of it.
TOOTHLESS = {
    ON_SQLITE: [
        (
            [
                f"DROP TRIGGER {NO_UPDATE}",
                f"CREATE TRIGGER {NO_UPDATE} BEFORE UPDATE ON {frozen.RELEASE} BEGIN SELECT 1; END",
            ],
            f"{NO_UPDATE} (changed)",
        ),
        (
            [
                f"DROP TRIGGER {NO_UPDATE}",
                f"CREATE TRIGGER {NO_UPDATE} BEFORE UPDATE ON {frozen.RELEASE} FOR EACH ROW WHEN 0 "
                f"BEGIN SELECT RAISE(ABORT, '{frozen.CHANGED}'); END",
            ],
            f"{NO_UPDATE} (changed)",
        ),
        (
            [
                f"DROP TRIGGER {NO_UPDATE}",
                f"CREATE TRIGGER {NO_UPDATE} BEFORE UPDATE ON annotation_project FOR EACH ROW "
                f"BEGIN SELECT RAISE(ABORT, '{frozen.CHANGED}'); END",
            ],
            f"{NO_UPDATE} (changed)",
        ),
        (
            [f"CREATE TRIGGER another BEFORE UPDATE ON {frozen.RELEASE} BEGIN SELECT RAISE(IGNORE); END"],
            "another (not ours)",
        ),
        (["PRAGMA recursive_triggers=OFF"], "PRAGMA recursive_triggers (off)"),
    ],
    ON_POSTGRESQL: [
        ([f"ALTER TABLE {frozen.RELEASE} DISABLE TRIGGER {NO_UPDATE}"], f"{NO_UPDATE} (switched off)"),
        ([f"ALTER TABLE {frozen.RELEASE} ENABLE REPLICA TRIGGER {NO_UPDATE}"], f"{NO_UPDATE} (switched off)"),
        ([f"ALTER TABLE {frozen.RELEASE} ENABLE TRIGGER {NO_UPDATE}"], f"{NO_UPDATE} (changed)"),
        (
            [
                f"CREATE OR REPLACE FUNCTION {NO_INSERT}() RETURNS trigger LANGUAGE plpgsql "
                "SET search_path = pg_catalog, public, pg_temp AS 'BEGIN RETURN NEW; END'"
            ],
            f"{NO_INSERT} (changed)",
        ),
        ([f"ALTER FUNCTION {NO_INSERT}() RESET search_path"], f"{NO_INSERT} (changed)"),
        (
            [
                f"CREATE OR REPLACE TRIGGER {NO_UPDATE} BEFORE UPDATE ON {frozen.RELEASE} FOR EACH ROW "
                f"WHEN (false) EXECUTE FUNCTION {frozen.FUNCTION_CHANGED}()",
                f"ALTER TABLE {frozen.RELEASE} ENABLE ALWAYS TRIGGER {NO_UPDATE}",
            ],
            f"{NO_UPDATE} (changed)",
        ),
        (
            [
                f"CREATE OR REPLACE TRIGGER {NO_UPDATE} BEFORE UPDATE OF digest ON {frozen.RELEASE} "
                f"FOR EACH ROW EXECUTE FUNCTION {frozen.FUNCTION_CHANGED}()",
                f"ALTER TABLE {frozen.RELEASE} ENABLE ALWAYS TRIGGER {NO_UPDATE}",
            ],
            f"{NO_UPDATE} (changed)",
        ),
        (
            [
                f"CREATE OR REPLACE TRIGGER {NO_UPDATE} AFTER UPDATE ON {frozen.RELEASE} FOR EACH STATEMENT "
                f"EXECUTE FUNCTION {frozen.FUNCTION_CHANGED}()",
                f"ALTER TABLE {frozen.RELEASE} ENABLE ALWAYS TRIGGER {NO_UPDATE}",
            ],
            f"{NO_UPDATE} (changed)",
        ),
        (
            [
                f"CREATE TRIGGER another BEFORE UPDATE ON {frozen.RELEASE} FOR EACH ROW "
                f"EXECUTE FUNCTION {frozen.FUNCTION_CHANGED}()"
            ],
            "another (not ours)",
        ),
        ([f"CREATE RULE another AS ON UPDATE TO {frozen.RELEASE} DO INSTEAD NOTHING"], "another (not ours)"),
        ([f"CREATE TABLE another () INHERITS ({frozen.RECORD})"], "another (not ours)"),
    ],
}


def test_system_check_notices_triggers_that_are_there_in_name_only() -> None:
    nothing_deferred()
    for statements, said in TOOTHLESS[connection.vendor]:
        with transaction.atomic():
            for statement in statements:
                execute(statement)()
            assert frozen.problems(connection) == [said]
            (message,) = problems()
            assert said in message
            transaction.set_rollback(True)
        execute("PRAGMA recursive_triggers=ON" if connection.vendor == ON_SQLITE else "SELECT 1")()
    assert problems() == []


def test_triggers_installed_again_are_what_they_were() -> None:
    nothing_deferred()
    for statements, said in TOOTHLESS[connection.vendor]:
        if "changed" in said:
            for statement in statements:
                execute(statement)()

    frozen.install(connection)
    frozen.install(connection)

    assert frozen.problems(connection) == []


def test_kind_of_a_project_cannot_be_changed(cast: Cast) -> None:
    projects = Project.objects.filter(pk=cast.project.pk)
    for deed in (
        lambda: projects.update(kind="decisions"),
        execute("UPDATE annotation_project SET kind = 'decisions', name = 'Other'"),
    ):
        with pytest.raises(DatabaseError, match="fixed when it is created"), transaction.atomic():
            deed()
    assert projects.update(kind="steps", name="Other") == 1
