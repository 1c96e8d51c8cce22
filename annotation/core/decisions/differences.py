"""Differences between the tool calls of two alternatives, for a page to mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from annotation.core.jsonio.canonical import canonical_json
from annotation.core.trajectories.trajectory import Message, ToolCall

Differences = tuple[bool, frozenset[str]]
"""Of a call: whether the other calls another tool there or none; the names of arguments that are other."""


def call_differences(messages: Sequence[Message], options: Sequence[int]) -> Mapping[int, list[Differences]]:
    """Of two options (by message index) what differs in their calls, each held against the other's in its
    place; nothing of more than two, where "the other" is none in particular. Takes the time of reading the
    arguments once."""
    if len(options) != 2:
        return {}
    by_index: dict[int, list[Differences]] = {index: [] for index in options}
    one, other = (messages[index].tool_calls for index in options)
    for pair in zip_longest(one, other):
        differences = _differences(*pair)
        for index, call in zip(options, pair, strict=True):
            if call is not None:
                by_index[index].append(differences)
    return by_index


def differing_part(one: str, other: str) -> tuple[int, int]:
    """From where to where the first text is other than the second, in whole words: what both begin and end
    with stays outside. Takes the time of reading both once."""
    start = _alike(one, other)
    end = len(one) - _alike(one[start:][::-1], other[start:][::-1])
    while 0 < start < len(one) and one[start - 1].isalnum() and one[start].isalnum():
        start -= 1
    while 0 < end < len(one) and one[end - 1].isalnum() and one[end].isalnum():
        end += 1
    return start, end


def _alike(one: str, other: str) -> int:
    """With how many equal characters two texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))


def _differences(one: ToolCall | None, other: ToolCall | None) -> Differences:
    if one is None or other is None or one.name != other.name:
        return True, frozenset()
    if not isinstance(one.arguments, dict) or not isinstance(other.arguments, dict):
        return False, frozenset()
    mine, theirs = (
        {name: canonical_json(value) for name, value in call.arguments.items()} for call in (one, other)
    )
    return False, frozenset(name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name))
