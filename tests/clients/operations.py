"""Every method of the Python client, found by walking through it, with the operation that it sends."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

import httpx

from api.views.index import document
from tristep import Client
from tristep.connection import Connection
from tristep.nouns import Items, Noun, Pages, Part

METHODS = ("get", "post", "patch", "delete", "put")
# They do what another method does, and something with the answer.
ON_TOP = frozenset({"wait", "frame", "agreement_frame", "leaderboard_frame"})
ANY = "{}"
"""In an address the place of a key."""


@dataclass(frozen=True)
class Operation:
    """One operation of the schema."""

    method: str
    path: str
    shape: Mapping[str, Any]

    @property
    def place(self) -> tuple[str, str]:
        """Method and address, with every key alike."""
        return self.method, re.sub(r"\{\w+\}", ANY, self.path)


@dataclass(frozen=True)
class Method:
    """One method of the client: how it is called, where its request goes."""

    name: str
    function: Callable[..., Any]
    call: Callable[[Client, Sequence[Any], Mapping[str, Any]], Any]
    place: tuple[str, str]


def operations() -> list[Operation]:
    """All operations of the schema."""
    return [
        Operation(method.upper(), path.removeprefix("/api/v1/"), item[method])
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item
    ]


class Sent(Exception):
    """A request that is not sent."""


class Recorder(Connection):
    """A connection that tells where a request would have gone."""

    def __init__(self) -> None:
        """Without the connections: loading the certificates takes longer than all that is done here."""

    def json(self, method: str, path: str, query: Mapping[str, Any], body: Any = None) -> NoReturn:
        raise Sent(method, unquote(path))

    def upload(self, path: str, *rest: Any) -> NoReturn:
        raise Sent("POST", unquote(path))

    def stream(self, path: str, query: Mapping[str, Any]) -> AbstractContextManager[httpx.Response]:
        raise Sent("GET", unquote(path))


Reach = Callable[[Noun, Iterator[Any]], Noun]


@cache
def methods() -> list[Method]:
    """All methods that send something, in the order of their names."""
    return list(_within(Client, lambda client, _keys: client, "client", 0))


def _within(kind: type[Noun], reach: Reach, name: str, keys: int) -> Iterator[Method]:
    """Those of a noun and of all below it. `reach` goes there from a client, with so many keys."""
    for attribute, value in inspect.getmembers_static(kind):
        if isinstance(value, Part):
            yield from _within(value.noun, _part(reach, attribute), f"{name}.{attribute}", keys)
        elif inspect.isfunction(value) and not attribute.startswith("_") and attribute not in ON_TOP:
            if value is Client.close:
                continue
            yield _method(value, reach, f"{name}.{attribute}", keys)
    if issubclass(kind, Items):
        yield from _within(kind._item, _item(reach), f"{name}[…]", keys + 1)


def _part(reach: Reach, name: str) -> Reach:
    return lambda client, keys: getattr(reach(client, keys), name)


def _item(reach: Reach) -> Reach:
    return lambda client, keys: reach(client, keys)[next(keys)]


def _method(function: Callable[..., Any], reach: Reach, name: str, keys: int) -> Method:
    named = [one for one in inspect.signature(function).parameters.values() if one.name != "self"]
    needed = [one.name for one in named if one.kind is not one.VAR_KEYWORD and one.default is one.empty]
    takes_more = any(one.kind is one.VAR_KEYWORD for one in named)

    def call(client: Noun, keys: Sequence[Any], more: Mapping[str, Any]) -> Any:
        left = iter(keys)
        noun = reach(client, left)
        given = {key: more[key] if key in more else next(left) for key in needed}
        answer = getattr(noun, function.__name__)(**{**(more if takes_more else {}), **given})
        return list(answer) if isinstance(answer, (Pages, Iterator)) else answer

    own = {key: value for key, value in {"file": b"", "target": Path("x")}.items() if key in needed}
    noun = Client.__new__(Client)
    Noun.__init__(noun, Recorder())
    try:
        call(noun, [ANY] * (keys + len(needed) - len(own)), own)
    except Sent as sent:
        return Method(name, function, call, (sent.args[0], sent.args[1]))
    raise AssertionError(f"{name} sends nothing")
