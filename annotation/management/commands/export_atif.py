"""export_atif PROJECT [--subset NAME] [--out FILE]"""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.core.kinds import Feature
from annotation.management.base import OperatorCommand, add_project, counted, find_project
from annotation.models import Trajectory
from annotation.reports.releases.atif_documents import atif_documents


class Command(OperatorCommand):
    help = "Write the trajectories of a project as ATIF documents with their consensus, one a line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("--subset", default="", help="only this subset")
        parser.add_argument("--out", metavar="FILE", default="", help="a file that is made (default: stdout)")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        project.of_kind.require(Feature.ATIF)
        rows = Trajectory.objects.filter(project=project, live=True).select_related("content")
        if options["subset"]:
            rows = rows.filter(subset__name=options["subset"])
        if not options["out"]:
            for document in atif_documents(rows.iterator(chunk_size=100)):
                self.stdout.write(json.dumps(document))
            return
        path, count = Path(options["out"]), 0
        try:
            with path.open("x", encoding="ascii", newline="\n") as out:
                for document in atif_documents(rows.iterator(chunk_size=100)):
                    out.write(json.dumps(document) + "\n")
                    count += 1
        except FileExistsError:
            raise CommandError(f"{path} is there already.") from None
        self.summary(f"{path}: {counted(count, 'trajectory')}.")
