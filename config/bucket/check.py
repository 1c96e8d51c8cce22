"""Whether the bucket of imports can be used, asked once when a server begins."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.files.storage import storages

log = logging.getLogger(__name__)


def problem() -> str | None:
    """The fault of the bucket, in a sentence; None without a bucket, or when all is well.

    A server that refuses is a wrong setting. One that does not answer may come back: people label
    meanwhile, and only uploads wait.
    """
    stored: dict[str, object] = settings.STORAGES["default"]
    if stored["BACKEND"] != "config.bucket.storage.Bucket":
        return None
    from botocore.exceptions import BotoCoreError, ClientError, ConnectionError, HTTPClientError

    from config.bucket.storage import Bucket, answer

    # of its own: processes that are forked afterwards must not share its connections
    bucket = storages.create_storage(stored)
    assert isinstance(bucket, Bucket)
    try:
        bucket.probe()
    except ClientError as error:
        return (
            f"TRISTEP_FILES_BUCKET: the server refuses the bucket {bucket.bucket_name} ({answer(error)}); "
            "check its name, TRISTEP_FILES_ENDPOINT, TRISTEP_FILES_REGION and TRISTEP_FILES_KEY."
        )
    except (ConnectionError, HTTPClientError) as error:
        log.error(
            "TRISTEP_FILES_BUCKET: %s does not answer (%s); until it does, nothing can be imported.",
            bucket.endpoint_url or "the server",
            type(error).__name__,
        )
    except BotoCoreError as error:
        return (
            f"TRISTEP_FILES_BUCKET: the bucket {bucket.bucket_name} cannot be used ({type(error).__name__})."
        )
    return None
