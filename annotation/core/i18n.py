"""English sentences that remember their pattern and values, so that a page can translate them.

The domain speaks English and no other language; what shows its sentences (a page, an answer of the API) says
them in the reader's (`annotation.language`). A sentence with values in it can be translated only by its
pattern, so it keeps that.
"""

from __future__ import annotations


class Translatable(str):
    """An English sentence, a `str` like any other, with the pattern and the values it was made from."""

    pattern: str
    values: dict[str, object]


def translatable(pattern: str, /, **values: object) -> Translatable:
    """`pattern` with its {names} filled in; `make messages` finds the patterns by this function's name.

    Numbers that need a format come as text: `translatable("At most {n} characters.", n=f"{limit:,}")`. A
    pattern without values is taken as it is, braces and all.
    """
    sentence = Translatable(pattern.format(**values) if values else pattern)
    sentence.pattern, sentence.values = pattern, values
    return sentence
