"""Write hostile text into YAML and Markdown so that it stays text."""

from __future__ import annotations

import re
from typing import Final

from .formats.columns import well_formed

_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>:@=$^/])")
_LINES: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_INVISIBLE: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


def yaml_text(text: str) -> str:
    """`text` as a double-quoted scalar of YAML, on one line; U+FFFD stands for lone surrogates."""
    return '"' + "".join(map(_yaml_character, well_formed(text))) + '"'


def _yaml_character(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character == " " or (character.isprintable() and ord(character) <= 0xFFFF):
        return character
    code = ord(character)
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def markdown_text(text: str) -> str:
    """`text` as one line of Markdown in which nothing is markup, a link or HTML."""
    line = " ".join(_LINES.sub(" ", well_formed(text)).split())
    line = _INVISIBLE.sub("\ufffd", line).replace("&", "&amp;").replace("<", "&lt;")
    return _MARKDOWN.sub(r"\\\1", line)


def markdown_quote(text: str) -> str:
    """`text` as a block quote, its lines kept."""
    lines = _LINES.split(well_formed(text).strip())
    return "\n".join(
        f"> {markdown_text(line)}  ".rstrip() if not line.strip() else f"> {markdown_text(line)}  "
        for line in lines
    )
