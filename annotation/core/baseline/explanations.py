"""Explain a label of the baseline: the step's strongest features in plain words, and only true ones."""

from __future__ import annotations

from typing import Final

from .features import FEATURES
from .model import Classifier, Floats

MOST: Final = 3
SMALLEST: Final = 0.05
"""A figure that moves the log-odds by less is not worth a sentence."""

_EITHER: Final[dict[str, tuple[str, str]]] = {
    "first": ("It is the first step.", "It is not the first step."),
    "after_user_turn": ("It follows a message of the user.", ""),
    "text_empty": ("It says nothing besides its calls.", ""),
    "no_call": ("It calls no tool.", "It calls a tool."),
    "answers": ("It gives an answer.", "It gives no answer yet."),
    "asks_user": ("It asks the user something.", ""),
    "gives_up": ("It says that something could not be done or found.", ""),
    "parallel": ("It makes several calls at once.", ""),
    "broken_call": ("The arguments of a call cannot be read.", ""),
    "call_problems": ("A call breaks the schema of its tool.", ""),
    "repeated_call": ("It repeats an earlier call, word for word.", ""),
    "same_tool": ("It calls the tool of the call before again.", ""),
    "searches": ("It searches.", "It does not search."),
    "reads": ("It reads or opens something.", ""),
    "writes": ("It changes something.", ""),
    "no_result": ("A call has no result.", ""),
    "result_error": ("The tool result reports an error.", ""),
    "result_empty": ("A tool result is empty.", ""),
    "result_seen": ("A tool result is one that came before.", ""),
    "errors_before": ("A tool reported an error before.", "No tool reported an error before."),
    "error_just_before": ("The step before ended in an error.", ""),
    "repeats_before": ("A call was repeated before.", ""),
    "answer_unseen": ("The answer has words that occur nowhere before.", ""),
    "unseen_numbers": ("It names numbers that occur nowhere before.", ""),
    "unseen_names": ("It names names that occur nowhere before.", ""),
    "call_unseen": ("A call asks in words that occur nowhere before.", ""),
    "user_turns": ("The user has spoken again before it.", ""),
}
"""Figure → what may be said when it is more than 0, and when it is 0."""

_GRADED: Final[dict[str, tuple[str, str]]] = {
    "ordinal": ("It comes late.", "It comes early."),
    "text_length": ("Its text is long.", "Its text is short."),
    "answer_length": ("The answer is long.", ""),
    "names": ("It names many names.", "It names few names or none."),
    "text_on_question": ("Its text keeps to the question.", "Its text has little of the question’s words."),
    "calls": ("It makes many calls.", ""),
    "similar_call": ("It resembles an earlier call.", ""),
    "call_length": ("Its calls are long.", ""),
    "call_on_question": ("Its calls keep to the question.", ""),
    "result_length": ("The result is long.", "The result is short, or there is none."),
    "result_on_question": (
        "The result speaks of what was asked.",
        "No result has many of the question’s words.",
    ),
    "result_on_call": (
        "The result has what the call asked for.",
        "No result has much of what a call asked for.",
    ),
    "result_new_names": ("The result brings new names.", "No result brings many new names."),
    "calls_before": ("Many calls were made before.", "Few calls were made before, or none."),
    "similar_before": ("Calls before it resembled each other.", ""),
    "question_covered": (
        "The results so far have most of the question’s words.",
        "The results so far have few of the question’s words.",
    ),
}
"""Figure → what may be said when it is above its mean in the training labels, and when it is below."""


def reason(model: Classifier, row: Floats, label: int) -> str:
    """Up to three sentences, the strongest first, for what speaks for the label in a step's figures
    (n_features,); a plain admission when nothing does."""
    weights = model.contributions(row, label)
    sentences: list[str] = []
    for place in sorted(range(len(FEATURES)), key=lambda place: (-weights[place], place)):
        if len(sentences) == MOST or weights[place] < SMALLEST:
            break
        sentence = sentence_for(FEATURES[place], float(row[place]), float(model.mean[place]))
        if sentence and sentence not in sentences:
            sentences.append(sentence)
    return " ".join(sentences) or "Nothing in the step stands out; this is how often the label is given."


def sentence_for(name: str, value: float, mean: float) -> str:
    """A sentence about one feature; "" when nothing can be said."""
    if name in _EITHER:
        return _EITHER[name][value <= 0]
    return _GRADED[name][value <= mean] if name in _GRADED else ""
