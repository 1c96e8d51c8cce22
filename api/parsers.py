"""Parsers of request bodies: strict JSON, and files as form data or as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any, NoReturn

from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

BODY_READ_BYTES = 64 * 1024
# What a request body may nest: far more than any request of ours does, far less than Python's stack.
MAX_DEPTH = 200


class StrictJSON(BaseParser):
    """One JSON value in UTF-8. NaN, invalid UTF-8 and bottomless nesting are refused with a 400."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The value."""
        try:
            value = json.loads(stream.read().decode("utf-8"), parse_constant=_refuse)
        except UnicodeDecodeError as error:
            raise ParseError(_("The body is not valid UTF-8.")) from error
        except RecursionError as error:
            raise ParseError(_("The body is nested too deeply.")) from error
        except ValueError as error:
            raise ParseError(_("The body is not valid JSON.")) from error
        if _deeper_than(value, MAX_DEPTH):
            raise ParseError(_("The body is nested too deeply."))
        return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _deeper_than(value: Any, limit: int) -> bool:
    layer = [value]
    for _level in range(limit):
        layer = [inner for item in layer for inner in _inside(item)]
        if not layer:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [item for item in inner if isinstance(item, (dict, list))]


class FormData(MultiPartParser):
    """A file with its options, as a form sends them."""


class Upload:
    """A body that is a file: read once, in chunks, straight from the connection."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._stream = stream
        self.name = name

    def chunks(self) -> Iterator[bytes]:
        """The bytes in order."""
        while chunk := self._stream.read(BODY_READ_BYTES):
            yield chunk


class RawFile(BaseParser):
    """A file as the whole body; its options, `filename` among them, stand in the query."""

    media_type = "application/octet-stream"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> DataAndFiles:
        """The query as data and the unread body as `file`."""
        query = (parser_context or {})["request"].query_params
        upload = Upload(stream, query.get("filename", ""))
        return DataAndFiles(query, MultiValueDict({"file": [upload]}))


class RawJSONLines(RawFile):
    """The same, for those who say what it is."""

    media_type = "application/x-ndjson"
