"""The whole line with the Python client, on the product as `make run` starts it: by the notebook, and by the
commands."""

from __future__ import annotations

import io
import json
import re
import secrets
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.browser.server import Site
from tests.people import jsonl, make_record
from tests.servers import ROOT
from tristep import Client, commands
from tristep.commands import main

pytestmark = pytest.mark.slow

NOTEBOOK = ROOT / "clients" / "python" / "examples" / "from_import_to_score.ipynb"


def test_notebook_goes_from_import_to_score(
    server: Site, demo_tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code), "strip the outputs"
    monkeypatch.setenv("TRISTEP_URL", server.url)
    for name, token in demo_tokens.items():
        monkeypatch.setenv(f"TRISTEP_TOKEN_{name.upper()}", token)

    names: dict[str, Any] = {}
    for cell in code:
        exec(compile("".join(cell["source"]), cell["id"], "exec"), names)

    assert (names["imported"]["created_count"], names["imported"]["step_count"]) == (4, 8)
    assert names["agreement"]["percent_agreement"]["value"] == 7 / 8
    assert names["decided"] == 1
    assert names["release"].get()["record_count"] == 4
    with zipfile.ZipFile(names["place"]) as archive:
        assert {"lighthouses.jsonl", "manifest.json"} <= {Path(name).name for name in archive.namelist()}
    labels = names["release"].frame("lighthouses")
    assert len(labels) == 12 and sorted(labels["label"].unique()) == [-1, 0, 1]
    board = names["release"].leaderboard_frame().set_index("model")
    assert board.loc["Optimist", "outcome_accuracy"] == 2 / 4
    assert board.loc["Optimist", "step_accuracy"] == 5 / 8


# ── The commands ──────────────────────────
RUNS = [make_record(query, data_source="harbour") for query in range(3)]


def labels_of(values: dict[int, tuple[int, int]]) -> bytes:
    """A label file: the values of the steps 2 and 4 of each run, and an outcome that is right."""
    said = [{**RUNS[query], "step_labels": {"2": a, "4": b}} for query, (a, b) in values.items()]
    return jsonl([{**record, "final_label": 1} for record in said])


@pytest.fixture
def project(server: Site, demo_tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The slug of a new project, whose admin the environment names to the commands."""
    monkeypatch.setenv("TRISTEP_URL", server.url)
    monkeypatch.setenv("TRISTEP_TOKEN", demo_tokens["admin"])
    with Client() as tristep:
        slug = f"harbour-{secrets.token_hex(3)}"
        tristep.projects.create(name="Harbour", slug=slug, training_examples=False)
    return slug


def test_commands_go_from_import_to_score(
    project: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: object, fails: bool = False) -> str:
        assert main([str(one) for one in arguments]) == int(fails)
        said = capsys.readouterr()
        assert bool(said.err) is fails
        return said.err if fails else said.out

    file = tmp_path / "harbour.jsonl"
    file.write_bytes(jsonl(RUNS)[:-40])
    assert "line 3" in run("import", project, file, fails=True)
    file.write_bytes(jsonl(RUNS))
    assert "3 trajectories with 6 steps (agentprocessbench)" in run("import", project, file, "--preview")
    counted = "harbour.jsonl: {} replaced trajectories with {} steps in harbour\n"
    assert run("import", project, file) == counted.format("3 new, 0 unchanged, 0", 6)
    assert run("import", project, file) == counted.format("0 new, 3 unchanged, 0", 0)

    said = {"Ada": {0: (1, 1), 1: (1, -1), 2: (0, 1)}, "Bo": {0: (1, 1), 1: (1, -1), 2: (1, 1)}}
    for name, values in said.items():
        file.write_bytes(labels_of(values))
        assert "labels of 3 trajectories, 6 steps" in run("labels", project, file, "--name", name)

    assert "percent_agreement        0.8333                   n 6\n" in run("agreement", project)
    report = json.loads(run("agreement", project, "--json"))
    assert report["overall"]["states"]["unanimous"] == 2 and report["overall"]["states"]["disputed"] == 1

    assert run("freeze", project, "1.0", "--licence", "CC0-1.0").startswith("release 1.0: 2 records,")
    run("export", project, "1.0", "--output", tmp_path)
    with zipfile.ZipFile(tmp_path / f"{project}-1.0.zip") as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("harbour.jsonl")]
        assert len(archive.read(name).splitlines()) == 2
    file.write_bytes(labels_of({0: (1, 1), 1: (1, 1)}))
    scored = run("score", project, "1.0", file, "--model", "Optimist")
    assert "harbour.jsonl: 2 new, 0 unchanged records\nOptimist\n" in scored
    assert re.search(r"step_accuracy +0\.7500\n", scored)
    assert len(json.loads(run("score", project, "1.0", "--json"))["models"]) == 1
    assert "--model NAME" in run("score", project, "1.0", file, fails=True)
    assert run("agreement", "nothing-here", fails=True) == "This does not exist, or you may not see it.\n"


def test_login_keeps_a_token_that_works_and_no_other(
    server: Site,
    demo_tokens: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("TRISTEP_URL", "TRISTEP_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    monkeypatch.setattr("sys.stdin", io.StringIO("tri_wrong\n"))
    assert main(["login", server.url, "--stdin"]) == 1
    assert list(tmp_path.iterdir()) == []

    monkeypatch.setattr("sys.stdin", io.StringIO(demo_tokens["maya"] + "\n"))
    assert main(["login", server.url, "--stdin"]) == 0
    assert "Signed in as maya" in capsys.readouterr().out
    assert Client().me.get()["username"] == "maya"


def test_bar_is_drawn_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert commands._bar("sending") is None
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    draw = commands._bar("sending", width=4)
    assert draw is not None
    draw(500, 1000)
    draw(1000, 1000)
    assert terminal.getvalue() == "\rsending ██░░ 500 of 1,000\rsending ████ 1,000 of 1,000\n"
