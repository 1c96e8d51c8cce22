"""Equality of histories and of actions, by digests.

A history is question, tools and messages; two are equal if these are, where a message is its role, its texts
(of a response the reasoning too), its pictures, and its calls: name and canonical arguments. Ids of calls,
names of results and whatever else stands in a message play no part. Nor does it matter whether arguments are
an object or the text of one, or in which order its keys stand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..jsonio.canonical import canonical_json
from ..trajectories.messages import EARLIER, Message, normalise


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
