"""Patterns of paths: `*` and `?` within a name, `[ab]`, and `**` for any folders."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

MAX_PARTS: Final = 30
MAX_STARS: Final = 6
_MAGIC: Final = re.compile(r"[*?[]")


class Pattern:
    """The files that are wanted, by their path below a folder. Raises Invalid for what is no such pattern."""

    def __init__(self, text: str) -> None:
        self._parts = text.split("/")
        unusable = any(part in ("", ".", "..") for part in self._parts) or "\\" in text
        stars = max((part.count("*") for part in self._parts if part != "**"), default=0)
        if unusable or not text.isprintable() or len(self._parts) > MAX_PARTS or stars > MAX_STARS:
            sentence = translatable(
                "This is no pattern of files; write one below the address, such as runs/*.jsonl or **/*.json."
            )
            raise Invalid(sentence, fields={"source": sentence})

    @property
    def beginning(self) -> str:
        """The known beginning of every path that fits."""
        whole = "/".join(self._parts)
        wildcard = _MAGIC.search(whole)
        return whole[: wildcard.start()] if wildcard else whole

    @property
    def deep(self) -> int | None:
        """The number of names in every path that fits; `None` for any."""
        return None if "**" in self._parts else len(self._parts)

    def fits(self, path: str) -> bool:
        """Whether a path fits. Case matters."""
        reached = {0}
        parts = self._parts
        for name in path.split("/"):
            reached = {
                after
                for at in self._with_none(reached)
                if at < len(parts)
                for after in (
                    (at,) if parts[at] == "**" else (at + 1,) if fnmatchcase(name, parts[at]) else ()
                )
            }
        return len(parts) in self._with_none(reached)

    def _with_none(self, reached: set[int]) -> set[int]:
        """The places that can be reached without another name: `**` may stand for none."""
        more = set(reached)
        for at in sorted(reached):
            while at < len(self._parts) and self._parts[at] == "**":
                at += 1
                more.add(at)
        return more
