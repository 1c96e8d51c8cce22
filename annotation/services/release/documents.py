"""The files that go with every export of a release."""

from contextlib import suppress

from annotation.core.releases.record_format import MANIFEST, PUBLIC_KEY, SIGNATURE, manifest_file
from annotation.models import Release

from .signatures import Signature


def documents(release: Release) -> dict[str, bytes]:
    """The files that go with an export, by name: the manifest, and where they can be read its signature and
    the public key of that."""
    files = {MANIFEST: manifest_file(release.parsed_manifest())}
    if release.signature is not None:
        with suppress(ValueError):
            signature = Signature.parse(release.signature)
            files |= {SIGNATURE: signature.signature, PUBLIC_KEY: signature.key.pem}
    return files
