"""Inputs of calls of a model, each of which is the one before with more at its end."""

from __future__ import annotations

from typing import Any, Final

from annotation.core.jsonio.jsonlines import BadJson, parse_text
from annotation.importers.parts.dialects import read_list, read_messages, read_value

__all__ = ["GrowingInput"]

_SPACES: Final = " \t\r\n"


class GrowingInput:
    """Reads the inputs of a trace's calls, most of which begin with the text of the one before.

    That part is not parsed and converted again: the same messages come back, so that a trace takes time for
    what is new in each call and not for the square of its length. Nobody may change them.
    """

    def __init__(self) -> None:
        self._text: Any = None
        self._stem = ""
        self._items: list[Any] = []
        self._converted: dict[int, list[dict[str, Any]]] = {}

    def read(self, value: Any) -> list[dict[str, Any]]:
        """The messages that `read_messages(value, "user")` gives, whatever was read before."""
        items = self._parse(value) if isinstance(value, str) else None
        return read_list(items, "user", convert=self._convert) if items else read_messages(value, "user")

    def was_list(self, value: Any) -> bool:
        """Whether `value` is the text that was read last, and the JSON of a list."""
        return value is self._text and value is not None

    def _parse(self, text: str) -> list[Any] | None:
        """The elements of a JSON list; `None` for any other text."""
        whole = text.rstrip(_SPACES)
        if not whole.endswith("]"):
            return None
        grown = bool(self._stem) and whole.startswith(self._stem)
        rest = whole[len(self._stem) :].lstrip(_SPACES) if grown else ""
        try:
            if grown and rest == "]":
                new = []
            elif grown and rest.startswith(","):
                new = parse_text("[" + rest[1:])
            else:
                grown, new = False, parse_text(whole)
        except BadJson:
            return None
        if not isinstance(new, list) or (rest.startswith(",") and grown and not new):
            return None
        if not grown:
            self._converted.clear()
        self._items = [*self._items, *new] if grown else new
        self._text, self._stem = text, whole[:-1] if self._items else ""
        return self._items

    def _convert(self, item: Any, role: str, level: int) -> list[dict[str, Any]]:
        """A member of the list, once: the list holds it, so that no other has its `id`."""
        messages = self._converted.get(id(item))
        if messages is None:
            messages = self._converted[id(item)] = read_value(item, role, level)
        return messages
