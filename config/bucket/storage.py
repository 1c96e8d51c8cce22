"""Files of imports in a bucket of an S3-compatible server, with one sentence for all that can go wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

from annotation.core.errors import Unavailable
from annotation.core.i18n import translatable

log = logging.getLogger(__name__)

# A file is sent and fetched in parts of this size, one after the other: the memory that it takes at a time.
PART_BYTES: Final = 8 * 1024**2


def answer(error: Exception) -> str:
    """The server's short name for what it refuses ("NoSuchBucket"); empty when no server answered."""
    response: Any = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))


@contextmanager
def _in_a_sentence() -> Iterator[None]:
    """Unavailable in place of the libraries' exceptions, whose texts hold addresses and ids of keys."""
    try:
        yield
    except (BotoCoreError, Boto3Error, ClientError) as error:
        log.error("The store of files fails", extra={"kind": type(error).__name__, "answer": answer(error)})
        sentence = translatable("The store of uploaded files cannot be reached; try again in a few minutes.")
        raise Unavailable(sentence, code="files_away") from error


class Bucket(S3Storage):
    """A bucket, or what of it begins with `location`; no two instances may share both."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            transfer_config=TransferConfig(
                multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, use_threads=False
            ),
            client_config=Config(
                signature_version="s3v4",
                # servers of one's own have no name for each bucket
                s3={"addressing_style": "path" if options.get("endpoint_url") else "auto"},
                connect_timeout=3,
                read_timeout=30,
                retries={"mode": "standard", "total_max_attempts": 2},
                # what every server understands; an import compares a checksum of its own
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
            ),
            # what is read lies on disk; names are used once, so that none has to be asked for
            **{"max_memory_size": 1024**2, "file_overwrite": True, **options},
        )

    def probe(self) -> None:
        """Ask for one name, as reading and clearing up do. Raises the libraries' exceptions."""
        self.connection.meta.client.list_objects_v2(
            Bucket=self.bucket_name, Prefix=f"{self.location}/", MaxKeys=1
        )

    def _open(self, name: str, mode: str = "rb") -> Any:
        with _in_a_sentence():
            file = super()._open(name, mode)
            # fetched now, and not at the first read, where nobody would expect it
            _fetched = file.file
            return file

    def _save(self, name: str, content: Any) -> str:
        with _in_a_sentence():
            return str(super()._save(name, content))

    def delete(self, name: str) -> None:
        """Delete a file, if it is there."""
        with _in_a_sentence():
            super().delete(name)

    def listdir(self, name: str) -> tuple[list[str], list[str]]:
        """Folders and files."""
        with _in_a_sentence():
            folders, files = super().listdir(name)
            return list(folders), list(files)

    def get_modified_time(self, name: str) -> datetime:
        """The time at which it was stored."""
        with _in_a_sentence():
            try:
                modified: datetime = super().get_modified_time(name)
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404:
                    raise FileNotFoundError(name) from error
                raise
            return modified
