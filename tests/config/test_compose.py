"""docker-compose.yml, as far as it can be tried without an engine."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.env import BadEnvironment, Env, redis
from config.settings import base
from tests.config.read_settings import read_settings
from tests.servers import ROOT

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("migrate", "web", "worker")
# what Compose decides for the containers, so that .env cannot
FIXED = frozenset(
    {
        *("DATABASE_URL", "TRISTEP_DATABASE_PASSWORD_FILE", "REDIS_URL", "TRISTEP_REDIS_PASSWORD_FILE"),
        *("TRISTEP_SECRET_KEY_FILE", "TRISTEP_DATA_DIR", "TRISTEP_STATIC_DIR"),
    }
)


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """The secrets that docker/secrets.sh makes."""
    shutil.copytree(ROOT / "docker", tmp_path / "docker")
    for _again in range(2):
        subprocess.run([tmp_path / "docker" / "secrets.sh"], check=True)
    return tmp_path / "secrets"


def test_compose_has_every_secret_made_and_none_in_the_environment(secrets: Path) -> None:
    assert secrets.stat().st_mode & 0o077 == 0
    made = {path.name: path.read_text() for path in secrets.iterdir()}
    assert {name: str(one["file"]) for name, one in COMPOSE["secrets"].items()} == {
        name: f"./secrets/{name}" for name in made
    }
    assert all(re.fullmatch("[0-9a-f]{64}", secret) for secret in made.values())
    assert len(set(made.values())) == len(made)
    for name, service in SERVICES.items():
        for variable, value in service.get("environment", {}).items():
            assert variable.endswith("_FILE") or not re.search("PASSWORD|SECRET|KEY", variable), (
                name,
                variable,
            )
            assert not re.search(r"//[^/@]*:[^/@]*@", str(value)), (name, variable)
    assert "/secrets/" in (ROOT / ".gitignore").read_text().split()


def test_compose_gives_the_settings_its_secrets_and_all_of_env(secrets: Path, tmp_path: Path) -> None:
    for name in OURS:
        service = SERVICES[name]
        assert service["env_file"] == [".env"]
        # only these do not come from .env
        given = {key for key, value in service["environment"].items() if not str(value).startswith("${")}
        assert given == FIXED, name
        variables = {
            key: re.sub(r"\$\{\w+:-(\w*)\}", r"\1", str(value)).replace("/run/secrets", str(secrets))
            for key, value in service["environment"].items()
        } | {"TRISTEP_DATA_DIR": str(tmp_path / "data"), "TRISTEP_SIGN_IN_FAILURES": "5"}
        found = read_settings(variables)
        database = found["DATABASES"]["default"]
        role = "owner" if name == "migrate" else "app"
        password = (secrets / "redis_password").read_text()
        assert (database["USER"], database["PASSWORD"], database["HOST"]) == (
            f"tristep_{role}",
            (secrets / f"postgres_{role}_password").read_text(),
            "postgres",
        )
        assert found["REDIS_URL"] == found["CELERY_BROKER_URL"] == f"redis://:{password}@redis:6379/0"
        assert found["SECRET_KEY"] == (secrets / "secret_key").read_text()
        assert (found["HTTPS"], found["PROXY_HOPS"], found["AXES_FAILURE_LIMIT"]) == (True, 1, 5)
        assert set(service["secrets"]) >= {f"postgres_{role}_password", "redis_password", "secret_key"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_compose_confines_every_service(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"] and service["pids_limit"]
    assert service.get("read_only") is True or name == "postgres"
    if name not in OURS:
        pinned = r":\d+\.\d+(\.\d+)?-\w+\$\{TRISTEP_\w+_DIGEST:-\}$"
        assert re.search(pinned, service["image"]), service["image"]
    assert service["logging"]["options"] == {"max-size": "10m", "max-file": "5"}
    for port in service.get("ports", []):
        assert name == "proxy" or str(port).startswith("${TRISTEP_BIND:-127.0.0.1:")


def test_compose_has_a_network_for_each_side() -> None:
    sides = {name: set(service["networks"]) for name, service in SERVICES.items()}
    assert sides["proxy"] & sides["web"] == {"front"} and sides["postgres"] & sides["web"] == {"database"}
    for inner, others in (("postgres", {"proxy", "redis"}), ("redis", {"proxy", "postgres"})):
        assert all(COMPOSE["networks"][name]["internal"] for name in sides[inner])
        assert not any(sides[inner] & sides[other] for other in others)


def test_compose_has_https_in_a_profile_of_its_own() -> None:
    assert SERVICES["proxy"]["profiles"] == ["https"]
    assert [name for name in SERVICES if "profiles" in SERVICES[name]] == ["proxy"]
    assert re.search(r"ARG PYTHON=3\.\d+\.\d+-slim\n", (ROOT / "Dockerfile").read_text())
    for service in ("web", "worker"):
        assert SERVICES[service]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


# A docker that only notes what it is asked for: a backup comes out of it, what is restored goes in.
STUB = """#!/bin/sh
echo "${TRISTEP_TAG:-} $*" >> "$CALLS"
case "$*" in
    *"manage.py backup"*) [ -z "${FAILS:-}" ] && echo rows | gzip ;;
    *"manage.py restore"*) cat > "$CALLS.restored" ;;
    *"ps --quiet web"*) echo web-1 web-2 ;;
    *inspect*) echo healthy ;;
