"""The environment is read strictly: a wrong value is named, never guessed at."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from config.env import BadEnvironment, Env, broker, database, email, secret_key
from config.settings import organisation
from tests.config.read_settings import read_settings
from tests.servers import ROOT, server_environment

BASE = Path("/srv/tristep")


def test_sqlite_path_that_is_relative_starts_at_the_checkout() -> None:
    assert database("sqlite:///var/my.sqlite3", base=BASE)["NAME"] == "/srv/tristep/var/my.sqlite3"


def test_sqlite_path_with_four_slashes_is_absolute() -> None:
    assert database("sqlite:////data/a%20b.sqlite3", base=BASE)["NAME"] == "/data/a b.sqlite3"


def test_sqlite_takes_the_write_lock_at_once_and_waits_for_it() -> None:
    options = database("sqlite:////data/db.sqlite3", base=BASE)["OPTIONS"]
    assert options["transaction_mode"] == "IMMEDIATE"
    assert options["timeout"] == 10
    assert "recursive_triggers=ON" in options["init_command"]


def test_postgres_address_is_taken_apart() -> None:
    found = database("postgres://ann:p%40ss@db.example:6543/tristep?sslmode=require", base=BASE)
    assert found["ENGINE"] == "django.db.backends.postgresql"
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"], found["NAME"]) == (
        *("ann", "p@ss", "db.example", "6543", "tristep"),
    )
    assert found["OPTIONS"] == {"sslmode": "require", "options": "-c jit=off"}
    assert found["CONN_HEALTH_CHECKS"] is True


def test_postgres_socket_folder_goes_in_the_query() -> None:
    found = database("postgresql://ann@/tristep?host=%2Frun%2Fpg&options=", base=BASE)
    assert (found["HOST"], found["OPTIONS"]) == ("/run/pg", {"options": ""})


@pytest.mark.parametrize(
    "url",
    ["", "mysql://x/y", "sqlite://", "sqlite:///", "sqlite://host/db", "postgres://host", "postgres://host/"],
)
def test_database_addresses_of_another_kind_are_refused_by_name(url: str) -> None:
    with pytest.raises(BadEnvironment, match="DATABASE_URL"):
        database(url, base=BASE)


def test_unix_socket_is_written_as_the_broker_library_wants_it() -> None:
    assert broker("unix:///run/b.sock") == "redis+socket:///run/b.sock"
    assert broker("redis://redis:6379/0") == "redis://redis:6379/0"
    with pytest.raises(BadEnvironment, match="REDIS_URL"):
        broker("amqp://rabbit")


def test_mail_addresses() -> None:
    assert email("smtps://u:p@mail.example")["EMAIL_PORT"] == 465
    upgraded = email("smtp://mail.example?starttls=1")
    assert (upgraded["EMAIL_PORT"], upgraded["EMAIL_USE_TLS"], upgraded["EMAIL_USE_SSL"]) == (
        587,
        True,
        False,
    )
    with pytest.raises(BadEnvironment, match="TRISTEP_EMAIL_URL"):
        email("mail.example")


def test_flags_and_numbers_say_what_is_wrong() -> None:
    env = Env({"YES": "On", "NO": "", "ODD": "maybe", "N": "12", "WORD": "many", "LOW": "0"})
    assert env.flag("YES") is True
    assert env.flag("NO", default=True) is False
    assert env.flag("UNSET", default=True) is True
    assert env.number("N", 1) == env.number("N", 1, minimum=12) == 12
    calls: list[Callable[[], object]] = [
        lambda: env.flag("ODD"),
        lambda: env.number("WORD", 1),
        lambda: env.number("LOW", 1, minimum=1),
    ]
    for call in calls:
        with pytest.raises(BadEnvironment, match=r"ODD|WORD|LOW"):
            call()


def test_lists_drop_empty_items() -> None:
    assert Env({"HOSTS": " a.example, ,b.example "}).words("HOSTS") == ["a.example", "b.example"]
    assert Env({"HOSTS": " , "}).words("HOSTS", ("localhost",)) == ["localhost"]


def test_secret_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "secret.key"
    key = secret_key(path)
    assert len(key) >= 64
    assert secret_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["secret.key"]


def test_secret_key_is_one_for_processes_that_start_together(tmp_path: Path) -> None:
    gate, keys = threading.Barrier(8), []

    def start() -> None:
        gate.wait()
        keys.append(secret_key(tmp_path / "secret.key"))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


def test_value_of_any_kind_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("a.example, b.example\n")
    assert Env({"HOSTS_FILE": str(tmp_path / "hosts")}).words("HOSTS") == ["a.example", "b.example"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TRISTEP_THROTTLE_ANON", "60"),
        ("TRISTEP_LOG_LEVEL", "loud"),
        ("TRISTEP_MAX_MESSAGES", "0"),
        ("TRISTEP_TIME_ZONE", "Mars/Olympus"),
        ("TRISTEP_DATA_DIR", "/etc/passwd/x"),
        ("TRISTEP_EMAIL_URL", "smtp://mail.example:many"),
        ("DATABASE_URL", "postgres://u:se/cret@db.example/x"),
        ("DATABASE_URL", "postgres://u:se[cret@db.example/x"),
        ("REDIS_URL", "redis://:se/cret@redis.example/0"),
    ],
)
def test_value_that_cannot_be_used_is_refused_by_name(name: str, value: str, tmp_path: Path) -> None:
    with pytest.raises(BadEnvironment) as refused:
        read_settings({"TRISTEP_DATA_DIR": str(tmp_path), name: value})
    said = str(refused.value)
    assert said.startswith(name) and len(said.splitlines()) == 1
    assert "se" not in said.split() and "cret" not in said


@pytest.mark.parametrize("command", [["manage.py", "check"], ["-m", "config.prepare"]])
def test_value_that_cannot_be_used_ends_the_start_in_one_line(command: list[str], tmp_path: Path) -> None:
    environment = server_environment(database="", data=tmp_path) | {"REDIS_URL": "redis://:se/cret@redis/0"}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("REDIS_URL") and len(done.stderr.splitlines()) == 1
    assert "se" not in done.stderr.split() and "cret" not in done.stderr


def test_data_folder_may_have_any_name(tmp_path: Path) -> None:
    data = tmp_path / "lab #2, 50%25 ?"
    found = read_settings({"TRISTEP_DATA_DIR": str(data)})
    assert str(found["DATABASES"]["default"]["NAME"]) == str(data / "db.sqlite3")


OIDC = {
    "TRISTEP_OIDC_ISSUER": "https://sso.example.org/realms/x",
    "TRISTEP_OIDC_CLIENT_ID": "tristep",
    "TRISTEP_OIDC_CLIENT_SECRET": "s3cret",
}


def test_organisation_is_read_whole_or_not_at_all() -> None:
    assert organisation.read(Env({})) is None
    found = organisation.read(
        Env({**OIDC, "TRISTEP_OIDC_ROLES": '{"a": ["x:admin"]}', "TRISTEP_OIDC_LOCAL_ACCOUNTS": "Root"})
    )
    assert found is not None and found.roles == {"a": ("x:admin",)}
    assert found.may_use_password("anybody") and "s3cret" not in repr(found)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"TRISTEP_OIDC_CLIENT_ID": ""}, "TRISTEP_OIDC_CLIENT_ID"),
        ({"TRISTEP_OIDC_CLIENT_SECRET": " "}, "TRISTEP_OIDC_CLIENT_SECRET"),
        ({"TRISTEP_OIDC_ISSUER": "http://sso.example.org"}, "https://"),
        ({"TRISTEP_OIDC_ISSUER": "", "TRISTEP_OIDC_ONLY": "1"}, "nobody could sign in"),
        ({"TRISTEP_OIDC_ROLES": "{"}, "TRISTEP_OIDC_ROLES is not JSON"),
    ],
)
def test_organisation_that_is_half_there_is_named(changed: dict[str, str], named: str) -> None:
    with pytest.raises(BadEnvironment, match=named) as refused:
        organisation.read(Env({**OIDC, **changed}))
    assert "s3cret" not in str(refused.value)
