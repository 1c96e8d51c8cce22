"""Equality of histories and of actions, by digests.

A history is question, tools and messages; two are equal if these are, where a message is its role, its texts
(of a response the reasoning too), its pictures, and its calls: name and canonical arguments. Ids of calls,
names of results and whatever else stands in a message play no part. Nor does it matter whether arguments are
an object or the text of one, or in which order its keys stand.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..jsonio.canonical import canonical_json, sha256_hex
from ..trajectories.messages import EARLIER, Message, message_text, normalise

_TAG: Final = re.compile(r"</?[A-Za-z_][\w-]*>")


def history_digest(question: str, tools: Sequence[Any], messages: Sequence[Mapping[str, Any]]) -> bytes:
    """The SHA-256 of a history: equal exactly when histories are."""
    *_, last = history_digests(question, tools, map(message_digest, normalise(messages)))
    return last


def history_digests(question: str, tools: Sequence[Any], messages: Iterable[bytes]) -> Iterator[bytes]:
    """The digest of the history before each message, and at last that of all, from the digests of
    messages."""
    digest = hashlib.sha256(canonical_json([question, list(tools)])).digest()
    yield digest
    for message in messages:
        digest = hashlib.sha256(digest + message).digest()
        yield digest


def message_digest(message: Message) -> bytes:
    """The SHA-256 of a message: of two responses, equal exactly when they do the same."""
    role = "assistant" if message.role == EARLIER else message.role
    texts = [part.text if part.kind != "image" else [part.data] for part in message.parts]
    calls = [
        [call.name, call.parsed, call.arguments if call.parsed else call.arguments_raw]
        for call in message.tool_calls
    ]
    return hashlib.sha256(canonical_json([role, texts, calls])).digest()


def act_digest(message: Mapping[str, Any]) -> str:
    """The SHA-256 of what a response does, whatever it says of it: its calls, in any order; without a call
    its text, without thoughts, tags, and the case of letters."""
    (read,) = normalise([message])
    calls = [
        canonical_json([call.name, call.arguments if call.parsed else call.arguments_raw]).hex()
        for call in read.tool_calls
    ]
    text = _TAG.sub(" ", message_text(message) or read.content).casefold()
    return sha256_hex(canonical_json(sorted(calls) if calls else " ".join(text.split())))
