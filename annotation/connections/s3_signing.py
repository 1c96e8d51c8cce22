"""Signature Version 4 of AWS for S3, which GCS and other stores take too.

Source: "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk", Amazon
S3 API Reference. Only `host` and the headers made here are signed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

ALGORITHM: Final = "AWS4-HMAC-SHA256"
DEFAULT_REGION: Final = "us-east-1"
_REGION: Final = re.compile(r"s3[.-](?:dualstack\.)?([a-z]{2}(?:-[a-z]+)+-[0-9]+)\.")


def region_of(host: str) -> str:
    """The region in the name of a server of AWS; of others, which take any or this one, us-east-1."""
    matched = _REGION.match(host)
    return matched[1] if matched else DEFAULT_REGION


def _now() -> datetime:
    return datetime.now(UTC)


class S3Signer:
    """Signs calls with a key and its secret. Anonymous with both empty."""

    def __init__(self, key: str, secret: str, *, now: Callable[[], datetime] = _now) -> None:
        self._key = key
        self._secret = secret
        self._now = now

    def __repr__(self) -> str:
        return "S3Signer()"

    def __call__(self, method: str, url: str, content: bytes | None) -> Mapping[str, str]:
        """The headers that authorise a call; `url` has its query sorted and quoted."""
        if not self._key:
            return {}
        digest = hashlib.sha256(content or b"").hexdigest()
        moment = self._now().strftime("%Y%m%dT%H%M%SZ")
        return self.headers(method, url, {"x-amz-content-sha256": digest, "x-amz-date": moment})

    def headers(self, method: str, url: str, own: Mapping[str, str]) -> Mapping[str, str]:
        """`own` (x-amz-content-sha256 and x-amz-date among them) with the signature over them."""
        parts = urlsplit(url)
        signed = {name.lower(): value.strip() for name, value in own.items()} | {"host": parts.netloc}
        names = ";".join(sorted(signed))
        request = "\n".join(
            [
                method,
                parts.path or "/",
                _query(parts.query),
                *(f"{name}:{signed[name]}" for name in sorted(signed)),
                "",
                names,
                signed["x-amz-content-sha256"],
            ]
        )
        moment = signed["x-amz-date"]
        scope = f"{moment[:8]}/{region_of(parts.hostname or '')}/s3/aws4_request"
        to_sign = "\n".join([ALGORITHM, moment, scope, hashlib.sha256(request.encode()).hexdigest()])
        key = f"AWS4{self._secret}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.digest(key, to_sign.encode(), "sha256").hex()
        authorised = f"{ALGORITHM} Credential={self._key}/{scope},SignedHeaders={names},Signature={signature}"
        return {**own, "Authorization": authorised}


def _query(query: str) -> str:
    pairs = [pair if "=" in pair else f"{pair}=" for pair in query.split("&") if pair]
    return "&".join(sorted(pairs))
