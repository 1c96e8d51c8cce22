"""Login, import, labels, agreement, freeze, export and score, from a terminal or a script."""

from __future__ import annotations

import argparse
import getpass
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from . import credentials
from .client import Client
from .connection import Progress
from .errors import ApiError, TristepError, WorkFailed
from .frames import figure_rows, model_rows

LISTED = 10
"""So many errors of a file are printed; the answer with `--json` has more."""


def main(
    arguments: Sequence[str] | None = None,
    *,
    prog: str = "tristep-client",
    beside: Mapping[str, str] | None = None,
) -> int:
    """Run one command; returns its exit code: 0, 1 when it failed, 2 when it was called wrongly.

    `prog` is the name of the command. `beside`: other commands that the help lists, each with a sentence;
    whoever calls this runs them.
    """
    options = parser(prog, beside).parse_args(arguments)
    try:
        options.run(options)
    except KeyboardInterrupt:
        return 130
    except WorkFailed as error:
        _failed(str(error))
        for one in (error.answer.get("errors") or ())[:LISTED]:
            _failed(f"line {one['line']}: {one['field']} {one['reason']}")
        return 1
    except ApiError as error:
        _failed(error.message)
        for field, why in error.fields.items():
            _failed(f"  {field}: {why}")
        return 1
    except (TristepError, OSError) as error:
        _failed(str(error))
        return 1
    return 0


def parser(prog: str = "tristep-client", beside: Mapping[str, str] | None = None) -> argparse.ArgumentParser:
    """The commands and their options."""
    whole = argparse.ArgumentParser(prog=prog, description=__doc__)
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for other, about in (beside or {}).items():
        commands.add_parser(other, help=about)

    def command(
        name: str, run: Callable[[argparse.Namespace], None], about: str, *of: str
    ) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about)
        made.set_defaults(run=run)
        for one in of:
            made.add_argument(one, metavar=one.upper())
        if name != "login":
            made.add_argument("--json", action="store_true", help="print the server's answer as JSON")
        return made

    login = command("login", _login, "Keep the address of a server and a token, for all other commands.")
    login.add_argument("url", metavar="ADDRESS", help="such as https://tristep.example")
    login.add_argument("--stdin", action="store_true", help="read the token from standard input")

    bring = command("import", _import, "Import trajectories and wait until they are there.", "project")
    bring.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file, or a zip of files")
    bring.add_argument("--subset", help="made when it is missing; else the file's name")
    bring.add_argument("--format", help="else it is told from the first bytes")
    bring.add_argument("--replace", action="store_true", help="records that changed and nobody has claimed")
    bring.add_argument("--redact", action="store_true", help="take out keys and tokens of known forms")
    bring.add_argument("--preview", action="store_true", help="only say what they would become")

    labels = command("labels", _labels, "Import a person's finished labels.", "project")
    labels.add_argument("file", type=Path, metavar="FILE")
    whose = labels.add_mutually_exclusive_group(required=True)
    whose.add_argument("--annotator", metavar="USERNAME", help="an annotator of the project")
    whose.add_argument("--name", help="somebody who gets an account that nobody can sign in to")
    labels.add_argument("--subset", help="else records are looked up in all")

    agreement = command("agreement", _agreement, "Print the figures of agreement.", "project")
    agreement.add_argument("--subset")

    freeze = command(
        "freeze", _freeze, "Make a release of everything that is resolved.", "project", "version"
    )
    for name in ("title", "licence", "note"):
        freeze.add_argument(f"--{name}", default="")
    freeze.add_argument("--leave-out", nargs="+", default=[], metavar="SUBSET")

    export = command("export", _export, "Download a release as one ZIP file.", "project", "version")
    export.add_argument("--output", type=Path, help="a file or a folder; else PROJECT-VERSION.zip here")
    export.add_argument("--format", help="agentprocessbench (if none is named), huggingface, training, …")
    export.add_argument("--split", help="the share of each subset's tasks for testing, such as 0.2")
    export.add_argument("--seed", help="which tasks these are")

    score = command("score", _score, "Score what a model predicts of a release.", "project", "version")
    score.add_argument("files", nargs="*", type=Path, metavar="FILE", help="predictions; without, the board")
    score.add_argument("--model", help="its name; needed with files")
    score.add_argument("--subset", help="only its records")
    return whole


# ── The commands ──────────────────────────
def _login(options: argparse.Namespace) -> None:
    host = urlsplit(options.url).hostname
    if options.url.startswith("http://") and host not in ("localhost", "127.0.0.1", "::1"):
        _failed("Over http:// everybody on the way can read the token; use https:// where there is one.")
    prompt = f"A token for {options.url} (made on the page Profile): "
    token = (sys.stdin.readline() if options.stdin else getpass.getpass(prompt)).strip()
    with Client(options.url, token) as tristep:
        me = tristep.me.get()
    print(f"Signed in as {me['username']}; kept in {credentials.keep(options.url, token)}.")


