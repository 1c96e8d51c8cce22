"""import_suggestions PROJECT FILE --judge NAME [--subset NAME]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_label_file, counted, existing_file, find_project
from annotation.policies import OPERATOR
from annotation.services import suggest


class Command(OperatorCommand):
    help = "Import a file of predictions as the suggestions of a judge, which is made when it is missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_label_file(parser)
        parser.add_argument("--judge", required=True, metavar="NAME")

    def run(self, **options: Any) -> None:
        path = existing_file(options["file"])
        with path.open("rb") as stream:
            result = suggest.import_suggestions(
                actor=OPERATOR,
                project=find_project(options["project"]),
                judge_name=options["judge"],
                stream=stream,
                filename=path.name,
                subset=options["subset"],
            )
        counts = (
            (result.missing, "missing label", ""),
            (result.invalid, "invalid label", ""),
            (result.extra, "label", " for no step"),
            (result.failed, "failed judgement", ""),
        )
        wrong = "".join(f", {counted(n, noun)}{rest}" for n, noun, rest in counts if n)
        self.summary(
            f"{path.name}: {counted(result.created, 'trajectory')} suggested by {result.judge.name} "
            f"({counted(result.labels, 'step')}), {result.unchanged:,} unchanged{wrong}."
        )
