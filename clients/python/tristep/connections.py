"""Connections: servers where runs lie, and where the consensus is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .nouns import Items, Noun, Pages, Part

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Transfer(Noun):
    """One pull or push."""

    def get(self) -> m.Transfer:
        """Look at a transfer."""
        return self._get()

    def stop(self) -> m.Transfer:
        """Stop a transfer."""
        return self._post("stop/")


class Transfers(Items[Transfer]):
    """Transfers of a project's connections, by id."""

    _item = Transfer


class Connection(Noun):
    """One place on an outside server."""

    def get(self) -> m.Connection:
        """Look at a connection."""
        return self._get()

    def update(self, **fields: Unpack[m.PatchedConnectionSettingsRequest]) -> m.Connection:
        """Change a connection."""
        return self._patch("", fields)

    def delete(self) -> None:
        """Delete a connection."""
        self._delete()

    def transfers(self) -> Pages[m.Transfer]:
        """List the transfers of a connection."""
        return self._list("transfers/")

    def transfer(self, **fields: Unpack[m.NewTransferRequest]) -> m.Transfer:
        """Pull or push."""
        return self._post("transfers/", fields)


class Connections(Items[Connection]):
    """The connections of a project."""

    _item = Connection
    transfers = Part(Transfers, "transfers/")

    def list(self) -> Pages[m.Connection]:
        """List connections."""
        return self._list()

    def create(self, **fields: Unpack[m.NewConnectionRequest]) -> m.Connection:
        """Make a connection."""
        return self._post("", fields)
