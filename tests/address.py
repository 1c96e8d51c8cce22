"""Addresses of the server, with parameters filled in from the world of tests/world.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.urls import reverse

from frontend.rendering.began import begun
from tests.ids import Id
from tests.world import World

Fill = Callable[[World], Mapping[str, Any]]


def nothing(world: World) -> Mapping[str, Any]:
    """An address without parameters."""
    return {}


def slug(world: World) -> Mapping[str, Any]:
    """The project."""
    return {"slug": world.cast.project.slug}


def subset(world: World) -> Mapping[str, Any]:
    """The subset, by name."""
    return {**slug(world), "name": "tiny"}


def pk(name: str, *, of_project: bool = False) -> Fill:
    """Something by its id in the world, or a trajectory by its place."""

    def fill(world: World) -> Mapping[str, Any]:
        number = Id.of(world.at[name]) if name in world.at else world.ids[name]
        return {"pk": number, **(slug(world) if of_project else {})}

    return fill


def chosen(name: str, field: str = "chosen") -> Fill:
    """A body that chooses one thing, by its id in the world, or a trajectory by its place."""

    def fill(world: World) -> Mapping[str, Any]:
        number = world.at[name].pk if name in world.at else int(world.ids[name])
        return {field: [number]}

    return fill


def within(place: str, **more: int) -> Fill:
    """Something inside a trajectory."""
    return lambda world: {"pk": Id.of(world.at[place]), **more}


def kind(name: str) -> Fill:
    """A kind of judge."""
    return lambda world: {**slug(world), "kind": name}


def answer(place: str, *, of_project: bool = False, **more: str) -> Fill:
    """The address parameters of a judge's answer about a trajectory."""
    return lambda world: {"pk": world.answers[place], **(slug(world) if of_project else {}), **more}


def run_action(name: str) -> Fill:
    """Something to do with the run."""
    return lambda world: {**pk("run", of_project=True)(world), "name": name}


def version(**more: str | int) -> Fill:
    """The release."""
    return lambda world: {**slug(world), "version": "1.0", **more}


def pair(**more: str) -> Fill:
    """The second release, compared with the first."""
    return lambda world: {**slug(world), "version": "1.1", "other": "1.0", **more}


def of_release(name: str) -> Fill:
    """Something of the release, by its id in the world."""
    return lambda world: {**version()(world), "pk": world.ids[name]}


def seen(name: str, /, **body: Any) -> Fill:
    """A form that shows a row as it is, by its id in the world, and changes it."""

    def fill(world: World) -> Mapping[str, Any]:
        row = world.ids[name].table._base_manager.get(pk=world.ids[name])
        return {**body, "began": begun(row.version, row.edited())}

    return fill


@dataclass(frozen=True)
class Address:
    """A route by name, filled in; `tag` tells several fillings of one route apart."""

    name: str
    fill: Fill = nothing
    tag: str = ""
    body: Mapping[str, Any] | Fill = field(default_factory=dict)
    query: str = ""

    @property
    def key(self) -> str:
        """The name of the address in the matrix."""
        return f"{self.name}@{self.tag}" if self.tag else self.name

    def sent(self, world: World) -> dict[str, Any]:
        """The body that is sent there."""
        return dict(self.body(world) if callable(self.body) else self.body)

    def url(self, world: World) -> str:
        """The address itself."""
        place = reverse(self.name, kwargs=dict(self.fill(world)))
        return f"{place}?{self.query}" if self.query else place


def looks(space: str, undo: str, expected: Any) -> Iterator[Address]:
    """Looking again after the guidelines changed: queueing, taking a batch back that nobody has queued,
    beginning."""
    yield Address(f"{space}look-again", slug, body={"expected": expected})
    yield Address(space + undo, lambda world: {**slug(world), "batch": UUID(int=1)})
    yield Address(f"{space}assignment-look-again", pk("ann-dispute"))
