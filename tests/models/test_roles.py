"""The two roles on PostgreSQL (docker/postgres/roles.sql): the application works with rows, and cannot get at
what protects a release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from os import getpid

import psycopg2
import pytest
from django.core.management import call_command
from django.db import connection

from annotation.models import Release, frozen
from annotation.policies import OPERATOR
from annotation.services import audit, release
from tests import people
from tests.servers import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

OWNER, APP = f"tristep_owner_{getpid()}", f"tristep_app_{getpid()}"
SQL = (ROOT / "docker" / "postgres" / "roles.sql").read_text()
# What the application must not be able to do, though a release's triggers allow it or could be lifted by it.
FORBIDDEN = (
    f"TRUNCATE {frozen.WITHDRAWAL}",
    f"ALTER TABLE {frozen.RELEASE} DISABLE TRIGGER ALL",
    f"ALTER TABLE {frozen.RELEASE} ENABLE REPLICA TRIGGER {frozen.RELEASE}_no_update",
    f"DROP TRIGGER {frozen.RELEASE}_no_update ON {frozen.RELEASE}",
    f"CREATE TRIGGER another BEFORE UPDATE ON {frozen.RELEASE} EXECUTE FUNCTION {frozen.FUNCTION_CHANGED}()",
    f"CREATE OR REPLACE FUNCTION {frozen.FUNCTION_CHANGED}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    f"CREATE RULE another AS ON UPDATE TO {frozen.RELEASE} DO INSTEAD NOTHING",
    f"CREATE TABLE another () INHERITS ({frozen.RECORD})",
    f"CREATE TEMPORARY TABLE {frozen.RELEASE} (id uuid)",
    "CREATE SCHEMA another",
    f"DROP TABLE {frozen.WITHDRAWAL}",
    f"ALTER TABLE {frozen.RELEASE} OWNER TO {APP}",
    f"SET ROLE {OWNER}",
    "SET session_replication_role = replica",
    f"UPDATE {frozen.EVENT} SET verb = ''",
    f"DELETE FROM {frozen.EVENT}",
    f"UPDATE {frozen.LINK} SET sha256 = ''",
    f"DELETE FROM {frozen.LINK}",
    f"ALTER TABLE {frozen.EVENT} DISABLE TRIGGER ALL",
)


@pytest.fixture
def copied() -> Iterator[dict[str, str]]:
    """A copy of the test database with a release in it and the roles on it: how to connect as a superuser."""
    cast = people.make_cast()
    people.import_records(cast.project, 2)
    people.make_unanimous(cast, 1)
    release.freeze(actor=OPERATOR, project=cast.project, version="1.0")
    settings = connection.settings_dict
    name = f"{settings['NAME']}_roles"
    where = {"user": settings["USER"], "host": settings["HOST"], "dbname": name}
    connection.close()
    with closing(psycopg2.connect(**{**where, "dbname": "postgres"})) as server:
        server.autocommit = True
        with server.cursor() as cursor:
            cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{settings["NAME"]}"')
        try:
            with closing(psycopg2.connect(**where)) as raw, raw, raw.cursor() as cursor:
                cursor.execute(
                    "SELECT set_config('tristep.owner_password', 'an owner''s', false), "
                    "set_config('tristep.app_password', 'secret', false)"
                )
                sql = SQL.replace("tristep_owner", OWNER).replace("tristep_app", APP)
                cursor.execute(sql)
                cursor.execute(sql)
            yield where
        finally:
            with server.cursor() as cursor:
                cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
                cursor.execute(f"DROP ROLE IF EXISTS {OWNER}, {APP}")


@pytest.fixture
def as_application(copied: dict[str, str]) -> Iterator[dict[str, str]]:
    """Django connects to the copy as the application."""
    settings = connection.settings_dict
    before = dict(settings)
    settings.update(NAME=copied["dbname"], USER=APP, PASSWORD="secret")
    yield {**copied, "user": APP, "password": "secret"}
    connection.close()
    settings.update(before)


def test_application_role_works_and_cannot_get_at_the_protection(request: pytest.FixtureRequest) -> None:
    if connection.vendor != "postgresql":
        return
    where = request.getfixturevalue("as_application")

    with closing(psycopg2.connect(**where)) as raw:
        raw.autocommit = True
        with raw.cursor() as cursor:
            for deed in FORBIDDEN:
                with pytest.raises(psycopg2.errors.InsufficientPrivilege):
                    cursor.execute(deed)
                    pytest.fail(deed)
            with pytest.raises(psycopg2.errors.RestrictViolation):
                cursor.execute(f"UPDATE {frozen.RELEASE} SET note = ''")

    call_command("migrate", verbosity=0, skip_checks=False)
    assert frozen.problems(connection) == []
    made = Release.objects.select_related("project").get()
    assert release.verify(actor=OPERATOR, release=made).ok
    people.import_records(made.project, [people.make_record(7)], subset="more")
    release.freeze(actor=OPERATOR, project=made.project, version="2.0")
    release.withdraw(actor=OPERATOR, release=made, reason="Faulty.")
    assert audit.chain() and audit.verify().misfit is None


def test_owner_role_migrates_and_the_application_may_use_what_it_makes(
    request: pytest.FixtureRequest,
) -> None:
    if connection.vendor != "postgresql":
        return
    where = request.getfixturevalue("copied")

    with closing(psycopg2.connect(**{**where, "user": OWNER, "password": "an owner's"})) as raw, raw:
        raw.cursor().execute(
            "CREATE TABLE made (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY);"
            f"ALTER TABLE {frozen.RELEASE} ADD COLUMN made integer;"
            f"CREATE OR REPLACE TRIGGER {frozen.RELEASE}_no_update BEFORE UPDATE ON {frozen.RELEASE} "
            f"FOR EACH ROW EXECUTE FUNCTION {frozen.FUNCTION_CHANGED}()"
        )
    with closing(psycopg2.connect(**{**where, "user": APP, "password": "secret"})) as raw, raw:
        raw.cursor().execute("INSERT INTO made DEFAULT VALUES; DELETE FROM made; ANALYZE made")
