"""Refusals of commands: one sentence, and no traceback."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import (
    CommandError,
    ManagementUtility,
    call_command,
    get_commands,
    load_command_class,
)
from django.db import OperationalError, connection

from annotation.management.base import OperatorCommand
from annotation.models import User
from tests.databases import elsewhere
from tests.people import make_cast
from tests.servers import free_port

pytestmark = pytest.mark.django_db


@pytest.mark.once
@pytest.mark.parametrize("name", ["", "bad name/", "a" * 200])
def test_ensure_admin_refuses_a_name_that_nobody_can_have(name: str) -> None:
    with pytest.raises(CommandError, match="username"):
        call_command("ensure_admin", username=name)
    assert not User.objects.exists()


@pytest.mark.once
def test_backup_refuses_a_place_where_no_file_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match=r"file: File exists|file: Not a directory"):
        call_command("backup", str(tmp_path / "file" / "b.tar.gz"))
    with pytest.raises(CommandError, match="is a folder"):
        call_command("backup", str(tmp_path))


@pytest.mark.once
@pytest.mark.parametrize("command", ["ensure_admin", "demo"])
def test_accounts_are_not_made_where_a_restore_was_killed(
    command: str, tmp_path: Path, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path
    make_cast()
    User.objects.all().delete()
    (tmp_path / "restoring").write_text("an archive")
    with pytest.raises(CommandError, match="restore was interrupted"):
        call_command(command)
    assert not User.objects.exists()


@pytest.mark.once
@pytest.mark.parametrize(
    ("command", "database", "said"),
    [
        (["backup", "b.tar.gz"], f"postgres://nobody@127.0.0.1:{free_port()}/none", "does not answer"),
        (["ensure_admin"], "sqlite:///db.sqlite3", "not set up yet"),
    ],
    ids=["away", "empty"],
)
def test_commands_say_that_the_database_is_away_or_empty(
    command: list[str],
    database: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    # else all logs of the tests to come would go where this test's standard error went
    monkeypatch.setattr("django.utils.log.configure_logging", lambda *_: None)
    with elsewhere(database.replace("///", f"///{tmp_path}/")), pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", *command]).execute()
    told = capsys.readouterr().err
    assert ended.value.code == 1 and said in told
    assert len(told.splitlines()) == 1


@pytest.mark.once
def test_commands_are_all_of_the_kind_that_refuses_in_a_sentence() -> None:
    # migrate is Django's, which takes its turn
    names = [
        name for name, app in get_commands().items() if app in ("annotation", "config") if name != "migrate"
    ]
    assert {"backup", "ensure_admin", "protect_releases"} <= set(names)
    for name in names:
        assert isinstance(load_command_class(get_commands()[name], name), OperatorCommand), name


@pytest.mark.django_db(transaction=True)
def test_commands_say_that_the_database_has_gone_away() -> None:
    class Interrupted(OperatorCommand):
        def run(self, **options: Any) -> None:
            connection.close()
            if connection.vendor == "sqlite":
                raise OperationalError("disk I/O error")
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with pytest.raises(CommandError, match="does not answer"):
        Interrupted().handle()
