"""backup and restore: what comes back is what went in, or nothing."""

import tarfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.utils import DatabaseError

from annotation.management import archive
from annotation.models import ReleaseLabel, User, frozen
from annotation.policies import OPERATOR
from annotation.services import release
from tests.people import (
    import_records,
    make_adjudicated,
    make_cast,
    make_disputed,
    make_record,
    make_unanimous,
)

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "nul \x00 surrogate \ud800 <script>"


def contents() -> dict[str, list[dict[str, Any]]]:
    """Every column of every row of ours, as the database holds it."""
    return {
        model._meta.label: [
            {name: bytes(value) if isinstance(value, memoryview) else value for name, value in row.items()}
            for row in model._default_manager.order_by("pk").values()
        ]
        for model in archive.tables()
    }


@pytest.fixture
def project() -> None:
    """A project with a resolved dispute, a release and hostile text."""
    cast = make_cast()
    rows = import_records(cast.project, [make_record(0, answer_text=HOSTILE), make_record(1), make_record(2)])
    make_unanimous(cast)
    make_disputed(cast, 2)
    make_adjudicated(cast, rows[1])
    release.freeze(actor=OPERATOR, project=cast.project, version="1.0")


def empty_everything() -> None:
    frozen.lift(connection)
    call_command("flush", interactive=False, verbosity=0)
    frozen.install(connection)
    assert not User.objects.exists()


@pytest.mark.usefixtures("project")
def test_backup_brings_everything_back_and_releases_are_still_frozen(tmp_path: Path) -> None:
    before = contents()
    call_command("backup", str(tmp_path / "b.tar.gz"))
    empty_everything()
    call_command("restore", str(tmp_path / "b.tar.gz"))
    assert contents() == before
    call_command("verify_release", "bench", "1.0")
    with pytest.raises(DatabaseError), transaction.atomic():
        ReleaseLabel.objects.update(value=0)


@pytest.mark.usefixtures("project")
def test_backup_restored_gives_new_rows_new_keys(tmp_path: Path) -> None:
    call_command("backup", str(tmp_path / "b.tar.gz"))
    empty_everything()
    call_command("restore", str(tmp_path / "b.tar.gz"))
    newest = User.objects.order_by("-pk").values_list("pk", flat=True)[0]
    assert User.objects.create_user("new").pk > newest


@pytest.mark.usefixtures("project")
def test_database_with_anything_in_it_is_left_alone(tmp_path: Path) -> None:
    call_command("backup", str(tmp_path / "b.tar.gz"))
    before = contents()
    with pytest.raises(CommandError, match="not empty"):
        call_command("restore", str(tmp_path / "b.tar.gz"))
    assert contents() == before


@pytest.mark.usefixtures("project")
def test_backup_of_a_changed_table_is_noticed_before_a_row_is_restored(tmp_path: Path) -> None:
    path, folder = tmp_path / "b.tar.gz", tmp_path / "open"
    call_command("backup", str(path))
    with tarfile.open(path) as packed:
        packed.extractall(folder, filter="data")
    table = folder / "tables" / "label.jsonl"
    table.write_text(table.read_text().replace('"value": 1', '"value": 0', 1))
    with tarfile.open(path, "w:gz") as packed:
        for name in ("tables", "manifest.json"):
            packed.add(folder / name, name)
    empty_everything()
    with pytest.raises(CommandError, match=r"label\.jsonl does not match"):
        call_command("restore", str(path))
    assert not User.objects.exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00truncated"])
def test_backup_that_is_none_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "b.tar.gz"
    path.write_bytes(content)
    with pytest.raises(CommandError, match="no whole backup"):
        call_command("restore", str(path))
