"""Logs that a program writes as several files in a folder, put together to one.

OpenHands' agent SDK writes a file for each event (`events/event-00001-<id>.json`), τ²-bench the simulations
beside their settings (`results.json`, `simulations/<id>.json`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["FolderLog", "is_one_event", "joined", "together"]

_EVENT: Final = re.compile(r"((?:.*/)?events)/event-(\d{1,18})-[^/]+\.json")
_SIMULATION: Final = re.compile(r"((?:.*/)?)simulations/[^/]+\.json")
_ONE_EVENT: Final = re.compile(r"event-\d+-[^/ ]+\.json")


@dataclass(frozen=True, slots=True)
class FolderLog:
    """One log: what it is called, its first file, and the others in their order (most have none)."""

    name: str
    first: str
    parts: tuple[str, ...] = ()


def together(names: Iterable[str]) -> list[FolderLog]:
    """The logs in files of these names (with `/`), each where its first file stands."""
    every = dict.fromkeys(names)
    events: dict[str, list[tuple[int, str]]] = {}
    simulations: dict[str, list[str]] = {}
    for name in every:
        if match := _EVENT.fullmatch(name):
            events.setdefault(match[1], []).append((int(match[2]), name))
        elif (match := _SIMULATION.fullmatch(name)) and f"{match[1]}results.json" in every:
            simulations.setdefault(f"{match[1]}results.json", []).append(name)
    return list(_logs(every, events, simulations))


def _logs(
    every: Iterable[str], events: dict[str, list[tuple[int, str]]], simulations: dict[str, list[str]]
) -> Iterator[FolderLog]:
    taken = {name for names in simulations.values() for name in names}
    for name in every:
        match = _EVENT.fullmatch(name)
        if match is not None:
            if in_order := events.pop(match[1], None):
                first, *rest = (member for _, member in sorted(in_order))
                yield FolderLog(match[1], first, tuple(rest))
        elif name not in taken:
            yield FolderLog(name, name, tuple(simulations.get(name, ())))


def joined(log: FolderLog, read: Callable[[str], Iterable[bytes]]) -> Iterator[bytes]:
    """The bytes of a log whose files `read` gives: events line by line, simulations as their list."""
    if not log.parts:
        yield from read(log.first)
    elif _EVENT.fullmatch(log.first):
        for name in (log.first, *log.parts):
            yield from read(name)
            yield b"\n"
    else:
        yield from _without_end(read(log.first))
        for number, name in enumerate(log.parts):
            yield b"," if number else b', "simulations": ['
            yield from read(name)
        yield b"]}"


def _without_end(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The bytes of an object without its last brace."""
    held = b""
    for block in blocks:
        whole = held + block
        kept = whole.rstrip(b" \t\r\n")
        yield kept[:-1]
        held = whole[max(len(kept) - 1, 0) :]
    yield held.rstrip(b" \t\r\n").removesuffix(b"}")


def is_one_event(filename: str) -> bool:
    """Whether a file that came alone is named as one event of many."""
    return _ONE_EVENT.fullmatch(filename.rpartition(" › ")[2]) is not None
