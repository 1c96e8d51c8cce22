"""release_key [show | rotate | trust FILE]"""

from argparse import ArgumentParser
from typing import Any

from annotation.management.base import OperatorCommand, existing_file
from annotation.services.release import keys


class Command(OperatorCommand):
    help = "Print the public key that vouches for releases; sign with a new one; or trust another's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action")
        actions.add_parser("show", help="print the public key (PEM); made when there is none")
        actions.add_parser(
            "rotate", help="sign with a new key; the old one stays trusted, and signs nothing more"
        )
        trust = actions.add_parser("trust", help="believe releases signed with this public key, too")
        trust.add_argument("file", metavar="FILE")

    def run(self, **options: Any) -> None:
        if options["action"] == "rotate":
            old, new = keys.rotate()
            self.summary(f"Releases are signed with the key {new.fingerprint} now, not {old.fingerprint}.")
        elif options["action"] == "trust":
            key = keys.trust(existing_file(options["file"]).read_bytes())
            self.summary(f"Releases signed with the key {key.fingerprint} are believed.")
        else:
            key = keys.signing_key().public
            self.stdout.write(key.pem.decode(), ending="")
            self.summary(f"Fingerprint {key.fingerprint}.")
