"""Servers on which runs lie and labels are wanted: a file here for each kind.

Pure: a kind turns the answers of a server into traces that an importer of `annotation.importers` reads, and
labels into calls. What is new, what is pushed already and who may do it is `annotation.services.connections`'
business; the calls themselves are `annotation.outside`'s. A kind's module has `open_at(server, place)`, and
is imported when it is first wanted.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.outside import KeyScheme

from .base import Connected, ConnectionKind, LeftOut, Mark, Page, Place, PulledTrace, PushTally

if TYPE_CHECKING:
    from annotation.outside.server import OutsideServer

__all__ = [
    "KINDS",
    "Connected",
    "ConnectionKind",
    "LeftOut",
    "Mark",
    "Page",
    "Place",
    "PulledTrace",
    "PushTally",
    "kind_named",
    "open_at",
]

KINDS: Final = {
    kind.name: kind
    for kind in (
        ConnectionKind(
            name="mlflow",
            title="MLflow",
            format="mlflow",
            source_label=translatable("Experiment"),
            source_help=translatable("Its name, or its number."),
            filter_help=translatable("As MLflow’s search takes it: tags.stage = 'test'."),
        ),
        ConnectionKind(
            name="phoenix",
            title="Phoenix",
            format="opentelemetry",
            source_label=translatable("Project"),
            source_help=translatable("Its name, or its id."),
            filter_help=translatable("Only spans that began then or later: 2026-11-01."),
        ),
        ConnectionKind(
            name="langfuse",
            title="Langfuse",
            format="langfuse",
            source_label=translatable("Project"),
            source_help=translatable("Its name, or its id."),
            filter_help=translatable("A JSON list of conditions, as its API takes it."),
            scheme=KeyScheme.BASIC,
            hint=translatable(
                "Observations may reach Langfuse late, so a trace comes once nothing that is known of it is "
                "younger than 15 minutes."
            ),
        ),
        ConnectionKind(
            name="langsmith",
            title="LangSmith",
            format="langchain",
            source_label=translatable("Project"),
            source_help=translatable("Its name, or its id."),
            filter_help=translatable('Of the outermost run, as its filters are: has(tags, "prod").'),
            scheme=KeyScheme.X_API_KEY,
            hint=translatable("A trace comes once all of its runs have ended, two minutes ago or earlier."),
        ),
    )
}


class _Module(Protocol):
    def open_at(self, server: OutsideServer, place: Place) -> Connected: ...


def kind_named(name: str) -> ConnectionKind:
    """The kind of this name. Raises Invalid."""
    if name not in KINDS:
        known = ", ".join(KINDS)
        raise Invalid(
            translatable("Unknown kind of server “{kind}”; choose one of {known}.", kind=name, known=known),
            fields={"kind": translatable("One of {known}.", known=known)},
        )
    return KINDS[name]


def open_at(kind: str, server: OutsideServer, place: Place) -> Connected:
    """A connection of the kind of this name, ready to work. Nothing is asked yet."""
    module = cast(_Module, import_module(f"{__name__}.{kind_named(kind).name}"))
    return module.open_at(server, place)
