"""Releases and the audit log are kept from every connection: a plain driver without this server's settings,
too."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import psycopg2
import pytest
from django.db import connection

from annotation.core.jsonio.canonical import canonical_json
from annotation.core.releases.record_format import with_checksum
from annotation.core.vocabulary import SignatureState
from annotation.models import (
    AuditEvent,
    AuditLink,
    Release,
    ReleaseLabel,
    ReleaseRecord,
    ReleaseWithdrawal,
    frozen,
)
from annotation.policies import OPERATOR
from annotation.services import audit, release
from tests import people

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = (Release, ReleaseRecord, ReleaseLabel, ReleaseWithdrawal, AuditEvent, AuditLink)
NEW_RELEASE = "00000000000000000000000000000001"


@pytest.fixture
def withdrawn() -> Release:
    """A release of two trajectories, withdrawn, and a chained audit log: rows in all tables, committed."""
    cast = people.make_cast()
    people.import_records(cast.project, 2)
    people.make_unanimous(cast, 2)
    made = release.freeze(actor=OPERATOR, project=cast.project, version="1.0", note="First.")
    release.withdraw(actor=OPERATOR, release=made, reason="Faulty.")
    audit.chain()
    return made


@pytest.fixture
def outside() -> Iterator[Any]:
    """A connection of the driver's own, with the driver's own settings, that commits each statement."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(settings["NAME"], isolation_level=None)) as raw:
            yield raw
        return
    where = {"dbname": settings["NAME"], "user": settings["USER"], "host": settings["HOST"]}
    with closing(psycopg2.connect(**where)) as raw:
        raw.autocommit = True
        yield raw


def rows() -> list[Any]:
    return [list(model._default_manager.order_by("pk").values()) for model in MODELS]


def columns(model: Any, **values: str) -> str:
    """A row of `model` as SELECT list, with some columns replaced by expressions."""
    return ", ".join(values.get(field.column, field.column) for field in model._meta.concrete_fields)


def replacing(model: Any, **values: str) -> str:
    table = model._meta.db_table
    return f"INSERT OR REPLACE INTO {table} ({columns(model)}) SELECT {columns(model, **values)} FROM {table}"


def sqlite_ways() -> list[str]:
    """Statements by which conflict handling could take something away or put something in its place."""
    release_row = columns(Release, id=f"'{NEW_RELEASE}'", number="7", version="'7'")
    return [
        # the same keys, other content: note, κ, guideline version
        replacing(Release, note="'Second.'", manifest="replace(manifest, 'kappa', 'kapPa')"),
        replacing(ReleaseRecord, body="x'00'"),
        replacing(ReleaseLabel, value="-1"),
        replacing(ReleaseWithdrawal, reason="'None.'"),
        replacing(AuditEvent, verb="'none'"),
        replacing(AuditLink, sha256="''"),
        # another key, and a unique constraint that is in the way
        replacing(Release, id=f"'{NEW_RELEASE}'", note="'Second.'"),
        replacing(Release, id=f"'{NEW_RELEASE}'", number="2", note="'Second.'"),
        replacing(Release, id=f"'{NEW_RELEASE}'", version="'2'", note="'Second.'"),
        replacing(ReleaseWithdrawal, id="id + 10", reason="'None.'"),
        replacing(AuditLink, event_id="event_id + 1000", sha256="''"),
        # the hidden row number
        f"INSERT OR REPLACE INTO {frozen.RELEASE} (rowid, {columns(Release)}) "
        f"SELECT rowid, {release_row} FROM {frozen.RELEASE}",
        # records and labels moved to a release that does not exist yet
        replacing(ReleaseRecord, release_id=f"'{NEW_RELEASE}'"),
        replacing(ReleaseLabel, release_id=f"'{NEW_RELEASE}'"),
        replacing(ReleaseLabel, id="id + 100", release_id=f"'{NEW_RELEASE}'", value="-1"),
        # plain changes
        f"UPDATE OR REPLACE {frozen.RELEASE} SET note = 'Second.'",
        f"DELETE FROM {frozen.WITHDRAWAL}",
        f"UPDATE OR REPLACE {frozen.LINK} SET position = position + 1",
        f"DELETE FROM {frozen.EVENT}",
    ]


def postgresql_ways() -> list[str]:
    record = columns(ReleaseRecord, id="id + 100", ordinal="ordinal + 10", record_id="'new'")
    more = (
        f"INSERT INTO public.{frozen.RECORD} ({columns(ReleaseRecord)}) "
        f"OVERRIDING SYSTEM VALUE SELECT {record} FROM public.{frozen.RECORD} LIMIT 1"
    )
    upserts = [
        f"INSERT INTO {table} ({columns(model)}) OVERRIDING SYSTEM VALUE "
        f"SELECT {columns(model)} FROM {table} "
        f"ON CONFLICT ({model._meta.pk.column}) DO UPDATE SET {column} = excluded.{column}"
        for model, column in zip(MODELS, ("note", "body", "value", "reason", "verb", "sha256"), strict=True)
        for table in [model._meta.db_table]
    ]
    return [
        *upserts,
        more,
        # a table of the same name that is found first
        f"CREATE TEMPORARY TABLE {frozen.RELEASE} (id uuid); {more}",
        # what replication and pg_restore do to triggers
        f"SET session_replication_role = replica; UPDATE {frozen.RECORD} SET body = ''",
        f"SET session_replication_role = replica; DELETE FROM {frozen.WITHDRAWAL}",
        f"SET session_replication_role = replica; TRUNCATE {frozen.WITHDRAWAL}",
        f"SET session_replication_role = replica; UPDATE {frozen.EVENT} SET verb = ''",
        f"SET session_replication_role = replica; DELETE FROM {frozen.LINK}",
        f"TRUNCATE {frozen.EVENT} CASCADE",
    ]


def test_release_resealed_from_outside_is_found_by_its_signature(withdrawn: Release, outside: Any) -> None:
    """Whoever may drop triggers changes the note, κ and the guideline version, and writes the manifest's own
    checksum anew."""
    manifest = json.loads(withdrawn.manifest) | {"note": "Second.", "guideline_version": 7}
    manifest["agreement"]["project"]["overall"]["kappa"] = {"value": 1.0}
    text = canonical_json(with_checksum(manifest)).decode().replace("'", "''")
    on = "" if connection.vendor == "sqlite" else f" ON {frozen.RELEASE}"

    with closing(outside.cursor()) as cursor:
        cursor.execute(f"DROP TRIGGER {frozen.RELEASE}_no_update{on}")
        assert frozen.problems(connection) == [f"{frozen.RELEASE}_no_update (missing)"]
        cursor.execute(f"UPDATE {frozen.RELEASE} SET note = 'Second.', manifest = '{text}'")
    frozen.install(connection)

    found = release.verify(actor=OPERATOR, release=Release.objects.get())
    assert found.signature is SignatureState.INVALID
    # the release's own, and its withdrawal's, which names the manifest
    assert len(found.problems) == 2


def test_change_is_refused_to_every_connection(withdrawn: Release, outside: Any) -> None:
    before = rows()
    sqlite = connection.vendor == "sqlite"

    for way in sqlite_ways() if sqlite else postgresql_ways():
        refusal = sqlite3.IntegrityError if sqlite else psycopg2.errors.RestrictViolation
        with closing(outside.cursor()) as cursor:
            with pytest.raises(refusal, match=r"frozen release|audit log"):
                cursor.execute(way)
                pytest.fail(way)
            with suppress(sqlite3.OperationalError):
                cursor.execute("ROLLBACK")
        assert rows() == before, way
    assert frozen.problems(connection) == []
