"""S3 as `moto` plays it, which makes every signature itself and refuses others: `make test-connections`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from annotation.models import Connection
from tests import people
from tests.connections.real import REAL, free_port, running
from tests.people import Cast
from tests.services.publishing import freeze

from .conftest import S3Side, live, records, transfer

# Run in moto's own environment. The calls of a new server that are let through unsigned are just these.
SET_UP = """
import json, sys, boto3
about = dict(endpoint_url=sys.argv[1], region_name="us-east-1")
about |= dict(aws_access_key_id="x", aws_secret_access_key="y")
iam = boto3.client("iam", **about)
iam.create_user(UserName="tristep")
policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}
iam.put_user_policy(UserName="tristep", PolicyName="all", PolicyDocument=json.dumps(policy))
key = iam.create_access_key(UserName="tristep")["AccessKey"]
boto3.client("s3", **about).create_bucket(Bucket="runs")
print(key["AccessKeyId"] + ":" + key["SecretAccessKey"])
"""
CALLS = "4"


class MotoSide(S3Side):
    """A bucket of a server that wants signatures; files go there by its own library."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = url, key
        self.allowed, self.address = f"{url}/runs", f"{url}/runs/agents+1"

    def _boto(self, script: str, *arguments: str, given: bytes = b"") -> bytes:
        key_id, _, secret = self.key.partition(":")
        about = f"endpoint_url={self.url!r}, region_name='us-east-1', aws_access_key_id={key_id!r}"
        head = f"import sys, boto3\ns3 = boto3.client('s3', {about}, aws_secret_access_key={secret!r})\n"
        command = [f"{REAL}/moto/bin/python", "-c", head + script, *arguments]
        return subprocess.run(command, input=given, check=True, capture_output=True).stdout

    def put(self, path: str, content: bytes) -> None:
        script = "s3.put_object(Bucket='runs', Key='agents+1/' + sys.argv[1], Body=sys.stdin.buffer.read())"
        self._boto(script, path, given=content)

    def names(self) -> list[str]:
        """The keys of the bucket."""
        script = "print(*(one['Key'] for one in s3.list_objects_v2(Bucket='runs')['Contents']), sep='\\n')"
        return self._boto(script).decode().splitlines()


@pytest.fixture
def moto(tmp_path: Path) -> Iterator[MotoSide]:
    """A server that holds signatures against its own."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [f"{REAL}/moto/bin/moto_server", "-p", str(port)]
    with running(command, f"{url}/moto-api/", tmp_path, INITIAL_NO_AUTH_ACTION_COUNT=CALLS):
        set_up = [f"{REAL}/moto/bin/python", "-c", SET_UP, url]
        key = subprocess.run(set_up, check=True, capture_output=True).stdout.decode().strip()
        yield MotoSide(url, key)


@pytest.mark.slow
def test_signed_calls_pull_and_push_and_others_are_refused(
    cast: Cast, moto: MotoSide, connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = connect(moto)
    monkeypatch.setenv("TRISTEP_CONNECTION_KEY_S", moto.key)
    moto.put("deep/ü b+c (1)~'.jsonl", records(0, 2))
    row = transfer(connection, "pull")
    assert (row.error, row.counts["files_new"], len(live())) == ("", 1, 2)
    assert transfer(connection, "pull").counts == {"files_known": 1}
    people.make_unanimous(cast, 2)
    freeze(cast.project)
    row = transfer(connection, "push", cast.admin)
    assert row.error == ""
    there = {name for name in moto.names() if "tristep-releases" in name}
    assert there == {f"agents+1/{file['name']}" for file in row.files} | {
        "agents+1/tristep-releases/bench/1.0/tristep-release.json"
    }
    assert transfer(connection, "push", cast.admin).counts.keys() == {"unchanged"}
    for wrong in (f"{moto.key}x", f"x{moto.key}"):
        monkeypatch.setenv("TRISTEP_CONNECTION_KEY_S", wrong)
        row = transfer(connection, "pull")
        assert row.error == "The key in $TRISTEP_CONNECTION_KEY_S was refused by the server (403)."
