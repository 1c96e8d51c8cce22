"""Sentences for people that remember what they were made from.

The domain speaks English and no other language; what shows its sentences (a page, an answer of the API) says
them in the reader's (`annotation.language`). A sentence with values in it can be said anew only by its
pattern, so it keeps that.
"""

from __future__ import annotations


class Said(str):
    """An English sentence, a `str` like any other, with the pattern and the values it was made from."""

    pattern: str
    values: dict[str, object]


def said(pattern: str, /, **values: object) -> Said:
    """`pattern` with its {names} filled in; `make messages` finds the patterns by this function's name.

    Numbers that need a format come as text: `said("At most {n} characters.", n=f"{limit:,}")`. A pattern
    without values is taken as it is, braces and all.
    """
    sentence = Said(pattern.format(**values) if values else pattern)
    sentence.pattern, sentence.values = pattern, values
    return sentence
