"""Costs of a judge's calls: tokens as the server counts them, or as estimated, times a price."""

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
    """Price per million tokens, in the currency of the judge's account. `cached` is what input costs that
    the server had in its cache; `None`: the same as the others."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None


FREE: Final = Price(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `tokens_cached` are part of `tokens_in`; hidden reasoning is part of
    `tokens_out`. `estimated`: the server did not say (all of) it, and ours are upper bounds."""

    tokens_in: int
    tokens_out: int
    tokens_cached: int = 0
    estimated: bool = False

    @classmethod
    def read(cls, counts: Any, *, prompt_estimate: int, answer_estimate: int) -> Usage:
        """The `usage` object of a chat-completions reply; estimates, flagged, for what it leaves out."""
        counts = counts if isinstance(counts, Mapping) else {}
        prompt, answer = _count(counts.get("prompt_tokens")), _count(counts.get("completion_tokens"))
        details = counts.get("prompt_tokens_details")
        cached = _count(details.get("cached_tokens")) if isinstance(details, Mapping) else None
        if cached is None:
            cached = _count(counts.get("prompt_cache_hit_tokens"))  # as DeepSeek says it
        tokens_in = prompt_estimate if prompt is None else prompt
        return cls(
            tokens_in=tokens_in,
            tokens_out=answer_estimate if answer is None else answer,
            tokens_cached=min(cached or 0, tokens_in),
            estimated=prompt is None or answer is None,
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.tokens_cached + other.tokens_cached,
            self.estimated or other.estimated,
        )


def cost(usage: Usage, price: Price) -> Decimal:
    """The cost of `usage` at `price`, rounded half up to eight places."""
    cached_price = price.input if price.cached is None else price.cached
    total = (
        (usage.tokens_in - usage.tokens_cached) * price.input
        + usage.tokens_cached * cached_price
        + usage.tokens_out * price.output
    )
    return (total / MILLION).quantize(PLACES, ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The most that a call, or a run of calls, is expected to take. Sums: `a + b`."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal = Decimal(0)
    calls: int = 0
    too_long: int = 0
    """Trajectories that do not fit the judge's token budget, and so will not be asked about."""

    def __add__(self, other: CostEstimate) -> CostEstimate:
        return CostEstimate(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cost + other.cost,
            self.calls + other.calls,
            self.too_long + other.too_long,
        )


def answer_tokens(steps: int) -> int:
    """The assumed size of an answer about so many steps: 150 tokens, and 150 more for each step (two or three
    sentences of reasoning, a label, a reason)."""
    return ANSWER_TOKENS_BASE + ANSWER_TOKENS_PER_STEP * steps


def estimate(tokens_in: int, steps: int, price: Price, *, max_tokens: int | None = None) -> CostEstimate:
    """One call before it is made: an answer of `answer_tokens`, at most `max_tokens`; hidden reasoning of a
    reasoning model comes on top, and cannot be known."""
    answer = answer_tokens(steps)
    if max_tokens is not None:
        answer = min(answer, max_tokens)
    return CostEstimate(tokens_in, answer, cost(Usage(tokens_in, answer), price), calls=1)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MAX_TOKENS else None
