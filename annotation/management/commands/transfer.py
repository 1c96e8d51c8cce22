"""transfer PROJECT CONNECTION pull|push [--dry-run] [--versions SUBSET] [--release VERSION] [--json]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.core.vocabulary import Direction, TransferState
from annotation.management.base import OperatorCommand, add_project, find_project, find_release
from annotation.models import Connection
from annotation.policies import OPERATOR
from annotation.services import connections, ingest


class Command(OperatorCommand):
    help = "Pull what is new over a connection; push the consensus, or a release to a store."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("connection", help="its name")
        parser.add_argument("direction", choices=[direction.value for direction in Direction])
        parser.add_argument("--dry-run", action="store_true", help="say what it would bring, and do nothing")
        parser.add_argument(
            "--versions",
            default="",
            metavar="SUBSET",
            help="pull into this subset what has changed since it was labelled, and nothing else",
        )
        parser.add_argument(
            "--release",
            default="",
            metavar="VERSION",
            help="push this release to a store (default: the newest)",
        )
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")

    def run(self, **options: Any) -> None:
        project = find_project(options["project"])
        connection = Connection.objects.filter(project=project, name=options["connection"]).first()
        if connection is None:
            raise CommandError(f"The project has no connection called “{options['connection']}”.")
        row = connections.ask_for(
            actor=OPERATOR,
            connection=connection,
            direction=options["direction"],
            dry=options["dry_run"],
            subset=options["versions"],
            versions=bool(options["versions"]),
            release=find_release(options["project"], options["release"]) if options["release"] else None,
            enqueue=False,
        )
        row = connections.run_transfer(transfer_id=row.pk)
        if row.state != TransferState.DONE:
            raise CommandError(row.error or "The transfer was stopped.")
        imports = [pk for file in row.files for pk in file.get("imports", ())]
        for pk in imports or filter(None, [row.imported_id]):
            ingest.run_import(source_id=pk)
        if options["json"]:
            self.document({"counts": row.counts, "left_out": row.left_out, "files": row.files})
        else:
            for file in row.files:
                self.stdout.write(f"{file['name']}: {file['what']}")
            for one in row.left_out:
                self.stdout.write(f"{one['id']}: {one['reason']}")
        counts = ", ".join(f"{name} {number:,}" for name, number in sorted(row.counts.items()) if number)
        self.summary(f"{row.direction}{' (dry run)' if row.dry else ''}: {counts or 'nothing'}.")
