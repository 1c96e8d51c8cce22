"""The beginnings that forms of the pages carry."""

from __future__ import annotations

from annotation.models.versioned import Versioned
from frontend.rendering.began import BEGAN, begun


def seen(row: Versioned) -> dict[str, str]:
    """The hidden field of a form that showed this row as it is here."""
    return {BEGAN: begun(row.version, row.edited())}
