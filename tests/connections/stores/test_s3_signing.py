"""Signatures against the examples that AWS has published."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

import pytest

from annotation.connections.s3_signing import S3Signer, region_of

# "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk", Amazon S3 API
# Reference, the section of examples
KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
MOMENT, SERVER = "20130524T000000Z", "https://examplebucket.s3.amazonaws.com"
EMPTY = sha256(b"").hexdigest()
WELCOME = sha256(b"Welcome to Amazon S3.").hexdigest()


@pytest.mark.parametrize(
    ("method", "path", "more", "digest", "signature"),
    [
        (
            "GET",
            "/test.txt",
            {"Range": "bytes=0-9"},
            EMPTY,
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
        ),
        (
            "PUT",
            "/test%24file.text",
            {"Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"},
            WELCOME,
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
        ),
        ("GET", "/?lifecycle", {}, EMPTY, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        (
            "GET",
            "/?max-keys=2&prefix=J",
            {},
            EMPTY,
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
        ),
    ],
)
def test_signature_is_the_published_one(
    method: str, path: str, more: dict[str, str], digest: str, signature: str
) -> None:
    own = {**more, "x-amz-content-sha256": digest, "x-amz-date": MOMENT}
    made = S3Signer(KEY, SECRET).headers(method, SERVER + path, own)
    assert made["Authorization"].endswith(f"Signature={signature}")
    assert f"Credential={KEY}/20130524/us-east-1/s3/aws4_request" in made["Authorization"]


def test_call_is_signed_for_the_moment_it_is_made_and_only_with_a_key() -> None:
    sign = S3Signer(KEY, SECRET, now=lambda: datetime(2013, 5, 24, tzinfo=UTC))
    made = sign("GET", f"{SERVER}/?max-keys=2&prefix=J", None)
    assert made["x-amz-date"] == MOMENT and made["Authorization"].endswith("ed5711ef69dc6f7")
    assert SECRET not in repr(sign) + repr(made)
    assert S3Signer("", "")("GET", SERVER, None) == {}


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("s3.eu-central-1.amazonaws.com", "eu-central-1"),
        ("s3.dualstack.ap-southeast-2.amazonaws.com", "ap-southeast-2"),
        ("s3.us-gov-west-1.amazonaws.com", "us-gov-west-1"),
        ("s3.amazonaws.com", "us-east-1"),
        ("storage.googleapis.com", "us-east-1"),
        ("localhost", "us-east-1"),
    ],
)
def test_region_is_the_one_in_the_name_of_the_server(host: str, region: str) -> None:
    assert region_of(host) == region