esac
"""


class Machine:
    """A checkout with a stub in docker's place."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, folder / "calls"
        shutil.copytree(ROOT / "docker", folder / "docker")
        shutil.copy(ROOT / "pyproject.toml", folder)
        (folder / ".env").write_text("TRISTEP_SITE=a.example\n")
        (folder / "bin").mkdir()
        (folder / "bin" / "docker").write_text(STUB)
        (folder / "bin" / "docker").chmod(0o755)

    def run(self, script: str, **variables: str) -> tuple[int, list[str]]:
        """The exit status of a script, and what docker was asked for: tag and command of Compose."""
        self.calls.write_text("")
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        command = [str(self.folder / "docker" / script), "--profile", "https"]
        done = subprocess.run(
            command,
            env={"PATH": path, "CALLS": str(self.calls), **variables},
            capture_output=True,
            check=False,
        )
        found = re.findall(r"^(\S*) compose (?:--profile https )?(\w+)", self.calls.read_text(), re.M)
        return done.returncode, [" ".join(call) for call in found]

    @property
    def env(self) -> list[str]:
        """The lines of .env."""
        return (self.folder / ".env").read_text().splitlines()


def test_upgrade_backs_up_first_and_leaves_the_old_image_and_return_goes_back(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    status, calls = machine.run("upgrade.sh")
    assert status == 0
    site, tag = machine.env
    new = tag.removeprefix("TRISTEP_TAG=")
    assert site == "TRISTEP_SITE=a.example" and re.fullmatch(r"[\d.]+-\d{8}T\d{6}Z", new)
    # the backup is the old version's, made while nobody writes, and before the new one migrates
    assert calls == [f"{new} build", " stop", " run", " up"]
    old, backup = (tmp_path / "backups" / "last").read_text().split()
    assert old == "latest" and gzip.decompress((tmp_path / backup).read_bytes()) == b"rows\n"
    assert (tmp_path / "backups").stat().st_mode & 0o077 == 0

    status, calls = machine.run("return.sh")
    assert status == 0 and machine.env == ["TRISTEP_SITE=a.example", "TRISTEP_TAG=latest"]
    asked = machine.calls.read_text()
    wanted = [
        "stop",
        "ALTER DATABASE",
        "CREATE DATABASE",
        "10-roles.sh",
        "migrate",
        "manage.py restore",
        "up",
    ]
    places = [asked.index(word) for word in wanted]
    assert places == sorted(places) and "DROP" not in asked and "--no-build" in asked
    assert gzip.decompress((tmp_path / "calls.restored").read_bytes()) == b"rows\n"


def test_upgrade_without_a_backup_changes_nothing_and_starts_the_old_version_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    status, _calls = machine.run("upgrade.sh", FAILS="1")
    asked = machine.calls.read_text()
    assert status != 0 and machine.env == ["TRISTEP_SITE=a.example"]
    assert asked.rstrip().endswith("start web worker") and " up " not in asked
    assert not (tmp_path / "backups" / "last").exists()
    assert machine.run("return.sh")[0] != 0


def test_restart_takes_one_web_server_after_the_other_and_then_the_workers(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    assert machine.run("restart.sh")[0] == 0
    asked = [line.strip().split(" --")[0] for line in machine.calls.read_text().splitlines()]
    status = "inspect"
    assert asked == ["compose ps", "restart", status, "restart", status, "compose restart"]


def test_compose_starts_as_many_as_env_says_and_the_proxy_finds_them_all() -> None:
    assert SERVICES["web"]["deploy"]["replicas"] == "${TRISTEP_WEB_REPLICAS:-1}"
    assert SERVICES["worker"]["deploy"]["replicas"] == "${TRISTEP_WORKER_REPLICAS:-1}"
    # a name of its own would be one container's
    assert not any("container_name" in service for service in SERVICES.values())
    caddy = (ROOT / "docker" / "caddy" / "Caddyfile").read_text(encoding="utf-8")
    assert re.search(r"dynamic a \{\s+name web\s+port 8000\s", caddy) and "lb_try_duration" in caddy


def test_variable_may_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("from the file\n")
    assert Env({"NAME_FILE": str(path)}).text("NAME") == "from the file"
    assert Env({"NAME_FILE": str(path), "NAME": "said"}).text("NAME") == "said"
    with pytest.raises(BadEnvironment, match="NAME_FILE"):
        Env({"NAME_FILE": str(tmp_path / "none")}).text("NAME")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://host:1/0", "redis://:p%2F@host:1/0"),
        ("rediss://user@host/0", "rediss://user:p%2F@host/0"),
        ("redis://:own@host/0", "redis://:own@host/0"),
        ("unix:///a/b.sock", "unix:///a/b.sock"),
        ("", ""),
    ],
)
def test_redis_gets_its_password(url: str, expected: str) -> None:
    assert redis(url, "p/") == expected


