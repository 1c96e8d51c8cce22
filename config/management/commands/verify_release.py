"""verify_release PROJECT VERSION | --path DIR [--key FILE]"""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.core.releases.signatures import PublicKey
from annotation.core.vocabulary import SignatureState
from annotation.management.base import OperatorCommand, counted, existing_file, find_release
from annotation.policies import OPERATOR
from annotation.services import release


class Command(OperatorCommand):
    help = "Recompute every checksum of a release or an exported folder, and check its signature."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", nargs="?", default="")
        parser.add_argument("release_version", metavar="VERSION", nargs="?", default="")
        parser.add_argument("--path", default="", metavar="DIR", help="an exported folder instead")
        parser.add_argument(
            "--key",
            default="",
            metavar="FILE",
            help="the public key (PEM) that must have signed it; without, one that is known here",
        )

    def run(self, **options: Any) -> None:
        if bool(options["path"]) == bool(options["release_version"]):
            raise CommandError("Name a project and a version, or a folder with --path.")
        key = _public_key(options["key"]) if options["key"] else None
        if options["path"]:
            what = options["path"]
            result = release.verify_export(path=Path(what), key=key)
        else:
            frozen = find_release(options["project"], options["release_version"])
            what = f"Release {frozen.version}"
            result = release.verify(actor=OPERATOR, release=frozen, key=key)
        for problem in result.problems:
            self.stderr.write(problem)
        if result.signature == SignatureState.UNKNOWN_KEY and len(result.problems) == 1:
            raise CommandError(
                f"{what} is complete, but not signed with a key that is known here; see --key."
            )
        if not result.ok:
            raise CommandError(f"{what} is NOT what was frozen.")
        self.summary(
            f"{what} is intact: {counted(result.records, 'record')}, {counted(result.labels, 'step label')}, "
            f"digest {result.digest}; signed with the key {result.fingerprint}."
        )


def _public_key(name: str) -> PublicKey:
    try:
        return PublicKey.of(existing_file(name).read_bytes())
    except ValueError as error:
        raise CommandError(f"{name} is not a public release key (PEM, Ed25519).") from error
