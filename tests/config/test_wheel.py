"""The wheel `tristep`: what it holds, and what `tristep serve` of it does where there is no checkout."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from email.parser import HeaderParser
from importlib.metadata import distribution
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from packaging.requirements import Requirement

from tests.browser.server import Server
from tests.clients.conftest import token_of
from tests.repository import tracked
from tests.servers import ROOT, descendants, running
from tests.shared import locked
from tristep import Client

UV = Path(sys.executable).with_name("uv")
HELD = ("annotation/", "api/", "config/", "fixtures/demo/", "fixtures/training/", "frontend/")
CLIENT = "clients/python/"


def uv(*arguments: str | Path, **environment: str) -> None:
    """Run uv of this environment."""
    command = [UV, *arguments, "--quiet"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheels(run_folder: Path) -> dict[str, Path]:
    """The two wheels of the repository, of the server and of the client alone, by distribution."""
    folder = run_folder / "wheels"
    with locked(run_folder / "wheels.lock"):
        if not folder.exists():
            for place in (ROOT, ROOT / CLIENT):
                uv("build", "--wheel", "--no-build-isolation", "--out-dir", folder, place)
    return {path.name.partition("-")[0]: path for path in folder.glob("*.whl")}


@pytest.fixture(scope="session")
def environment(wheels: dict[str, Path], run_folder: Path) -> Path:
    """A new environment with the locked packages of `make install`, as they lie in this one with what is
    compiled of them, and the wheel, which asks for no other."""
    folder = run_folder / "environment"
    with locked(run_folder / "environment.lock"):
        if not folder.exists():
            uv("venv", "--python", sys.executable, folder)
            (packages,) = folder.glob("lib/python*/site-packages")
            for part in locked_parts():
                (packages / part.name).symlink_to(part)
            uv("pip", "install", "--offline", wheels["tristep"], VIRTUAL_ENV=str(folder))
    return folder


def locked_parts() -> set[Path]:
    """Folders and modules of the packages that requirements.lock asks for here, of its versions."""
    parts = set()
    for requirement in map(Requirement, hashes("requirements.lock")):
        if requirement.marker is None or requirement.marker.evaluate():
            found = distribution(requirement.name)
            assert found.version in requirement.specifier, requirement
            tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
            parts |= {Path(str(found.locate_file(top))) for top in tops}
    return parts


def hashes(lock: str) -> dict[str, set[str]]:
    """Requirement → hashes."""
    blocks = re.split(r"^(?=[^ #\n])", (ROOT / lock).read_text("utf-8"), flags=re.M)[1:]
    return {block.partition("\\")[0].strip(): set(re.findall(r"sha256:\w+", block)) for block in blocks}


def held(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def launchers(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        lines = archive.read(name).decode().splitlines()
    return {line.partition(" = ")[0] for line in lines if " = " in line}


def test_wheel_holds_what_git_holds_of_the_product_in_one_package(wheels: dict[str, Path]) -> None:
    names = {path.relative_to(ROOT).as_posix() for path in tracked()}
    product = {name for name in names if name.startswith(HELD) and name != "config/wheel.py"} | {"manage.py"}
    client = {name.removeprefix(CLIENT) for name in names if name.startswith(f"{CLIENT}tristep/")}
    assert {Path(name).suffix for name in product} >= {".html", ".css", ".js", ".mo", ".jsonl", ".svg", ".py"}
    inside = {name for name in held(wheels["tristep"]) if ".dist-info/" not in name}
    assert inside == {f"tristep_server/{name}" for name in product | client | {"__init__.py"}}


def test_server_and_client_are_of_one_version_and_own_no_file_together(wheels: dict[str, Path]) -> None:
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    for name_of_wheel, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
            said = HeaderParser().parsestr(archive.read(name).decode())
        assert said["Version"] == settings.TRISTEP_VERSION
        if name_of_wheel == "tristep":
            always = [one for one in said.get_all("Requires-Dist", []) if "extra ==" not in one]
            assert len(always) == len(asked)
    server, client = wheels["tristep"], wheels["tristep_client"]
    assert held(server) & held(client) == set()
    assert launchers(server) == {"tristep"} and launchers(client) == {"tristep-client"}


def test_packages_that_run_are_among_those_that_are_installed_with_hashes_to_develop() -> None:
    """CI does `make dev`, and nothing there installs what `make run` does."""
    run, develop = (
        {requirement.partition(";")[0].strip(): known for requirement, known in hashes(lock).items()}
        for lock in ("requirements.lock", "requirements-dev.lock")
    )
    assert len(run) > 50 and all(run.values())
    elsewhere = {Requirement(one).name for one in hashes("requirements.lock") if "win32" in one}
    assert {one: known for one, known in run.items() if develop.get(one) != known}.keys() <= elsewhere


@pytest.fixture(scope="module")
def installed(environment: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`tristep serve` of the wheel, in a folder that holds nothing, with data in another.

    Without the demo: its worker would at once train a judge for it, for eight seconds.
    """
    folder = tmp_path_factory.mktemp("installed")
    program = (str(environment / "bin" / "tristep"), "serve", "--no-demo", "--data", str(folder / "data"))
    served = Server(folder / "data", program=program, cwd=folder, TRISTEP_WEB_PROCESSES="1")
    try:
        yield served.ready()
    finally:
        served.stop()


