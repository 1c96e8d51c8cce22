"""import_predictions PROJECT VERSION FILE… [--model NAME] [--subset NAME] [--no-fit]"""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from annotation.management.base import OperatorCommand, add_release, counted, existing_file, find_release
from annotation.policies import OPERATOR
from annotation.services import evaluate


class Command(OperatorCommand):
    help = "Import what models predict of a release, each file as a whole or not at all; fit once at the end."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_release(parser)
        parser.add_argument("files", metavar="FILE", nargs="+")
        parser.add_argument(
            "--model", default=None, metavar="NAME", help="whose predictions these are; else each file's name"
        )
        parser.add_argument("--subset", default="", help="look for the records in this subset only")
        parser.add_argument(
            "--strict", action="store_true", help="refuse a file with records that the release lacks"
        )
        parser.add_argument(
            "--no-fit", action="store_true", help="put recalibration off until another file is imported"
        )
        parser.add_argument("--prompt-version", default=None, metavar="TEXT", help="what it was asked with")
        parser.add_argument(
            "--date", type=_date, default=None, metavar="YYYY-MM-DD", help="when it was asked"
        )
        parser.add_argument("--cost", type=_cost, default=None, metavar="USD", help="what all of it cost")

    def run(self, **options: Any) -> None:
        release = find_release(options["project"], options["release_version"])
        about = evaluate.PredictionSetDetails(options["prompt_version"], options["date"], options["cost"])
        paths = [existing_file(name) for name in options["files"]]
        results = evaluate.import_prediction_files(
            actor=OPERATOR,
            release=release,
            sources=_sources(paths, options["model"]),
            subset=options["subset"],
            about=about,
            strict=options["strict"],
            put_off_fit=True,
        )
        for path, result in zip(paths, results, strict=True):
            counts = (
                (result.missing, "missing label", ""),
                (result.invalid, "invalid label", ""),
                (result.failed, "failed judgement", ""),
                (result.superseded, "line", " replaced by a newer one"),
                (result.unlabelled, "record", " of the unlabelled part"),
                (result.elsewhere, "line", " about records that the release lacks, left out"),
            )
            wrong = "".join(f", {counted(n, noun)}{rest}" for n, noun, rest in counts if n)
            self.summary(
                f"{path.name}: {counted(result.created, 'record')} predicted by "
                f"{result.prediction_set.model}, {result.unchanged:,} unchanged{wrong}."
            )
        if not options["no_fit"] and not evaluate.is_fitted(release):
            # here and now, so that a leaderboard right after this has everything, worker or not
            evaluate.fit_release(release_id=release.pk)
            self.summary("Recalibrated judges, the stacked one and the trained baseline are worked out.")


def _sources(paths: Iterable[Path], model: str | None) -> Iterator[evaluate.PredictionSource]:
    """The files one after the other, each open as long as it is read."""
    for path in paths:
        with path.open("rb") as stream:
            yield evaluate.PredictionSource(model or path.stem, path.name, stream)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is not a date; write YYYY-MM-DD.") from error


def _cost(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ArgumentTypeError(f"{text} is not an amount.") from error
