"""Stores with files: a folder, and an S3-compatible server that is really started."""

from __future__ import annotations

import hashlib
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from annotation.core.vocabulary import ImportState
from annotation.models import Connection, ImportFile, Release, Trajectory, Transfer
from annotation.services import connections, ingest
from tests import people
from tests.connections.real import REAL
from tests.people import OPERATOR, Cast
from tests.services.publishing import freeze

from .fake_hub import TOKEN, FakeHub, fake_hub

collect_ignore = [] if REAL else ["test_moto.py"]
ID, SECRET = "AKTRISTEPTEST", "canary-store-4Zp0-qY/aa+b"
KEY = f"{ID}:{SECRET}"
HUB_NAME = "our-lab/steps"


class StoreSide(Protocol):
    """A store from its own side: files by their path below the address of the connection."""

    kind: str
    address: str
    allowed: str
    key_name: str

    def put(self, path: str, content: bytes) -> None:
        """A file, new or in place of another."""

    def files(self) -> dict[str, bytes]:
        """All that is there."""


class FolderSide:
    """A folder below one that the operator allows."""

    kind = "folder"
    key_name = ""

    def __init__(self, root: Path) -> None:
        self.root = root / "runs"
        self.root.mkdir(parents=True)
        self.allowed = f"file://{root}"
        self.address = f"file://{self.root}/"

    def put(self, path: str, content: bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(content)

    def files(self) -> dict[str, bytes]:
        found = [path for path in self.root.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.root)): path.read_bytes() for path in found}


class S3Side:
    """A folder of a bucket on a server that keeps buckets as folders (`localbucket`)."""

    kind = "s3"
    key_name = "TRISTEP_CONNECTION_KEY_S"

    def __init__(self, url: str, bucket: str) -> None:
        self.url = url
        self.allowed = f"{url}/{bucket}"
        self.address = f"{url}/{bucket}/all runs".replace(" ", "-")
        self._call("PUT", f"{url}/{bucket}")

    @staticmethod
    def _call(method: str, url: str, data: bytes | None = None) -> bytes:
        request = urllib.request.Request(url, data, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())

    def put(self, path: str, content: bytes) -> None:
        self._call("PUT", f"{self.address}/{urllib.request.quote(path)}", content)  # type: ignore[attr-defined]

    def files(self) -> dict[str, bytes]:
        import xml.etree.ElementTree as Xml

        bucket = self.allowed
        found = Xml.fromstring(self._call("GET", f"{bucket}?list-type=2"))
        keys = [one.text or "" for one in found.iter() if one.tag.endswith("}Key") or one.tag == "Key"]
        return {
            key.removeprefix("all-runs/"): self._call("GET", f"{bucket}/{urllib.request.quote(key)}")  # type: ignore[attr-defined]
            for key in keys
        }


@pytest.fixture
def s3(request: pytest.FixtureRequest) -> S3Side:
    """A bucket."""
    server = request.getfixturevalue("s3_server")
    return S3Side(server, "b" + hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:20])


@pytest.fixture
def folder(tmp_path: Path) -> FolderSide:
    """A folder."""
    return FolderSide(tmp_path / "data")


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest) -> Any:
    """A store of each kind."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def connect(cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Connection]:
    """Makes a connection of the project to a store."""
    monkeypatch.setenv("TRISTEP_CONNECTION_KEY_S", KEY)

    def made(side: StoreSide, **values: Any) -> Connection:
        settings.CONNECTION_URLS = [side.allowed]
        told = {
            "name": f"Files of {side.kind}",
            "base_url": side.address,
            "source": "**/*.jsonl",
            "key_name": side.key_name,
            "subset": "runs",
        }
        return connections.create_connection(
            actor=cast.admin, project=cast.project, kind=side.kind, **told | values
        )

    return made


def transfer(connection: Connection, direction: str, actor: Any = OPERATOR, **more: Any) -> Transfer:
    """A transfer run to its end in this process, with the imports that it starts."""
    row = connections.ask_for(actor=actor, connection=connection, direction=direction, enqueue=False, **more)
    row = connections.run_transfer(transfer_id=row.pk)
    begun = [pk for file in row.files for pk in file.get("imports", ())]
    # a worker is sent those that are queued, and no others
    queued = ImportFile.objects.filter(pk__in=begun, state=ImportState.QUEUED)
    for pk in queued.order_by("pk").values_list("pk", flat=True):
        ingest.run_import(source_id=pk)
    return row


@pytest.fixture
def frozen(cast: Cast) -> Release:
    """A release of two trajectories."""
    people.import_records(cast.project, 2)
    people.make_unanimous(cast, 2)
    return freeze(cast.project)


def records(first: int, last: int, **changes: Any) -> bytes:
    return people.jsonl(people.make_record(number, **changes) for number in range(first, last))


def live(subset: str = "runs") -> list[str]:
    rows = Trajectory.objects.filter(live=True, subset__name=subset)
    return sorted(rows.values_list("record_id", flat=True))


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    """An empty hub."""
    with fake_hub() as made:
        yield made


@pytest.fixture
def connect_hub(
    cast: Cast, hub: FakeHub, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Connection]:
    """Makes a connection of the project to the data set."""
    monkeypatch.setenv("TRISTEP_CONNECTION_KEY_H", TOKEN)
    settings.CONNECTION_URLS = [f"{hub.url}/datasets/our-lab", hub.cdn]

    def made(**values: Any) -> Connection:
        told = {
            "name": "Hub",
            "base_url": f"{hub.url}/datasets/{HUB_NAME}",
            "source": "**/*.jsonl",
            "key_name": "TRISTEP_CONNECTION_KEY_H",
            "subset": "runs",
        }
        return connections.create_connection(
            actor=cast.admin, project=cast.project, kind="huggingface", **told | values
        )

    return made
