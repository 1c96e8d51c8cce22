"""The Hugging Face hub: files of a data set are pulled, and a release is one commit with its version as tag.

The newest release is what `main` has; an older one, and one that is said to be withdrawn after a newer was
pushed, is committed beside it and has its tag alone. Large files lie on servers of their own, to which the
hub leads: these have to be in the operator's list too, and never get the key.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qs, quote, urljoin, urlsplit

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.jsonio.jsonlines import BadJson, parse_bytes
from annotation.outside import FailureKind, OutsideError
from annotation.outside.server import OutsideServer

from .base import ANSWER_BYTES, LeftOut, Paging, Place, is_id
from .patterns import Pattern
from .stores import (
    BAD_PATH,
    FILE_CHANGED,
    FILE_GONE,
    MAX_FILES,
    MAX_LISTED,
    MAX_PATH,
    MAX_RECEIPT,
    PIECE_BYTES,
    RECEIPT,
    FileList,
    LeaveOut,
    OutFile,
    ReleasePlace,
    StoredFile,
    too_many,
    wanted,
)

MAIN: Final = "main"
HOPS: Final = 4
SAMPLE_BYTES: Final = 512
_LFS: Final = {"Accept": "application/vnd.git-lfs+json", "Content-Type": "application/vnd.git-lfs+json"}
_LINES: Final = {"Content-Type": "application/x-ndjson"}
_MADE_WITH_IT: Final = frozenset({".gitattributes", "README.md"})


def open_at(server: OutsideServer, place: Place) -> Hub:
    """The data set in `place.address`, https://huggingface.co/datasets/owner/name."""
    return Hub(server, place)


