"""Explain a label of the baseline: the step's strongest features in plain words, and only true ones."""

from __future__ import annotations

from typing import Final

from annotation.core.i18n import translatable

from .features import FEATURES
from .forest import Floats

MOST: Final = 3
SMALLEST: Final = 0.05
"""A figure that moves the log-odds by less is not worth a sentence."""

_NOTHING: Final = translatable("Nothing in the step stands out; this is how often the label is given.")

_EITHER: Final[dict[str, tuple[str, str]]] = {
    "first": (translatable("It is the first step."), translatable("It is not the first step.")),
    "after_user_turn": (translatable("It follows a message of the user."), ""),
    "text_empty": (translatable("It says nothing besides its calls."), ""),
    "no_call": (translatable("It calls no tool."), translatable("It calls a tool.")),
    "answers": (translatable("It gives an answer."), translatable("It gives no answer yet.")),
    "asks_user": (translatable("It asks the user something."), ""),
    "gives_up": (translatable("It says that something could not be done or found."), ""),
    "parallel": (translatable("It makes several calls at once."), ""),
    "broken_call": (translatable("The arguments of a call cannot be read."), ""),
    "call_problems": (translatable("A call breaks the schema of its tool."), ""),
    "repeated_call": (translatable("It repeats an earlier call, word for word."), ""),
    "same_tool": (translatable("It calls the tool of the call before again."), ""),
    "searches": (translatable("It searches."), translatable("It does not search.")),
    "reads": (translatable("It reads or opens something."), ""),
    "writes": (translatable("It changes something."), ""),
    "no_result": (translatable("A call has no result."), ""),
    "result_error": (translatable("The tool result reports an error."), ""),
    "result_empty": (translatable("A tool result is empty."), ""),
    "result_seen": (translatable("A tool result is one that came before."), ""),
    "errors_before": (
        translatable("A tool reported an error before."),
        translatable("No tool reported an error before."),
    ),
    "error_just_before": (translatable("The step before ended in an error."), ""),
    "repeats_before": (translatable("A call was repeated before."), ""),
    "answer_unseen": (translatable("The answer has words that occur nowhere before."), ""),
    "unseen_numbers": (translatable("It names numbers that occur nowhere before."), ""),
    "unseen_names": (translatable("It names names that occur nowhere before."), ""),
    "call_unseen": (translatable("A call asks in words that occur nowhere before."), ""),
    "user_turns": (translatable("The user has spoken again before it."), ""),
}
"""Figure → what may be said when it is more than 0, and when it is 0."""

_GRADED: Final[dict[str, tuple[str, str]]] = {
    "ordinal": (translatable("It comes late."), translatable("It comes early.")),
    "text_length": (translatable("Its text is long."), translatable("Its text is short.")),
    "answer_length": (translatable("The answer is long."), ""),
    "names": (translatable("It names many names."), translatable("It names few names or none.")),
    "text_on_question": (
        translatable("Its text keeps to the question."),
        translatable("Its text has little of the question’s words."),
    ),
    "calls": (translatable("It makes many calls."), ""),
    "similar_call": (translatable("It resembles an earlier call."), ""),
    "call_length": (translatable("Its calls are long."), ""),
    "call_on_question": (translatable("Its calls keep to the question."), ""),
    "result_length": (
        translatable("The result is long."),
        translatable("The result is short, or there is none."),
    ),
    "result_on_question": (
        translatable("The result speaks of what was asked."),
        translatable("No result has many of the question’s words."),
    ),
    "result_on_call": (
        translatable("The result has what the call asked for."),
        translatable("No result has much of what a call asked for."),
    ),
    "result_new_names": (
        translatable("The result brings new names."),
        translatable("No result brings many new names."),
    ),
    "calls_before": (
        translatable("Many calls were made before."),
        translatable("Few calls were made before, or none."),
    ),
    "similar_before": (translatable("Calls before it resembled each other."), ""),
    "question_covered": (
        translatable("The results so far have most of the question’s words."),
        translatable("The results so far have few of the question’s words."),
    ),
}
"""Figure → what may be said when it is above its mean in the training labels, and when it is below."""


def reason(weights: Floats, row: Floats, mean: Floats) -> str:
    """Up to three sentences, the strongest first, for what speaks for a label: `weights`, of each figure in
    log-odds (`evidence`), `row`, the step's figures, `mean`, those of the training, (n_features,) each; a
    plain admission when nothing does."""
    sentences: list[str] = []
    for place in sorted(range(len(FEATURES)), key=lambda place: (-weights[place], place)):
        if len(sentences) == MOST or weights[place] < SMALLEST:
            break
        sentence = sentence_for(FEATURES[place], float(row[place]), float(mean[place]))
        if sentence and sentence not in sentences:
            sentences.append(sentence)
    return " ".join(sentences) or _NOTHING


def sentence_for(name: str, value: float, mean: float) -> str:
    """A sentence about one feature; "" when nothing can be said."""
    if name in _EITHER:
        return _EITHER[name][value <= 0]
    return _GRADED[name][value <= mean] if name in _GRADED else ""