def test_web_server_may_end_what_it_has_begun_before_it_is_killed() -> None:
    grace = int(SERVICES["web"]["stop_grace_period"].removesuffix("s"))
    # not imported: it raises a limit of the process
    config = (ROOT / "config" / "gunicorn.py").read_text(encoding="utf-8")
    timeout = re.search(r"^graceful_timeout = (\d+)$", config, re.MULTILINE)
    assert timeout and grace > int(timeout[1])


def test_proxies_let_in_what_tristep_lets_in() -> None:
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    caddy = (ROOT / "docker" / "caddy" / "Caddyfile").read_text(encoding="utf-8")
    sizes = [*re.findall(r"max_size (\S+)", caddy + operations)]
    sizes += re.findall(r"client_max_body_size (\S+);", operations)
    units = {"MiB": 2**20, "MB": 10**6, "m": 2**20}
    allowed = [int(size.rstrip("MiBm")) * units[size.lstrip("0123456789")] for size in sizes]
    assert len(allowed) == 3 and min(allowed) > base.MAX_UPLOAD_BYTES


def test_example_for_nginx_is_one_that_nginx_takes() -> None:
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    location = operations.partition("    location / {")[2].partition("\n    }")[0]
    # "client_header_timeout": contexts http and server
    assert location and not re.search(r"^\s*client_header_timeout", location, re.MULTILINE)


def test_backup_comes_into_the_container_as_a_file_of_its_user() -> None:
    operations = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    # a file that `cp` brings is its owner's on the host, and backups are closed to everybody else
    assert not re.search(r"docker compose cp \S+ \w+:", operations)
