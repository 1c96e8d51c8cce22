"""import_labels PROJECT FILE --annotator USERNAME [--subset NAME]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, add_label_file, counted, existing_file, find_project
from annotation.policies import OPERATOR
from annotation.services import label


class Command(OperatorCommand):
    help = "Import a person's finished labels as submitted assignments; account and membership are made."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_label_file(parser)
        parser.add_argument("--annotator", required=True, metavar="USERNAME")

    def run(self, **options: Any) -> None:
        path = existing_file(options["file"])
        with path.open("rb") as stream:
            result = label.import_labels(
                actor=OPERATOR,
                project=find_project(options["project"]),
                annotator=options["annotator"],
                stream=stream,
                filename=path.name,
                subset=options["subset"],
            )
        self.summary(
            f"{path.name}: {counted(result.created, 'trajectory')} labelled by {options['annotator']} "
            f"({counted(result.labels, 'step')}), {result.unchanged:,} unchanged."
        )
