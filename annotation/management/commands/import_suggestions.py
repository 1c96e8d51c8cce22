"""import_suggestions PROJECT FILE --judge NAME [--subset NAME]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_label_file, existing_file, find_project
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
            ("missing labels", result.missing),
            ("invalid labels", result.invalid),
            ("labels for no step", result.extra),
            ("failed judgements", result.failed),
        )
        wrong = "".join(f", {count:,} {what}" for what, count in counts if count)
        self.summary(
            f"{path.name}: {result.created:,} trajectories suggested by {result.judge.name} "
            f"({result.labels:,} steps), {result.unchanged:,} unchanged{wrong}."
        )
