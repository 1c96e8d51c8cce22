"""Every operation of the API has a method of the Python client, of the types that the schema says, that does
what the operation does."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from django.core.handlers.wsgi import WSGIHandler
from django.db import transaction

from api.views.index import document
from tests import client_models
from tests.addresses import Address, addresses
from tests.addresses import methods as methods_of
from tests.callers import token_of
from tests.clients.operations import Method, Operation, methods, operations
from tests.fixtures.shared_rows import shared_rows
from tests.people import jsonl, make_record, make_records
from tests.permission_matrix import ROWS
from tests.world import World, make_world
from tristep import ApiError, Client
from tristep.errors import KINDS

WITHOUT_A_METHOD: dict[tuple[str, str], str] = {}
"""Operations that the client leaves out, and why: {("POST", "projects/{}/x/"): "…"}."""


def test_client_has_a_method_for_every_operation() -> None:
    theirs = {operation.place for operation in operations()}
    ours = {method.place for method in methods()}
    assert theirs - ours == set(WITHOUT_A_METHOD), "give each a method in clients/python/tristep"
    assert ours - theirs == set(), "no operation"


def test_models_of_the_client_are_those_of_the_schema() -> None:
    written = client_models.MODELS.read_text(encoding="utf-8")
    assert written == client_models.text(document()), "stale: run `make client`"


# ── Types ─────────────────────────────────
def taken(operation: Operation) -> str:
    """The type of what is sent, or "". Files are sent with their options in the query."""
    content = (operation.shape.get("requestBody") or {}).get("content", {})
    asked = {one["name"] for one in operation.shape.get("parameters", ()) if one["in"] == "query"}
    if "application/octet-stream" not in content and "application/json" in content:
        return f"Unpack[m.{client_models.reference(content['application/json']['schema'])}]"
    named = client_models.query_name(operation.shape["operationId"])
    return f"Unpack[m.{named}]" if asked - client_models.PAGING else ""


def given(operation: Operation) -> Iterator[str]:
    """The types of the answers."""
    for status, answer in operation.shape["responses"].items():
        if not status.startswith("2"):
            continue
        if not answer.get("content"):
            yield "None"
        for kind, content in answer.get("content", {}).items():
            name = client_models.reference(content["schema"])
            if name.startswith("Paginated"):
                yield f"Pages[m.{name.removeprefix('Paginated').removesuffix('List')}]"
            elif name:
                yield f"m.{name}"
            else:
                yield OTHERS[kind]


OTHERS = {
    "application/json": "m.Document",
    "application/x-ndjson": "Iterator[m.Document]",
    "application/octet-stream": "bytes",
    "application/zip": "Path",
    "application/x-pem-file": "str",
    "text/markdown": "str",
}


def test_method_has_the_types_of_its_operation() -> None:
    known = {operation.place: operation for operation in operations()}
    wrong = []
    for method in methods():
        operation = known[method.place]
        said = method.function.__annotations__
        options = [kind for name, kind in said.items() if name in ("fields", "query", "options")]
        if options != [kind for kind in [taken(operation)] if kind]:
            wrong.append(f"{method.name} takes {options}, and should {taken(operation)}")
        if set(said["return"].split(" | ")) != set(given(operation)):
            wrong.append(f"{method.name} answers {said['return']}, and should {' | '.join(given(operation))}")
    assert not wrong, "\n".join(wrong)


# ── Against the server ────────────────────
@shared_rows
def world() -> World:
    """The project in the middle of everything."""
    return make_world()


# how far a request comes before it is refused, the farthest first
FARTHEST = (409, 400, 404, 403)
There = list[tuple[Address, str]]


def asked_there(there: There, operation: Operation) -> tuple[Address, list[str], str, int] | None:
    """The address of an operation with its keys, whom the matrix lets furthest there, and the status."""
    found = [
        (status >= 300 and 1 + FARTHEST.index(status), position, address, keys, who, status)
        for position, (address, url) in enumerate(there)
        if operation.method in methods_of(address) and (keys := where(operation, url)) is not None
        for who, status in ROWS.get(f"{operation.method} {address.key}", {}).items()
        if who != "nobody"
    ]
    return min(found, key=lambda one: one[:2])[2:] if found else None


def where(operation: Operation, url: str) -> list[str] | None:
    """The keys in an address of the operation, in their order; None: it is another's."""
    pattern = re.sub(r"\{\w+\}", r"([^/]+)", operation.path.replace(".", r"\."))
    found = re.fullmatch(f"/api/v1/{pattern}", urlsplit(url).path)
    return None if found is None else list(found.groups())


def zipped(name: str, content: bytes) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        archive.writestr(name, content)
    return into.getvalue()


def labelled(*queries: int) -> bytes:
    """Records with their labels, as label files and predictions have them."""
    said = {"step_labels": {"2": 1, "4": 1}, "final_label": 1}
    return jsonl([{**make_record(query), **said} for query in queries])


RECORDS = jsonl(make_records(2))
UPLOADS: dict[str, tuple[bytes, dict[str, str], int]] = {
    "client.projects[…].imports.create": (RECORDS, {"subset": "new", "filename": "new.jsonl"}, 202),
    "client.projects[…].imports.archive": (zipped("new.jsonl", RECORDS), {"filename": "new.zip"}, 202),
    "client.projects[…].imports.labels": (labelled(0), {"annotator": "cleo", "filename": "l.jsonl"}, 202),
    "client.projects[…].releases[…].predictions.create": (labelled(4, 5, 12), {"model": "M"}, 200),
    "client.judges[…].import_suggestions": (labelled(0), {}, 400),
}
"""What is uploaded, with which options, and how the server answers; the matrix sends no files."""


def test_method_does_what_its_operation_does(
    world: World, kept_open: None, own_uploads: Path, tmp_path: Path
) -> None:
    """Each is called with what tests/addresses.py sends there, as somebody whom tests/permission_matrix.txt
    lets furthest, and its requests are taken back: it returns, or raises what the status says."""
    wsgi = httpx.WSGITransport(WSGIHandler(), remote_addr="127.0.0.1")
    clients: dict[str, Client] = {}
    known = {operation.place: operation for operation in operations()}
    there = [(one, one.url(world)) for one in addresses() if one.name.startswith("api:")]
    wrong, refused = [], 0
    for method in methods():
        operation = known[method.place]
        if (found := asked_there(there, operation)) is None:
            wrong.append(f"{method.name}: tests/addresses.py has no address of it")
            continue
        address, keys, who, status = found
        if who not in clients:
            token = token_of(world.people[who])
            clients[who] = Client("http://testserver", token, transport=wsgi)
        sent = address.sent(world) if address.body else {}
        file, options, status = UPLOADS.get(method.name, (b"", {}, status))
        more = dict(parse_qsl(address.query)) if operation.method == "GET" else sent
        more = {"file": file, **options} if file else more
        more = {**more, **({"target": tmp_path / "x"} if method.name.endswith(".download") else {})}
        with transaction.atomic():
            said = outcome(clients[who], method, keys, more)
            transaction.set_rollback(True)
        refused += status >= 400
        if said != (200 if status < 300 else status):
            wrong.append(f"{method.name} as {who} at {address.key}: {said}, expected {status}")
    assert not wrong, "\n".join(wrong)
    assert refused < 50


def outcome(client: Client, method: Method, keys: list[str], more: dict[str, Any]) -> int | str:
    """200 for a method that returned, else the status of its ApiError."""
    try:
        method.call(client, keys, more)
    except ApiError as error:
        assert type(error) is KINDS[error.status]
        assert error.code not in ("", "unknown") and error.message
        return error.status
    return 200
