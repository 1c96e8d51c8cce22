"""Prompts of a release, at the command line: `export_release --prompts NAME`."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from tqdm import tqdm

from annotation.core.asking import settings as limits
from annotation.core.asking.settings import PromptSettings
from annotation.core.errors import Conflict
from annotation.core.releases.exports.options import seed_of, share
from annotation.core.vocabulary import PromptSetState
from annotation.models import PromptSet, Release
from annotation.policies import OPERATOR
from annotation.services import asking

from .base import existing_file

FILE = "prompts.jsonl"


def add_prompts(parser: ArgumentParser) -> None:
    """The arguments about prompts, besides --split and --seed."""
    parser.add_argument(
        "--prompts",
        metavar="NAME",
        help=f"in place of the release {FILE}: prompts that ask its questions, made and kept under this name",
    )
    parser.add_argument(
        "--shots",
        metavar="N",
        type=int,
        default=limits.SHOTS,
        help=f"of prompts: examples in each, at most {limits.MAX_SHOTS} (default {limits.SHOTS})",
    )
    parser.add_argument(
        "--tokens",
        metavar="N",
        type=int,
        default=limits.TOKENS,
        help=f"of a prompt, at most, estimated (default {limits.TOKENS})",
    )
    parser.add_argument(
        "--template",
        metavar="SUBSET=FILE",
        action="append",
        default=[],
        help="of prompts: your own text for a subset, with {{examples}}, and after it {{history}} and "
        "{{options}}",
    )


def export_prompts(release: Release, options: dict[str, Any]) -> PromptSet:
    """Make the prompts that were asked for, unless they are made, and write them into the folder `output`.
    Raises Conflict where they cannot be made, Invalid for what cannot be asked for."""
    wanted = PromptSettings.of(
        shots=options["shots"],
        seed=seed_of(options["seed"] or 0),
        split=share(options["split"] or limits.SPLIT),
        tokens=options["tokens"],
        templates=dict(map(_template, options["template"])),
    )
    row = asking.make_prompts(
        actor=OPERATOR, release=release, name=options["prompts"], options=wanted, enqueue=False
    )
    with tqdm(total=row.progress_total, leave=False, disable=not sys.stderr.isatty()) as bar:
        row = asking.run_prompts(set_id=row.pk, progress=lambda done, _: bar.update(done - bar.n))
    if row.state != PromptSetState.MADE:
        raise Conflict(row.error or "These prompts are being made by another process.")
    output = Path(options["output"])
    output.mkdir(parents=True, exist_ok=True)
    part = output / f".{FILE}.part"
    try:
        with part.open("wb") as out:
            out.writelines(asking.prompt_lines(actor=OPERATOR, row=row))
        part.replace(output / FILE)
    finally:
        part.unlink(missing_ok=True)
    return row


def _template(given: str) -> tuple[str, str]:
    subset, equals, name = given.partition("=")
    if not equals:
        raise CommandError(f"--template takes SUBSET=FILE, and not {given}.")
    try:
        return subset, existing_file(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{name} is not UTF-8.") from error
