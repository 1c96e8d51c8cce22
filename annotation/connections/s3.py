"""S3 and what speaks its language (GCS with an HMAC key, MinIO, R2): files by prefix, releases by folder.

Calls are path-style, so that the operator's list, which knows beginnings of addresses, holds bucket and
folder too. A file is read in ranges that hold only for the version that was listed.
"""

from __future__ import annotations

import base64
import hashlib
import mimetypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, unquote_plus, urlencode, urlsplit
from xml.etree import ElementTree

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.outside import FailureKind, OutsideError
from annotation.outside.server import OutsideServer

from .base import LeftOut, Paging, Place
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
    UNREADABLE,
    FileList,
    LeaveOut,
    OutFile,
    ReleasePlace,
    StoredFile,
    too_many,
    wanted,
)

AT_ONCE: Final = 1_000


def open_at(server: OutsideServer, place: Place) -> S3:
    """The bucket and folder in `place.address`, at the server that stands before them."""
    return S3(server, place)


class S3:
    """See `Store`."""

    def __init__(self, server: OutsideServer, place: Place) -> None:
        self._server = server
        self._pattern = Pattern(place.source)
        bucket, _, folder = urlsplit(place.address).path.strip("/").partition("/")
        self._bucket = bucket
        self._folder = f"{folder}/" if folder else ""

    def check(self) -> None:
        """Ask for one name of the bucket."""
        if not self._bucket:
            sentence = translatable("The address names no bucket: https://server/bucket/folder.")
            raise Invalid(sentence, code="source_gone", fields={"base_url": sentence})
        try:
            self._list({"max-keys": "1"})
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise
            sentence = translatable("The server has no bucket “{name}”.", name=self._bucket)
            raise Invalid(sentence, code="source_gone", fields={"base_url": sentence}) from error

    def _list(self, query: Mapping[str, str]) -> ElementTree.Element:
        whole = {"list-type": "2", "prefix": self._folder + self._pattern.beginning, **query}
        asked = urlencode(sorted(whole.items()), quote_via=quote, safe="~")
        return _xml(self._server.fetch("GET", f"/{self._bucket}?{asked}").body, "ListBucketResult")

    def listed(self) -> Iterator[FileList]:
        """The objects below the folder, page by page. Raises Invalid for a page that is not the last and does
        not say how the next is asked for: that of a server that knows only the first version of lists."""
        paging, query, matching, looked_at = Paging(), {"max-keys": str(AT_ONCE)}, 0, 0
        while True:
            page = self._list(query)
            token = _text(page, "NextContinuationToken")
            more = _text(page, "IsTruncated") == "true"
            if more and not token:
                sentence = translatable(
                    "The server lists only some of its files and does not say how to ask for the rest; "
                    "narrow the address or the pattern."
                )
                raise Invalid(sentence, code=str(FailureKind.NOT_JSON))
            decode = unquote_plus if _text(page, "EncodingType") == "url" else str
            entries = [(decode(_text(one, "Key")), one) for one in page.iter() if _tag(one) == "Contents"]
            looked_at += len(entries)
            files = self._files(entries)
            matching += len(files.files)
            if matching > MAX_FILES or looked_at > MAX_LISTED:
                raise too_many(MAX_FILES if matching > MAX_FILES else MAX_LISTED)
            yield files
            if not more:
                return
            query["continuation-token"] = paging.follow(token)

    def _files(self, entries: Sequence[tuple[str, ElementTree.Element]]) -> FileList:
        files, left_out = [], []
        for key, entry in entries:
            path = key.removeprefix(self._folder)
            if not key.startswith(self._folder) or not path or path.endswith("/"):
                continue
            if not wanted(path) or not self._pattern.fits(path):
                continue
            size, tag = _text(entry, "Size"), _text(entry, "ETag")
            if len(path) > MAX_PATH or not path.isprintable() or {"", ".", ".."} & set(path.split("/")):
                left_out.append(LeftOut(path[:MAX_PATH], BAD_PATH))
            elif not size.isascii() or not size.isdigit() or len(size) > 15:
                left_out.append(LeftOut(path, UNREADABLE))
            else:
                files.append(StoredFile(path, int(size), tag[:200]))
        return FileList(files, left_out)

    def read(self, file: StoredFile) -> Iterator[bytes]:
        """Range by range, each for the version that was listed."""
        at = 0
        while at < file.size:
            end = min(at + PIECE_BYTES, file.size)
            headers = {"Range": f"bytes={at}-{end - 1}"} | ({"If-Match": file.mark} if file.mark else {})
            try:
                reply = self._server.fetch(
                    "GET", self._path(file.path), headers=headers, max_bytes=PIECE_BYTES
                )
            except OutsideError as error:
                raise _left_out(error) from error
            tag = reply.headers.get("etag", file.mark) if file.mark else ""
            if len(reply.body) != end - at or _bare(tag) != _bare(file.mark):
                raise LeaveOut(FILE_CHANGED)
            yield reply.body
            at = end

    def receipt(self, place: ReleasePlace) -> bytes | None:
        """The object of this name, if there is one."""
        try:
            path = self._path(f"{place.folder}/{RECEIPT}")
            return self._server.fetch("GET", path, max_bytes=MAX_RECEIPT).body
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
        """Objects one by one, large ones in parts."""
        for name in gone:
            self._delete(f"{place.folder}/{name}")
        for file in files:
            beat()
            if file.size > PIECE_BYTES:
                self._put_in_parts(f"{place.folder}/{file.name}", file, beat)
            else:
                self._put(f"{place.folder}/{file.name}", file.path.read_bytes())
        self._put(f"{place.folder}/{RECEIPT}", receipt)

    def _delete(self, path: str) -> None:
        try:
            self._server.fetch("DELETE", self._path(path))
        except OutsideError as error:
            if error.failed.kind is not FailureKind.NOT_FOUND:
                raise

    def _put(self, path: str, content: bytes) -> None:
        self._server.fetch("PUT", self._path(path), content, headers=_about(path, content))

    def _put_in_parts(self, path: str, file: OutFile, beat: Callable[[], None]) -> None:
        where = self._path(path)
        reply = self._server.fetch("POST", f"{where}?uploads=", headers=_about(path))
        begun = _xml(reply.body, "InitiateMultipartUploadResult")
        upload = quote(_text(begun, "UploadId"), safe="~")
        try:
            tags: list[str] = []
            with file.path.open("rb") as stream:
                while piece := stream.read(PIECE_BYTES):
                    beat()
                    asked = f"{where}?partNumber={len(tags) + 1}&uploadId={upload}"
                    reply = self._server.fetch("PUT", asked, piece, headers=_about(path, piece))
                    tags.append(reply.headers.get("etag", ""))
            listed = "".join(
                f"<Part><PartNumber>{number}</PartNumber><ETag>{_escaped(tag)}</ETag></Part>"
                for number, tag in enumerate(tags, 1)
            )
            body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
            ended = self._server.fetch("POST", f"{where}?uploadId={upload}", body, headers=_XML)
            # a server may find out that it cannot only after it has said 200
            _xml(ended.body, "CompleteMultipartUploadResult")
        except BaseException:
            # parts that belong to nothing cost money until somebody sweeps them
            self._server.send("DELETE", f"{where}?uploadId={upload}")
            raise

    def _path(self, path: str) -> str:
        return quote(f"/{self._bucket}/{self._folder}{path}", safe="/~")


