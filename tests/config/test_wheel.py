"""The wheel `tristep`: what it holds, and beside what it can be installed. It is run by
tests/browser/test_whole_line.py, where there is no checkout."""

from __future__ import annotations

import subprocess
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

from django.conf import settings
from packaging.requirements import Requirement

from tests.fixtures.wheels import CLIENT, hashes, uv
from tests.repository import tracked
from tests.servers import ROOT

HELD = ("annotation/", "api/", "config/", "fixtures/demo/", "fixtures/training/", "frontend/")


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
