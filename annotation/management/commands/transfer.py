"""transfer PROJECT CONNECTION pull|push [--dry-run] [--versions SUBSET] [--json]"""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.core.vocabulary import Direction, TransferState
from annotation.management.base import OperatorCommand, add_project, find_project
from annotation.models import Connection
from annotation.policies import OPERATOR
from annotation.services import connections, ingest


class Command(OperatorCommand):
    help = "Pull new traces over a connection, or push the consensus to their spans."

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
            enqueue=False,
        )
        row = connections.run_transfer(transfer_id=row.pk)
        if row.state != TransferState.DONE:
            raise CommandError(row.error or "The transfer was stopped.")
        if row.imported_id:
            ingest.run_import(source_id=row.imported_id)
        if options["json"]:
            self.document({"counts": row.counts, "left_out": row.left_out})
        else:
            for one in row.left_out:
                self.stdout.write(f"{one['id']}: {one['reason']}")
        counts = ", ".join(f"{name} {number:,}" for name, number in sorted(row.counts.items()) if number)
        self.summary(f"{row.direction}{' (dry run)' if row.dry else ''}: {counts or 'nothing'}.")
