"""Servers on which runs lie and labels are wanted, and stores of files: a file here for each kind.

Pure: a kind turns the answers of a server into traces that an importer of `annotation.importers` reads, and
labels into calls (`base.Connected`); a store gives files and takes releases (`stores.Store`). What is new,
what is pushed already and who may do it is `annotation.services.connections`' business; the calls themselves
are `annotation.outside`'s. A kind's module has `open_at(server, place)`, and is imported when it is first
wanted.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.outside import KeyScheme

from .base import Connected, ConnectionKind, LeftOut, Mark, Page, Place, PulledTrace, PushTally
from .s3_signing import S3Signer
from .stores import Store

if TYPE_CHECKING:
    from annotation.outside.folders import OutsideFolder
    from annotation.outside.server import OutsideServer, Sign

__all__ = [
    "KINDS",
    "RUNS",
    "STORES",
    "Connected",
    "ConnectionKind",
    "LeftOut",
    "Mark",
    "Page",
    "Place",
    "PulledTrace",
    "PushTally",
    "Store",
    "kind_named",
    "open_at",
    "open_store",
    "signer",
]

_PATTERN: Final = translatable("A pattern below the address: runs/*.jsonl, or **/*.json for any folder.")

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
        ConnectionKind(
            name="s3",
            title="S3",
            format="",
            source_label=translatable("Files"),
            source_help=_PATTERN,
            filter_help="",
            store=True,
            at_origin=True,
            scheme=KeyScheme.SIGNED,
        ),
        ConnectionKind(
            name="huggingface",
            title="Hugging Face Hub",
            format="",
            source_label=translatable("Files"),
            source_help=_PATTERN,
            filter_help="",
            store=True,
            at_origin=True,
        ),
        ConnectionKind(
            name="folder",
            title=translatable("Folder"),
            format="",
            source_label=translatable("Files"),
            source_help=_PATTERN,
            filter_help="",
            store=True,
            local=True,
        ),
    )
}


RUNS: Final = {name: kind for name, kind in KINDS.items() if not kind.store}
STORES: Final = {name: kind for name, kind in KINDS.items() if kind.store}


class _Module(Protocol):
    def open_at(self, server: Any, place: Place) -> Any: ...


def kind_named(name: str) -> ConnectionKind:
    """The kind of this name. Raises Invalid."""
    if name not in KINDS:
        names = ", ".join(KINDS)
        raise Invalid(
            translatable("Unknown kind of server “{kind}”; choose one of {known}.", kind=name, known=names),
            fields={"kind": translatable("One of {known}.", known=names)},
        )
    return KINDS[name]


def open_at(kind: str, server: OutsideServer, place: Place) -> Connected:
    """A connection of the kind of this name, ready to work. Nothing is asked yet."""
    return cast(Connected, _module(kind).open_at(server, place))


def open_store(kind: str, place_of_it: OutsideServer | OutsideFolder, place: Place) -> Store:
    """A store of the kind of this name, on a server or in a folder. Nothing is asked yet. Raises Invalid for
    a
    pattern that is none."""
    return cast(Store, _module(kind).open_at(place_of_it, place))


def signer(kind: ConnectionKind, key: str, key_name: str) -> Sign | None:
    """The signer of calls of a kind whose keys are not sent; None for another kind. Raises Invalid for a key
    that is not an id and a secret."""
    if kind.scheme is not KeyScheme.SIGNED:
        return None
    key_id, _, secret = key.partition(":")
    if key and not (key_id and secret):
        raise Invalid(
            translatable("The key in ${name} is not of the form id:secret.", name=key_name),
            code="bad_key",
            fields={"key_name": translatable("names a variable whose value is not of the form id:secret")},
        )
    return S3Signer(key_id, secret)


def _module(kind: str) -> _Module:
    return cast(_Module, import_module(f"{__name__}.{kind_named(kind).name}"))
