"""What a judge's calls cost: tokens as the server counts them, or as estimated, times a price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

MILLION: Final = Decimal(1_000_000)
PLACES: Final = Decimal("0.00000001")
"""Costs are kept to eight decimal places: a single call may cost far less than a cent."""

ANSWER_TOKENS_PER_STEP: Final = 150
ANSWER_TOKENS_BASE: Final = 150
_MAX_TOKENS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Price per million tokens, in the currency of the judge's account. `per_million_cached` is what prompt
    tokens cost that the server had in its cache; `None`: the same as the others."""

    per_million_prompt: Decimal
    per_million_answer: Decimal
    per_million_cached: Decimal | None = None


FREE: Final = Price(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `cached_tokens` are part of `prompt_tokens`; hidden reasoning is part of
    `answer_tokens`. `estimated`: the server did not say (all of) it, and ours are upper bounds."""

    prompt_tokens: int
    answer_tokens: int
    cached_tokens: int = 0
    estimated: bool = False

    @classmethod
    def read(cls, given: Any, *, prompt_estimate: int, answer_estimate: int) -> Usage:
        """The `usage` object of a chat-completions reply; estimates, flagged, for what it leaves out."""
        given = given if isinstance(given, Mapping) else {}
        prompt, answer = _count(given.get("prompt_tokens")), _count(given.get("completion_tokens"))
        details = given.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
        if cached is None:
            cached = _count(given.get("prompt_cache_hit_tokens"))  # as DeepSeek says it
        prompt_tokens = prompt_estimate if prompt is None else prompt
        return cls(
            prompt_tokens=prompt_tokens,
            answer_tokens=answer_estimate if answer is None else answer,
            cached_tokens=min(cached or 0, prompt_tokens),
            estimated=prompt is None or answer is None,
        )


def cost(usage: Usage, price: Price) -> Decimal:
    """What `usage` costs at `price`, rounded half up to eight places."""
    cached_price = price.per_million_prompt if price.per_million_cached is None else price.per_million_cached
    total = (
        (usage.prompt_tokens - usage.cached_tokens) * price.per_million_prompt
        + usage.cached_tokens * cached_price
        + usage.answer_tokens * price.per_million_answer
    )
    return (total / MILLION).quantize(PLACES, ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a call, or a run of calls, is expected to take at most. Sums: `a + b`."""

    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost: Decimal = Decimal(0)
    calls: int = 0
    too_long: int = 0
    """Trajectories that do not fit the judge's token budget, and so will not be asked about."""

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            self.prompt_tokens + other.prompt_tokens,
            self.answer_tokens + other.answer_tokens,
            self.cost + other.cost,
            self.calls + other.calls,
            self.too_long + other.too_long,
        )


def estimate(
    prompt_tokens: int, steps: int, price: Price, *, max_answer_tokens: int | None = None
) -> Estimate:
    """One call before it is made. An answer is taken to have 150 tokens, and 150 more for each step (two or
    three sentences of reasoning, a label, a reason), at most `max_answer_tokens`; hidden reasoning of a
    reasoning model comes on top, and cannot be known."""
    answer = ANSWER_TOKENS_BASE + ANSWER_TOKENS_PER_STEP * steps
    if max_answer_tokens is not None:
        answer = min(answer, max_answer_tokens)
    return Estimate(prompt_tokens, answer, cost(Usage(prompt_tokens, answer), price), calls=1)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MAX_TOKENS else None
