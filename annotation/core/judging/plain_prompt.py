"""Ask a judge a prompt as it stands, and take its answer as it comes: a text, which labels nothing."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.core.i18n import translatable

from .cost import ANSWER_TOKENS_PER_STEP, CostEstimate, estimate
from .parsed_answer import ParsedAnswer
from .prompt import Prompt, TooLong
from .settings import JudgeSettings
from .tokens import estimate_tokens


def plain_prompt(settings: JudgeSettings, text: str) -> Prompt:
    """A prompt that is sent as the only message, without a schema for its answer. Raises `TooLong` where the
    context window cannot hold it beside the answer."""
    tokens, budget = estimate_tokens(text), settings.context_tokens - settings.answer_limit
    if tokens > budget:
        raise TooLong(
            translatable(
                "The prompt is too long for the judge: it has {needed} tokens, and the budget is {budget}.",
                needed=f"{tokens:,}",
                budget=f"{budget:,}",
            ),
            details={"needed_tokens": tokens, "budget_tokens": budget},
        )
    return Prompt("", "", text, (), tokens, (), schema={}, read=read_text)


def expected_text(settings: JudgeSettings, text: str) -> CostEstimate:
    """The expected effort of such a prompt, on the high side."""
    try:
        prompt = plain_prompt(settings, text)
    except TooLong:
        return CostEstimate(too_long=1)
    limit = settings.answer_limit
    answers = -(-limit // ANSWER_TOKENS_PER_STEP)
    return estimate(prompt.estimated_tokens, answers, settings.price, max_tokens=limit)


def read_text(answer_text: str, _steps: Sequence[int] = (), *, cut_off: bool = False) -> ParsedAnswer:
    """The answer as it came, in `text`. Never raises."""
    return ParsedAnswer({}, {}, None, "", (), 0, 0, 0, cut=cut_off, text=answer_text)