@pytest.mark.slow
def test_installed_wheel_loads_and_serves_the_demo_and_stops_whole(
    installed: Server, environment: Path
) -> None:
    def tristep(*arguments: str, **more: str) -> str:
        command = [str(environment / "bin" / "tristep"), *arguments]
        known = installed.environment | more
        return subprocess.run(command, env=known, cwd="/", check=True, capture_output=True, text=True).stdout

    for private in ("secret.key", "db.sqlite3"):
        assert (installed.data / private).stat().st_mode & 0o077 == 0
    made = json.loads(tristep("manage", "demo", "--known-passwords", "--json"))["accounts"]
    passwords = {account["username"]: account["password"] for account in made}
    with httpx.Client(base_url=installed.url, headers={"Referer": installed.url}) as browser:
        assert "/static/frontend/css/site." in browser.get("/sign-in/").text
        form = {"username": "maya", "password": passwords["maya"]}
        browser.post("/sign-in/", data={**form, "csrfmiddlewaretoken": browser.cookies["csrftoken"]})
        assert "Maya" in browser.get("/p/demo/work/", headers={"Accept-Language": "zh-Hans"}).text

    # a label is saved, and the worker reads a file
    with Client(installed.url, token_of(installed.url, "lin", passwords["lin"])) as lin:
        (draft,) = lin.projects["demo"].assignments.list(state="open")
        detail = lin.assignments[draft].get()
        step = detail["steps"][-1]
        change = {
            "target": "step",
            "message_index": step["message_index"],
            "version": step["version"],
            "value": 1,
            "source": "explicit",
        }
        lin.assignments[draft].save(op_id="from-the-wheel", changes=[change])
        assert lin.assignments[draft].get()["steps"][-1]["value"] == 1
    admin = tristep("manage", "create_token", "admin", "wheel", "--scope", "admin").split()[-1]
    file = str(ROOT / "fixtures" / "golden" / "agentprocessbench.jsonl")
    said = tristep("import", "demo", file, "--subset", "more", TRISTEP_URL=installed.url, TRISTEP_TOKEN=admin)
    assert "new, 0 unchanged" in said and " in more" in said

    below = descendants(installed.pid)
    parts = ("gunicorn", "celery", "valkey")
    assert [part for part in parts if not any(part in line for line in below.values())] == []
    # Ctrl-C
    os.killpg(installed.pid, signal.SIGINT)
    assert installed.process.wait(timeout=90) == 0
    assert "your data are kept" in installed.words() and "Traceback" not in installed.words()
    assert running(below) == []


def test_client_can_be_installed_beside_and_taken_away_again(
    environment: Path, wheels: dict[str, Path]
) -> None:
    python = {"VIRTUAL_ENV": str(environment)}

    def lists(command: str) -> set[str]:
        done = subprocess.run(
            [environment / "bin" / command, "--help"], capture_output=True, text=True, check=True
        )
        return {word for word in ("serve", "manage", "login", "score") if f"    {word} " in done.stdout}

    uv("pip", "install", "--offline", wheels["tristep_client"], **python)
    assert lists("tristep") == {"serve", "manage", "login", "score"}
    assert lists("tristep-client") == {"login", "score"}
    uv("pip", "uninstall", "tristep-client", **python)
    assert lists("tristep") == {"serve", "manage", "login", "score"}
