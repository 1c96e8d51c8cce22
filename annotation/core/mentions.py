"""Mentions in a comment: "@A", "@Adjudicator"."""

import re
from collections.abc import Iterable
from typing import Final

# not after a word, a dot or a slash: addresses of mail and paths are no mentions
_MENTION: Final = re.compile(r"(?<![\w./@])@(\w+)")
_QUOTED: Final = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def mentions(text: str, names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The people mentioned in a text: (those of `names`, strangers), each once, in order.

    What stands in `backticks` is quoted and mentions nobody. A name may be followed by letters that it could
    not contain, as in languages that put no spaces between words: "@A请看" mentions "A".
    """
    by_length = sorted(names, key=len, reverse=True)
    members: list[str] = []
    strangers: list[str] = []
    for word in _MENTION.findall(_QUOTED.sub(" ", text)):
        name = next((candidate for candidate in by_length if _names(word, candidate)), None)
        mentioned, mention = (members, name) if name is not None else (strangers, word)
        if mention not in mentioned:
            mentioned.append(mention)
    return members, strangers


def _names(word: str, name: str) -> bool:
    rest = word[len(name) :]
    return word.startswith(name) and (not rest or (not rest[0].isascii() or not name.isascii()))
