"""Formats that other installed packages bring, by entry points of the group `tristep.formats`."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from .base import Importer

GROUP: Final = "tristep.formats"

logger = logging.getLogger(__name__)


def with_others(own: tuple[Importer, ...], points: Iterable[EntryPoint] | None = None) -> list[Importer]:
    """Our formats, and before the last of them, plain chats, those of other packages.

    One that cannot be loaded, is no importer, or takes the name of another is left out with a warning: a
    broken package must not stop the server.
    """
    names = {importer.name for importer in own}
    others = []
    for point in entry_points(group=GROUP) if points is None else points:
        try:
            importer = point.load()()
        except Exception:
            logger.warning("The format %s cannot be loaded.", point.name, exc_info=True)
            continue
        if not _is_importer(importer):
            logger.warning("The format %s is not an importer.", point.name)
        elif importer.name in names:
            logger.warning("The format %s takes a name that is in use: %s.", point.name, importer.name)
        else:
            names.add(importer.name)
            others.append(importer)
    return [*own[:-1], *others, *own[-1:]]


def _is_importer(value: object) -> bool:
    texts = all(isinstance(getattr(value, name, None), str) for name in ("name", "title", "recognised_by"))
    return texts and all(callable(getattr(value, name, None)) for name in ("sniff", "read"))
