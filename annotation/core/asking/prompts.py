"""The prompt of a released question: words, examples and the question, made to fit a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from annotation.core.judging.clipping import clip_middle
from annotation.core.judging.tokens import UNITS_PER_TOKEN, tokens_of, units
from annotation.core.judging.trajectory_text import sendable
from annotation.core.releases.exports.asked import AskedQuestion

from .drawing import Drawn, Group, examples_for, group_of
from .history import cut_note, history_text
from .settings import PromptSettings
from .templates import Template, answered, built_in

FEWEST_HISTORY_TOKENS: Final = 60
"""A history is never cut to less than this: then the question is too long."""
_BETWEEN: Final = "\n\n"
_LETTER: Final = "x"


@dataclass(frozen=True, slots=True)
class AskedPrompt:
    """A prompt as it is sent. `cut`: characters that are left out of its history; `shots`: its examples;
    `tokens`: estimated, on the high side."""

    text: str
    cut: int
    shots: int
    tokens: int


@dataclass(frozen=True)
class Written:
    """A question in words, without its examples and before it is cut."""

    asked: AskedQuestion
    group: Group
    template: Template
    history: str

    def up_to_answer(self, history: str) -> str:
        """The question with this history, up to where its answer begins."""
        options = "\n".join(f"({one.letter}) {one.text}" for one in self.asked.options)
        return self.template.asks(self.group.kind, history, sendable(options)[0])

    @cached_property
    def example(self) -> str:
        """The question as an example, with its answer."""
        text = self.up_to_answer(self.history) + answered(self.group.kind, self.asked.keys)
        return sendable(text)[0]


def written(record: Mapping[str, Any], asked: AskedQuestion, settings: PromptSettings) -> Written:
    """A question of a release in words."""
    group = group_of(asked)
    template = settings.own(group.subset) or built_in(group.kind, group.language)
    return Written(asked, group, template, history_text(record, group.language))


def example_room(settings: PromptSettings) -> int:
    """The units that one example may take: all of them together half of the budget."""
    return settings.tokens * UNITS_PER_TOKEN // (2 * max(1, settings.shots))


def prompt_of(
    question: Written, drawn: Sequence[Drawn], examples: Mapping[int, str], settings: PromptSettings
) -> AskedPrompt | None:
    """The prompt of a question, with those examples (by their ordinal) that are of other tasks; None if it
    does not fit even with its history cut. Only that is cut, in its middle. Same input, same prompt."""
    shown = examples_for(question.asked.task, drawn, settings.shots)
    before = _BETWEEN.join(
        filter(None, [question.template.preamble, *(examples[one.ordinal] for one in shown)])
    )
    before = f"{before}{_BETWEEN}" if before else ""
    frame = units(before + question.up_to_answer(_LETTER)) - units(_LETTER)
    room = settings.tokens * UNITS_PER_TOKEN - frame
    size = units(question.history)
    if room < min(size, FEWEST_HISTORY_TOKENS * UNITS_PER_TOKEN):
        return None
    clip = clip_middle(question.history, room, lambda left_out: cut_note(question.group.language, left_out))
    text = before + question.up_to_answer(clip.text)
    return AskedPrompt(text, clip.left_out, len(shown), tokens_of(units(text)))
