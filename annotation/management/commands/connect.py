"""connect PROJECT NAME --kind mlflow|phoenix|langfuse|langsmith|s3|huggingface|folder --address URL
--source NAME [--key VARIABLE] [--filter TEXT] [--format FORMAT] [--export-format FORMAT] [--subset NAME]
[--push-notes]"""

from argparse import ArgumentParser
from typing import Any

from annotation.connections import KINDS
from annotation.core.releases.exports import BY_NAME
from annotation.importers import FORMATS
from annotation.management.base import OperatorCommand, add_project, find_project
from annotation.policies import OPERATOR
from annotation.services import connections


class Command(OperatorCommand):
    help = "Connect a project to a server where runs lie, or to files (docs/connections.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project(parser)
        parser.add_argument("name")
        parser.add_argument("--kind", required=True, choices=list(KINDS))
        parser.add_argument("--address", required=True, metavar="URL", help="one that the operator allows")
        parser.add_argument(
            "--source",
            required=True,
            metavar="NAME",
            help="experiment or project there; of a store a pattern of files",
        )
        parser.add_argument("--key", default="", metavar="VARIABLE", help="the variable that holds the key")
        parser.add_argument(
            "--filter", default="", metavar="TEXT", help="which traces, as the server takes it"
        )
        parser.add_argument("--format", default="", choices=["", *FORMATS], help="of the files of a store")
        parser.add_argument(
            "--export-format",
            default="",
            choices=["", *BY_NAME],
            help="what releases are pushed to a store as",
        )
        parser.add_argument("--subset", default="runs", metavar="NAME", help="what is pulled comes into it")
        parser.add_argument("--push-notes", action="store_true", help="push notes of adjudicators too")

    def run(self, **options: Any) -> None:
        made = connections.create_connection(
            actor=OPERATOR,
            project=find_project(options["project"]),
            kind=options["kind"],
            name=options["name"],
            base_url=options["address"],
            key_name=options["key"],
            source=options["source"],
            filter=options["filter"],
            subset=options["subset"],
            push_reasons=options["push_notes"],
            **{name: options[name] for name in ("format", "export_format") if options[name]},
        )
        self.summary(f"{made.name} is connected.")