_XML: Final = {"Content-Type": "application/xml"}


def _about(path: str, content: bytes | None = None) -> dict[str, str]:
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    if content is None:
        return {"Content-Type": kind}
    # every store holds what it got against this
    return {"Content-Type": kind, "Content-MD5": base64.b64encode(_md5(content)).decode()}


def _md5(content: bytes) -> bytes:
    return hashlib.md5(content, usedforsecurity=False).digest()


def _bare(tag: str) -> str:
    return tag.strip().removeprefix("W/").strip('"')


def _escaped(tag: str) -> str:
    return tag.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _left_out(error: OutsideError) -> BaseException:
    if error.failed.status in (412, 416):
        return LeaveOut(FILE_CHANGED)
    if error.failed.kind is FailureKind.NOT_FOUND:
        return LeaveOut(FILE_GONE)
    return error


def _xml(body: bytes, root: str) -> ElementTree.Element:
    """A document with this root, and without a type of its own, in which entities could unfold."""
    try:
        if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
            raise ValueError
        read = ElementTree.fromstring(body)
        if _tag(read) != root:
            raise ValueError
        return read
    except (ElementTree.ParseError, ValueError) as error:
        sentence = translatable("The server’s reply is not one of S3.")
        raise Invalid(sentence, code=str(FailureKind.NOT_JSON)) from error


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _text(element: ElementTree.Element, name: str) -> str:
    child: Any = next((one for one in element if _tag(one) == name), None)
    return (child.text or "") if child is not None else ""
