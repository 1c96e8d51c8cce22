"""An outside server: where it is, who calls, and calls that are repeated as far as that may help."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.jsonio.jsonlines import BadJson, parse_bytes
from annotation.core.judging.addresses import normalised

from .credentials import KeyScheme
from .failures import Failed, FailureKind, OutsideError, failed_with, led_elsewhere
from .redaction import Redactor
from .sending import MAX_BYTES, ReceivedReply, send
from .transport import Deadline, Transport
from .waiting import CallWaits, retry_after

Sign = Callable[[str, str, "bytes | None"], Mapping[str, str]]
"""Headers that authorise a call, given its method, its whole address, and its body."""

CONNECT_SECONDS: Final = 10.0
LONGEST_WAIT: Final = 60.0
"""Seconds; when the server asks for a longer wait, the call has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """The rules by which calls are repeated. `sleep` may raise to give up between two attempts; `seconds` is
    the time of one attempt, from its first byte to its last."""

    attempts: int = 5
    seconds: float = 60.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    rng: random.Random = field(default_factory=random.Random)


class OutsideServer:
    """One server at an address that the operator allows (`OperatorRules.check`). Threads may share it.

    `key` goes with every call as its `scheme` wants it, and is taken out of whatever is kept or said; with
    `sign` it is not sent, but calls are signed with it. `networks`: private ones that its name may lead into.
    `others` says whether another server, to which this one leads, is allowed (`elsewhere`). Raises Invalid
    for a key that cannot be one.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str = "",
        key_name: str = "",
        scheme: KeyScheme = KeyScheme.BEARER,
        networks: Sequence[str] = (),
        patience: Patience | None = None,
        sign: Sign | None = None,
        others: Callable[[str], bool] | None = None,
    ) -> None:
        self.patience = patience or Patience()
        self.redact = Redactor(*scheme.secrets(key))
        self.waits = CallWaits(self.patience.clock, self.patience.rng)
        self._base_url = normalised(base_url) or ""
        self._key_name = key_name
        self._deadline = Deadline(self.patience.clock)
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "tristep",
            **scheme.header(key, key_name),
        }
        self._sign = sign
        self._others = others
        self._networks = networks
        self._elsewhere: dict[str, OutsideServer] = {}
        self._client = httpx.Client(
            transport=Transport(self._deadline, networks),
            timeout=httpx.Timeout(self.patience.seconds, connect=CONNECT_SECONDS),
            headers=headers,
            trust_env=False,
            follow_redirects=False,
        )

    def __repr__(self) -> str:
        return f"OutsideServer({self._base_url!r})"

    def close(self) -> None:
        """Close the connections, those to other servers too."""
        self._client.close()
        for server in self._elsewhere.values():
            server.close()

    def absolute(self, path: str) -> str:
        """The whole address of a path."""
        return f"{self._base_url}{path}"

    def elsewhere(self, origin: str) -> OutsideServer:
        """The server at an address without a path, to which this one leads: itself, or another that the
        operator allows, which gets no key. Raises `OutsideError`."""
        if normalised(origin) == self._base_url:
            return self
        if origin not in self._elsewhere:
            if self._others is None or not self._others(origin):
                raise OutsideError(led_elsewhere(origin))
            self._elsewhere[origin] = OutsideServer(origin, networks=self._networks, patience=self.patience)
        return self._elsewhere[origin]

    def send(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> ReceivedReply:
        """One attempt at a call. `path` is put after the address. What goes wrong on the way is the reply's
        `failure`; a status that says so is for the caller to look at."""
        url = f"{self._base_url}{path}"
        if self._sign is not None:
            headers = {**(headers or {}), **self._sign(method, url, content)}
        return send(
            self._client,
            method,
            url,
            content,
            deadline=self._deadline,
            seconds=self.patience.seconds,
            headers=headers,
            max_bytes=max_bytes,
        )

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        max_bytes: int = MAX_BYTES,
        once: bool = False,
    ) -> Any:
        """The JSON that the server answers, `None` for an empty answer. A call is repeated while that may
        help, unless it may reach the server but `once`. Raises `OutsideError`."""
        where = f"{path}?{urlencode(query, doseq=True)}" if query else path
        content = None if body is None else canonical_json(body)
        return self._repeated(
            lambda: self._answer(self.send(method, where, content, max_bytes=max_bytes)), once
        )

    def fetch(
        self,
        method: str,
        path: str,
        content: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
        once: bool = False,
    ) -> ReceivedReply:
        """The whole reply to a call that succeeds, which is repeated as by `ask`. Raises `OutsideError`."""

        def attempt() -> Any:
            received = self.send(method, path, content, headers=headers, max_bytes=max_bytes)
            return self._failed(received) or received

        reply: ReceivedReply = self._repeated(attempt, once)
        return reply

    def look(self, method: str, path: str) -> ReceivedReply:
        """The reply to a call that succeeds or leads elsewhere, which is for the caller to follow. Raises
        `OutsideError`."""

        def attempt() -> Any:
            received = self.send(method, path)
            leads = received.failure is None and 300 <= (received.status or 0) < 400
            return received if leads else self._failed(received) or received

        reply: ReceivedReply = self._repeated(attempt, once=False)
        return reply

    def _repeated(self, attempt: Callable[[], Any], once: bool) -> Any:
        failures = 0
        while True:
            outcome = attempt()
            if not isinstance(outcome, Failed):
                return outcome
            failures += 1
            pause = None if once else self.pause(outcome, failures)
            if pause is None:
                raise OutsideError(
                    replace(
                        outcome,
                        message=self.redact.text(outcome.message),
                        permanent=outcome.permanent or not once,
                    )
                )
            self.patience.sleep(pause)

    def _failed(self, received: ReceivedReply) -> Failed | None:
        if received.failure is not None:
            return received.failure
        if received.status is None or not 200 <= received.status < 300:
            failed = failed_with(received.status or 0, key_name=self._key_name)
            return replace(failed, retry_after=retry_after(received.headers, self.patience.now()))
        return None

    def _answer(self, received: ReceivedReply) -> Any:
        if failed := self._failed(received):
            return failed
        if not received.body.strip():
            return None
        try:
            return parse_bytes(received.body)
        except BadJson:
            return Failed(
                kind=FailureKind.NOT_JSON,
                message=translatable("The server’s reply is not JSON."),
                permanent=True,
            )

    def pause(self, failed: Failed, failures: int) -> float | None:
        """Seconds to wait before the next attempt after so many failures; `None`: there is to be none."""
        if failed.permanent or failures >= self.patience.attempts:
            return None
        if failed.retry_after is not None:
            return failed.retry_after if failed.retry_after <= LONGEST_WAIT else None
        return self.waits.backoff(failures - 1)