def _import(options: argparse.Namespace) -> None:
    more = {name: getattr(options, name) for name in ("subset", "format")}
    more |= {name: True for name in ("replace", "redact", "preview") if getattr(options, name)}
    answers: list[Mapping[str, Any]] = []
    with Client() as tristep:
        imports = tristep.projects[options.project].imports
        for file in options.files:
            sending = _bar(f"sending {file.name}")
            refused: Sequence[Mapping[str, Any]] = ()
            if file.suffix.lower() == ".zip":
                archive = imports.archive(file, sending, **more)
                made, refused = archive["imports"], archive["refused"]
            else:
                made = [imports.create(file, sending, **more)]
            for one in made:
                place = tristep.imports[one]
                if options.preview:
                    answers.append({**place.preview(), "id": one["id"], "filename": one["filename"]})
                else:
                    answers.append(place.wait(progress=_bar(f"reading {one['filename']}")))
                _say(options, _preview_line(answers[-1]) if options.preview else _import_line(answers[-1]))
            for member in refused:
                _failed(f"{member['filename']}: {member['reason']}")
    _answer(options, answers)


def _import_line(found: Mapping[str, Any]) -> str:
    return (
        f"{found['filename']}: {found['created_count']} new, {found['unchanged_count']} unchanged, "
        f"{found['replaced_count']} replaced trajectories with {found['step_count']} steps"
        + (f" in {found['subset']}" if found["subset"] else "")
    )


def _preview_line(found: Mapping[str, Any]) -> str:
    return (
        f"{found['filename']}: {found['trajectories']} trajectories with {found['steps']} steps "
        f"({found['format']}); stored as import {found['id']}, and not imported"
    )


def _labels(options: argparse.Namespace) -> None:
    more = {name: getattr(options, name) for name in ("annotator", "name", "subset")}
    with Client() as tristep:
        made = tristep.projects[options.project].imports.labels(
            options.file, _bar(f"sending {options.file.name}"), **more
        )
        found = tristep.imports[made].wait(progress=_bar("reading labels"))
    _say(
        options,
        f"{found['filename']}: labels of {found['created_count']} trajectories, {found['step_count']} steps",
    )
    _answer(options, found)


def _agreement(options: argparse.Namespace) -> None:
    with Client() as tristep:
        more = {"subset": options.subset} if options.subset else {}
        found = tristep.projects[options.project].agreement(**more)
    for row in figure_rows(found):
        if not row["by"]:
            ends = "" if row["low"] is None else f"[{row['low']:.3f}, {row['high']:.3f}]"
            value = row["reason"] if row["value"] is None else f"{row['value']:.4f} {ends}"
            _say(options, f"{row['figure']:24} {value:24} n {row['n']}")
    overall = found["overall"]
    _say(options, f"{overall['trajectories']} trajectories of {overall['annotators']} annotators")
    _answer(options, found)


def _freeze(options: argparse.Namespace) -> None:
    fields = {name: getattr(options, name) for name in ("version", "title", "licence", "note", "leave_out")}
    with Client() as tristep:
        releases = tristep.projects[options.project].releases
        tristep.freezes[releases.freeze(**fields)].wait(progress=_bar("freezing"))
        found = releases[options.version].get()
    _say(
        options,
        f"release {found['version']}: {found['record_count']} records, {found['label_count']} labels, "
        f"sha256 {found['digest']}",
    )
    _answer(options, found)


def _export(options: argparse.Namespace) -> None:
    target, name = options.output or Path(), f"{options.project}-{options.version}.zip"
    target = target / name if target.is_dir() else target
    more = {name: value for name in ("format", "split", "seed") if (value := getattr(options, name))}
    with Client() as tristep:
        release = tristep.projects[options.project].releases[options.version]
        place = release.download(target, _bar("downloading"), **more)
    _say(options, f"{place}: {place.stat().st_size:,} bytes")
    _answer(options, {"path": str(place), "size": place.stat().st_size})


def _score(options: argparse.Namespace) -> None:
    if options.files and not options.model:
        raise TristepError("Name the model whose predictions these are: --model NAME.")
    with Client() as tristep:
        release = tristep.projects[options.project].releases[options.version]
        for file in options.files:
            more = {"model": options.model, **({"subset": options.subset} if options.subset else {})}
            brought = release.predictions.create(file, _bar(f"sending {file.name}"), **more)
            _say(options, f"{file.name}: {brought['created']} new, {brought['unchanged']} unchanged records")
        board = release.leaderboard()
    for row in model_rows(board):
        if options.model in (None, row["model"]):
            figures = {name: value for name, value in row.items() if isinstance(value, float)}
            _say(options, row["model"])
            for name, value in figures.items():
                _say(options, f"  {name:40} {value:.4f}")
    _answer(options, board)


# ── What is printed ───────────────────────
def _say(options: argparse.Namespace, line: str) -> None:
    if not options.json:
        print(line)


def _answer(options: argparse.Namespace, answer: Any) -> None:
    if options.json:
        print(json.dumps(answer, ensure_ascii=False, indent=2))


def _failed(line: str) -> None:
    print(line, file=sys.stderr)


def _bar(title: str, width: int = 30) -> Progress | None:
    """A bar that grows on one line of a terminal; None where nobody looks."""
    if not sys.stderr.isatty():
        return None

    def draw(done: int, total: int) -> None:
        share = min(1.0, done / total) if total else 0.0
        bar = "█" * round(width * share)
        sys.stderr.write(f"\r{title} {bar:░<{width}} {done:,}" + (f" of {total:,}" if total else ""))
        sys.stderr.write("\n" if total and done >= total else "")
        sys.stderr.flush()

    return draw