class Hub:
    """See `Store`."""

    def __init__(self, server: OutsideServer, place: Place) -> None:
        self._server = server
        self._pattern = Pattern(place.source)
        self._address = urlsplit(place.address).path.strip("/")
        self._repository = self._address.removeprefix("datasets/")
        self._api = f"/api/datasets/{quote(self._repository)}"
        self._head = ""

    def check(self) -> None:
        """Look at the address alone: a data set that is to be pushed need not be there yet."""
        if not self._address.startswith("datasets/") or self._repository.count("/") != 1:
            sentence = translatable(
                "The address names no data set: https://huggingface.co/datasets/owner/name."
            )
            raise Invalid(sentence, code="source_gone", fields={"base_url": sentence})

    def _sha(self, revision: str) -> str:
        """The commit of a revision; "" where the data set or the revision is not there."""
        try:
            answer = self._server.ask("GET", f"{self._api}/revision/{quote(revision, safe='')}")
        except OutsideError as error:
            if error.failed.kind is FailureKind.NOT_FOUND:
                return ""
            raise
        sha = _object(answer).get("sha")
        return str(sha) if is_id(sha) else ""

    def listed(self) -> Iterator[FileList]:
        """The files of the newest commit on `main`, page by page."""
        self._head = self._sha(MAIN)
        if not self._head:
            sentence = translatable(
                "The hub has no data set “{name}”, or the key may not see it.", name=self._repository
            )
            raise Invalid(sentence, code="source_gone", fields={"base_url": sentence})
        matching = looked_at = 0
        for entries in self._tree(self._head):
            looked_at += len(entries)
            files = self._files(entries)
            matching += len(files.files)
            if matching > MAX_FILES or looked_at > MAX_LISTED:
                raise too_many(MAX_FILES if matching > MAX_FILES else MAX_LISTED)
            yield files

    def _tree(self, revision: str) -> Iterator[list[dict[str, Any]]]:
        paging, more = Paging(), ""
        while True:
            reply = self._server.fetch(
                "GET", f"{self._api}/tree/{revision}?recursive=true{more}", max_bytes=ANSWER_BYTES
            )
            yield [_object(entry) for entry in _listed(_json(reply.body))]
            cursor = _next_cursor(reply.headers.get("link", ""))
            if not cursor:
                return
            more = f"&cursor={quote(paging.follow(cursor), safe='')}"

    def _files(self, entries: Sequence[Mapping[str, Any]]) -> FileList:
        files, left_out = [], []
        for entry in entries:
            path, size = entry.get("path"), entry.get("size")
            if entry.get("type") != "file" or not isinstance(path, str) or not wanted(path):
                continue
            if not self._pattern.fits(path):
                continue
            mark = _object(entry.get("lfs")).get("oid") or entry.get("oid")
            plain = (
                len(path) <= MAX_PATH and path.isprintable() and not {"", ".", ".."} & set(path.split("/"))
            )
            if not plain or not isinstance(size, int) or size < 0 or not is_id(mark):
                left_out.append(LeftOut(path[:MAX_PATH].encode(errors="replace").decode(), BAD_PATH))
            else:
                files.append(StoredFile(path, size, str(mark)))
        return FileList(files, left_out)

    def read(self, file: StoredFile) -> Iterator[bytes]:
        """The file in the commit that was listed: small ones come whole, large ones in ranges."""
        try:
            server, path = self._found(f"/{self._address}/resolve/{self._head}/{quote(file.path)}")
            at = 0
            while at < file.size:
                end = file.size if server is self._server else min(at + PIECE_BYTES, file.size)
                headers = {} if server is self._server else {"Range": f"bytes={at}-{end - 1}"}
                reply = server.fetch("GET", path, headers=headers, max_bytes=end - at)
                if len(reply.body) != end - at:
                    raise LeaveOut(FILE_CHANGED)
                yield reply.body
                at = end
        except OutsideError as error:
            if error.failed.kind is FailureKind.NOT_FOUND:
                raise LeaveOut(FILE_GONE) from error
            if error.failed.kind is FailureKind.TOO_LARGE:
                raise LeaveOut(FILE_CHANGED) from error
            raise

    def _found(self, path: str) -> tuple[OutsideServer, str]:
        """The server of a file: the hub itself, or the server that it leads to."""
        server = self._server
        for _ in range(HOPS):
            reply = server.look("HEAD", path)
            where = reply.headers.get("location", "")
            if reply.status is None or not 300 <= reply.status < 400 or not where:
                return server, path
            server, path = self._elsewhere(server.absolute(path), where)
            if server is not self._server:
                return server, path
        return server, path

    def _elsewhere(self, at: str, where: str) -> tuple[OutsideServer, str]:
        parts = urlsplit(urljoin(at, where))
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        return self._server.elsewhere(f"{parts.scheme}://{parts.netloc}"), path

    def receipt(self, place: ReleasePlace) -> bytes | None:
        """The receipt under the tag."""
        return self._receipt(place.version)

    def _receipt(self, revision: str) -> bytes | None:
        try:
            server, path = self._found(f"/{self._address}/resolve/{quote(revision, safe='')}/{RECEIPT}")
            return server.fetch("GET", path, max_bytes=MAX_RECEIPT).body
        except OutsideError as error:
            if error.failed.kind is FailureKind.NOT_FOUND:
                return None
            raise

    def publish(
        self,
        place: ReleasePlace,
        files: Sequence[OutFile],
        receipt: bytes,
        gone: Sequence[str],
        beat: Callable[[], None],
    ) -> None:
        """One commit with all files, and its tag."""
        head = self._sha(MAIN)
        if not head:
            owner, _, name = self._repository.partition("/")
            repository = {"type": "dataset", "name": name, "organization": owner, "visibility": "private"}
            self._server.ask("POST", "/api/repos/create", body=repository, once=True)
            head = self._sha(MAIN)
        there = self._receipt(MAIN)
        self._refuse_others(place, head, there)
        beat()
        branch = ""
        if there != receipt:
            before = _read(there)
            if _number(before) > _number(_read(receipt)):
                branch = f"tristep-{place.version}"
                self._forget(f"{self._api}/branch/{quote(branch, safe='')}")
                self._server.ask(
                    "POST",
                    f"{self._api}/branch/{quote(branch, safe='')}",
                    body={"startingPoint": head},
                    once=True,
                )
            names = {file.name for file in files}
            stale = sorted({*gone, *_object(before.get("files"))} - names) if there is not None else []
            head = self._commit(place, branch or MAIN, head, files, receipt, stale, beat)
        self._forget(f"{self._api}/tag/{quote(place.version, safe='')}")
        self._server.ask("POST", f"{self._api}/tag/{head}", body={"tag": place.version}, once=True)
        if branch:
            self._forget(f"{self._api}/branch/{quote(branch, safe='')}")

    def _refuse_others(self, place: ReleasePlace, head: str, there: bytes | None) -> None:
        """Raise Invalid where the data set is not one that was pushed from this project."""
        if there is None:
            paths = {str(entry.get("path")) for entries in self._tree(head) for entry in entries}
            own = paths <= _MADE_WITH_IT
        else:
            own = _read(there).get("project") == place.project
        if not own:
            raise Invalid(
                translatable(
                    "The data set there holds what this project has not pushed; choose another one."
                ),
                code="not_own",
            )

    def _forget(self, path: str) -> None:
        try:
            self._server.ask("DELETE", path, once=True)
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise

    def _commit(
        self,
        place: ReleasePlace,
        branch: str,
        parent: str,
        files: Sequence[OutFile],
        receipt: bytes,
        stale: Sequence[str],
        beat: Callable[[], None],
    ) -> str:
        large = self._large(branch, files)
        self._upload([file for file in files if file.name in large], beat)
        summary = f"{place.project} {place.version}"
        header = {"summary": summary, "description": "", "parentCommit": parent}
        lines: list[dict[str, Any]] = [{"key": "header", "value": header}]
        for file in files:
            if file.name in large:
                pointer = {"path": file.name, "algo": "sha256", "oid": file.sha256, "size": file.size}
                lines.append({"key": "lfsFile", "value": pointer})
            else:
                lines.append(_inline(file.name, file.path.read_bytes()))
        lines.append(_inline(RECEIPT, receipt))
        lines += [{"key": "deletedFile", "value": {"path": path}} for path in stale]
        body = b"".join(canonical_json(line) + b"\n" for line in lines)
        beat()
        where = f"{self._api}/commit/{quote(branch, safe='')}"
        made = _object(_json(self._server.fetch("POST", where, body, headers=_LINES, once=True).body))
        if not is_id(made.get("commitOid")):
            raise Invalid(translatable("The hub has not said which commit it made."), code="not_json")
        return str(made["commitOid"])

    def _large(self, branch: str, files: Sequence[OutFile]) -> set[str]:
        """The files that the hub wants as large ones."""
        large = []
        for file in files:
            with file.path.open("rb") as stream:
                sample = base64.b64encode(stream.read(SAMPLE_BYTES)).decode()
            large.append({"path": file.name, "sample": sample, "size": file.size})
        where = f"{self._api}/preupload/{quote(branch, safe='')}"
        answer = _object(self._server.ask("POST", where, body={"files": large}))
        modes = [_object(entry) for entry in _listed(answer.get("files"))]
        # an empty file cannot be a large one
        empty = {file.name for file in files if not file.size}
        return {str(one.get("path")) for one in modes if one.get("uploadMode") == "lfs"} - empty

    def _upload(self, files: Sequence[OutFile], beat: Callable[[], None]) -> None:
        if not files:
            return
        by_oid = {file.sha256: file for file in files}
        asked = {
            "operation": "upload",
            "transfers": ["basic", "multipart"],
            "objects": [{"oid": oid, "size": file.size} for oid, file in by_oid.items()],
            "hash_algo": "sha256",
        }
        where = f"/{self._address}.git/info/lfs/objects/batch"
        reply = self._server.fetch("POST", where, canonical_json(asked), headers=_LFS)
        for entry in map(_object, _listed(_object(_json(reply.body)).get("objects"))):
            file = by_oid.get(str(entry.get("oid")))
            if file is None or entry.get("error"):
                raise Invalid(translatable("The hub refused a large file."), code="refused")
            actions = _object(entry.get("actions"))
            if upload := _object(actions.get("upload")):
                self._upload_one(file, upload, beat)
            if verify := _object(actions.get("verify")):
                server, path = self._elsewhere(self._server.absolute("/"), str(verify.get("href")))
                server.ask("POST", path, body={"oid": file.sha256, "size": file.size})

    def _upload_one(self, file: OutFile, upload: Mapping[str, Any], beat: Callable[[], None]) -> None:
        at = self._server.absolute("/")
        server, path = self._elsewhere(at, str(upload.get("href")))
        header = _object(upload.get("header"))
        size = str(header.get("chunk_size", ""))
        binary = {"Content-Type": "application/octet-stream"}
        if not size:
            beat()
            server.fetch("PUT", path, file.path.read_bytes(), headers=binary)
            return
        parts = sorted((int(name), str(href)) for name, href in header.items() if name.isdigit())
        chunk = int(size) if size.isdigit() else 0
        if chunk <= 0 or len(parts) != -(-file.size // chunk):
            raise Invalid(translatable("The hub’s parts of a large file do not fit it."), code="not_json")
        tags = []
        with file.path.open("rb") as stream:
            for number, href in parts:
                beat()
                to, part = self._elsewhere(at, href)
                reply = to.fetch("PUT", part, stream.read(chunk), headers=binary)
                tags.append({"partNumber": number, "etag": reply.headers.get("etag", "")})
        server.fetch("POST", path, canonical_json({"oid": file.sha256, "parts": tags}), headers=_LFS)


def _inline(path: str, content: bytes) -> dict[str, Any]:
    entry = {"content": base64.b64encode(content).decode(), "path": path, "encoding": "base64"}
    return {"key": "file", "value": entry}


def _next_cursor(link: str) -> str:
    """The cursor of the next page in a header `Link`; the rest of the address there is not used."""
    for entry in link.split(","):
        address, _, relation = entry.partition(";")
        if 'rel="next"' in relation:
            return parse_qs(urlsplit(address.strip().strip("<>")).query).get("cursor", [""])[0]
    return ""


def _read(receipt: bytes | None) -> dict[str, Any]:
    try:
        return _object(json.loads(receipt or b"{}"))
    except (ValueError, RecursionError):
        return {}


def _number(receipt: Mapping[str, Any]) -> int:
    number = receipt.get("number")
    return number if isinstance(number, int) else 0


def _json(body: bytes) -> Any:
    try:
        return parse_bytes(body)
    except BadJson as error:
        sentence = translatable("The server’s reply is not JSON.")
        raise Invalid(sentence, code=str(FailureKind.NOT_JSON)) from error


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
