"""Verdicts on outputs: whether it is a key by either reading, and how near a text comes to one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from annotation.core.scoring.questions.outputs import READINGS, without_outer_quotes
from annotation.core.scoring.questions.rouge import Rouge, Target, tokens

TEXTS: Final = frozenset({"command", "answer"})
"""The kinds whose keys are texts, for which ROUGE says how near an output comes."""


@dataclass(frozen=True)
class Question:
    """A question that an output is held against. `kind` is one of READINGS; `keys` are the letters that are
    right, or the accepted texts; ROUGE is that of the nearest one."""

    kind: str
    keys: tuple[str, ...]
    language: str = "en"

    # of many models the outputs are held against the same keys
    @cached_property
    def targets(self) -> list[Target]:
        """The accepted texts by their tokens."""
        return [Target(tokens(key, self.language)) for key in self.keys]

    @cached_property
    def stripped(self) -> frozenset[str]:
        """The accepted texts without blanks around them."""
        return frozenset(key.strip() for key in self.keys)

    @cached_property
    def unquoted(self) -> frozenset[str]:
        """The accepted texts without quotes around them."""
        return frozenset(map(without_outer_quotes, self.keys))


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on an output. A question is `readable` if the strict reading finds an answer."""

    empty: bool
    readable: bool
    published: bool
    strict: bool
    unquoted: bool = False
    near: Rouge | None = None


def verdict(question: Question, output: str) -> Verdict:
    """The verdict on one output."""
    read = READINGS[question.kind](output)
    empty = not output.strip()
    if question.kind not in TEXTS:
        wanted = ",".join(sorted(question.keys)) if question.kind == "keys" else question.keys[0]
        return Verdict(empty, read.strict is not None, read.published == wanted, read.strict == wanted)
    answer_text = read.strict or ""
    words = tokens(answer_text, question.language)
    near = [target.near(words) for target in question.targets]
    return Verdict(
        empty,
        read.strict is not None,
        read.published in question.keys,
        answer_text.strip() in question.stripped,
        without_outer_quotes(answer_text) in question.unquoted,
        near[0] if len(near) == 1 else max(near, key=lambda one: (one.rouge_l, one.rouge_1, one.rouge_2)),
    )
