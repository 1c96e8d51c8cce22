"""diff_releases PROJECT OLD NEW [--json]"""

from argparse import ArgumentParser
from typing import Any

from annotation.core.releases.diff_json import change_json
from annotation.management.base import OperatorCommand, add_project, counted, find_release
from annotation.policies import OPERATOR
from annotation.services.release import compare, diff_as_json


class Command(OperatorCommand):
    help = "What changed from one release to another: a changelog, or everything as JSON."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("old", metavar="OLD", help="the version to compare with")
        parser.add_argument("new", metavar="NEW", help="the version that is described")
        parser.add_argument(
            "--json", action="store_true", help="one JSON document on stdout, with every change"
        )

    def run(self, **options: Any) -> None:
        old, new = (find_release(options["project"], options[name]) for name in ("old", "new"))
        comparison = compare(actor=OPERATOR, old=old, new=new)
        if options["json"]:
            diff = comparison.diff
            changes = [change_json(one._replace(labels=diff.labels_of(one))) for one in diff.changes]
            self.document({**diff_as_json(comparison), "changes": changes})
        else:
            self.stdout.write(comparison.changelog(), ending="")
        records, labels = comparison.diff.whole.records, comparison.diff.whole.labels
        self.summary(
            f"{old.version} → {new.version}: {records['added']:,} added, {records['removed']:,} removed, "
            f"{counted(labels, 'step label')} and {counted(records['outcome'], 'outcome')} changed."
        )
