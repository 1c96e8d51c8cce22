"""Draw the examples of prompts: with a seed, and never from a task that is tested or asked."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from annotation.core.releases.exports.asked import AskedKind, AskedQuestion

from .templates import nearest


class Group(NamedTuple):
    """Questions that share their examples: those of one subset, kind and language of the words."""

    subset: str
    kind: AskedKind
    language: str


def group_of(asked: AskedQuestion) -> Group:
    """The group of a question."""
    return Group(asked.subset, asked.kind, nearest(asked.language))


@dataclass(frozen=True, slots=True)
class Place:
    """A question, as drawing knows it: its place in the release, its task, and its size as an example (units
    of judging.tokens)."""

    ordinal: int
    group: Group
    record_id: str
    task: str
    size: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """An example by its place, and its task."""

    ordinal: int
    record_id: str
    task: str


def draw(
    places: Iterable[Place], tested: Collection[str], *, shots: int, seed: int, room: int
) -> dict[Group, tuple[Drawn, ...]]:
    """The examples of each group, in the order in which they are shown: of tasks outside `tested`, each of
    another task, and one more than `shots`, for a question that shares a task with one of them.

    Fewer where there are no more. Questions that take more than `room` are passed over. The order of chance
    is that of SHA-256 over seed, group and record.
    """
    fit: dict[Group, list[Place]] = defaultdict(list)
    for place in places:
        if shots and place.task not in tested and place.size <= room:
            fit[place.group].append(place)
    drawn: dict[Group, tuple[Drawn, ...]] = {}
    for group, candidates in fit.items():
        by_task: dict[str, Drawn] = {}
        for place in sorted(candidates, key=lambda one: _chance(seed, one)):
            by_task.setdefault(place.task, Drawn(place.ordinal, place.record_id, place.task))
            if len(by_task) > shots:
                break
        drawn[group] = tuple(by_task.values())
    return drawn


def examples_for(task: str, drawn: Sequence[Drawn], shots: int) -> list[Drawn]:
    """The examples that a question of `task` is shown."""
    return [one for one in drawn if one.task != task][:shots]


def _chance(seed: int, place: Place) -> bytes:
    text = "\n".join([str(seed), *map(str, place.group), place.record_id])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def drawn_json(drawn: Mapping[Group, Sequence[Drawn]]) -> list[dict[str, Any]]:
    """The examples of each group as they are kept."""
    return [
        {
            **group._asdict(),
            "examples": [
                {"ordinal": one.ordinal, "record_id": one.record_id, "task": one.task} for one in examples
            ],
        }
        for group, examples in sorted(drawn.items())
    ]


def drawn_of_json(kept: Sequence[Mapping[str, Any]]) -> dict[Group, tuple[Drawn, ...]]:
    """The inverse of `drawn_json`."""
    return {
        Group(one["subset"], AskedKind(one["kind"]), one["language"]): tuple(
            Drawn(**example) for example in one["examples"]
        )
        for one in kept
    }
