"""The renderer: strict ASCII JSON, whatever a trajectory contains."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request


class StrictJSON(JSONRenderer):
    """Lone surrogates and NUL go out as \\u escapes; NaN and infinities, which JSON has no word for, as
    the strings "NaN", "Infinity" and "-Infinity"."""

    ensure_ascii = True

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        """The bytes of the answer."""
        try:
            return super().render(data, accepted_media_type, renderer_context)
        except ValueError:
            return super().render(strict(data), accepted_media_type, renderer_context)


def strict(value: Any) -> Any:
    """The same value with words in the place of numbers that strict JSON refuses."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {key: strict(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return [strict(inner) for inner in value]
    return value


class AlwaysJSON(BaseContentNegotiation):
    """There is one representation, so that the Accept header has nothing to choose."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        """The parser of the request's content type; None (415) without one."""
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == sent), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first renderer of the view."""
        first = next(iter(renderers))
        return first, first.media_type
