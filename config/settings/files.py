"""The variables of the bucket that holds the files of imports (docs/machines.md), read together."""

from __future__ import annotations

import importlib.util
from typing import Any
from urllib.parse import urlsplit

from config.env import BadEnvironment, Env

BUCKET = "TRISTEP_FILES_BUCKET"
ENDPOINT = "TRISTEP_FILES_ENDPOINT"
KEY = "TRISTEP_FILES_KEY"
PREFIX = "TRISTEP_FILES_PREFIX"
REGION = "TRISTEP_FILES_REGION"


def read(env: Env) -> dict[str, Any]:
    """Django's storage of files: a folder of this machine without a bucket. Raises BadEnvironment."""
    bucket = env.text(BUCKET)
    endpoint, key = env.text(ENDPOINT), env.text(KEY)
    if not bucket:
        for name in (ENDPOINT, KEY, PREFIX, REGION):
            if env.text(name):
                raise BadEnvironment(f"{name} is set, but {BUCKET} is not: files would stay on this machine.")
        return {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    if importlib.util.find_spec("storages") is None or importlib.util.find_spec("boto3") is None:
        raise BadEnvironment(
            f"{BUCKET} needs the extra s3, which is not installed here: pip install 'tristep[s3]', or from a "
            "checkout the packages of requirements-s3.lock."
        )
    key_id, colon, secret = key.partition(":")
    if key and not (key_id and colon and secret):
        raise BadEnvironment(f"{KEY} must look like ID:SECRET.")
    if endpoint and (urlsplit(endpoint).scheme not in {"http", "https"} or not urlsplit(endpoint).netloc):
        raise BadEnvironment(f"{ENDPOINT} must begin http:// or https://, not {endpoint!r}.")
    options: dict[str, Any] = {
        "bucket_name": bucket,
        "location": env.text(PREFIX, "imports").strip("/"),
        "region_name": env.text(REGION) or None,
        "endpoint_url": endpoint or None,
    }
    if key:
        options |= {"access_key": key_id, "secret_key": secret}
    return {"BACKEND": "config.bucket.storage.Bucket", "OPTIONS": options}
