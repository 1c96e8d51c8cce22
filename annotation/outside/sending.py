"""Send one request and read its reply in full or not at all, within a limit of bytes and of time."""

from __future__ import annotations

import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpcore
import httpx

from annotation.core.i18n import translatable

from .failures import Failed, FailureKind
from .networks import PrivateAddress
from .transport import Deadline

MAX_BYTES: Final = 8 * 1024 * 1024
"""A reply may have so many bytes, unpacked, unless the caller says otherwise."""
KEPT_BYTES: Final = 256 * 1024
"""So much of a reply that was given up is kept."""

_ENCODINGS: Final = frozenset({"", "identity", "gzip", "deflate"})


@dataclass(frozen=True, slots=True)
class ReceivedReply:
    """A reply, or as much of it as was read before `failure`. Header names are in small letters."""

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    failure: Failed | None = None


def send(
    client: httpx.Client,
    method: str,
    url: str,
    content: bytes | None,
    *,
    deadline: Deadline,
    seconds: float,
    headers: Mapping[str, str] | None = None,
    max_bytes: int = MAX_BYTES,
) -> ReceivedReply:
    """Send `content` (JSON) and read the reply. Raises nothing: what goes wrong on the way is the
    `failure`, transient unless it says otherwise."""
    reading = _Reading(max_bytes)
    try:
        with (
            deadline.within(seconds),
            client.stream(method, url, content=content, headers=headers) as response,
        ):
            reading.read(response)
            return reading.received(None)
    except (httpcore.TimeoutException, httpx.TimeoutException):
        sentence = translatable(
            "The server did not answer in full within {seconds} seconds.", seconds=f"{seconds:g}"
        )
        return reading.received(Failed(kind=FailureKind.TIMEOUT, message=sentence))
    except PrivateAddress as private:
        return reading.received(_for_good(FailureKind.FORBIDDEN_URL, private.args[0]))
    except (httpcore.NetworkError, httpcore.ProtocolError, httpx.HTTPError, OSError) as error:
        return reading.received(_connection(error))
    except (zlib.error, ValueError):
        sentence = translatable("The server’s reply could not be unpacked.")
        return reading.received(Failed(kind=FailureKind.NOT_JSON, message=sentence))


class _Reading:
    def __init__(self, max_bytes: int) -> None:
        self._most = max_bytes
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.too_large = False

    def read(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        encoding = self.headers.get("content-encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise ValueError(encoding)
        # never more than one byte over the limit, however far a few packed bytes unpack
        unpack = zlib.decompressobj(47) if encoding not in ("", "identity") else None
        for chunk in response.iter_raw():
            room = self._most + 1 - len(self.body)
            self.body += unpack.decompress(chunk, room) if unpack else chunk[:room]
            if len(self.body) > self._most:
                self.too_large = True
                return
        if unpack and not unpack.eof:
            raise zlib.error

    def received(self, failure: Failed | None) -> ReceivedReply:
        if self.too_large:
            sentence = translatable(
                "The server’s answer has more than {limit} MB; the rest was not read.",
                limit=self._most // 1024**2,
            )
            failure = Failed(kind=FailureKind.TOO_LARGE, message=sentence, permanent=True)
        kept = self.body if failure is None else self.body[:KEPT_BYTES]
        return ReceivedReply(self.status, self.headers, bytes(kept), failure)


def _connection(error: Exception) -> Failed:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            sentence = translatable("The server’s certificate was not accepted.")
            return _for_good(FailureKind.WRONG_ADDRESS, sentence)
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpcore.ConnectError):
        sentence = translatable("The server could not be reached ({why}).", why=str(error)[:120])
    else:
        sentence = translatable("The connection broke before the answer was complete.")
    return Failed(kind=FailureKind.CONNECTION, message=sentence)


def _for_good(kind: FailureKind, message: str) -> Failed:
    return Failed(kind=kind, message=message, permanent=True, every_call=True)
