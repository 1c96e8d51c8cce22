"""Tokens, cost and duration of a step, where the log has them: read from the message that is stored.

Logs write them under many names. Importers of traces, which have them beside the message, write them as
`usage` with the names that are tried first here; messages in OpenAI's and Anthropic's own shape have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from typing import Any, Final

_INPUT: Final = ("input_tokens", "prompt_tokens", "inputTokens", "promptTokens", "input")
_OUTPUT: Final = ("output_tokens", "completion_tokens", "outputTokens", "completionTokens", "output")
_CACHE: Final = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Anthropic counts what it writes to the cache, and reads from it, beside the input."""
_COST: Final = ("cost_usd", "cost", "total_cost", "totalCost")
_SECONDS: Final = ("seconds", "generation_time_seconds", "latency_seconds", "duration_seconds")
_MOST: Final = 10**15
"""Whatever is more is no count of anything here."""


@dataclass(frozen=True, slots=True)
class StepCost:
    """Tokens that went in and came out, US dollars, seconds; None where the log does not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in astuple(self))

    def as_json(self) -> dict[str, Any]:
        """The costs in the log, as `usage` of a message."""
        names = ("input_tokens", "output_tokens", "cost_usd", "seconds")
        return {name: value for name, value in zip(names, astuple(self), strict=True) if value is not None}


def cost_of(message: Mapping[str, Any]) -> StepCost | None:
    """The cost of a message of the assistant, as it says; None when it says nothing, or is no step."""
    usage = message.get("usage")
    if message.get("role") != "assistant":
        return None
    return cost_in(usage if isinstance(usage, Mapping) else {}, message) or None


def cost_in(usage: Mapping[str, Any], beside: Mapping[str, Any] | None = None) -> StepCost:
    """The cost in an object about the use of a model, by whichever names; cost and seconds also `beside`
    it."""
    around = beside or {}
    tokens = _whole(usage, _INPUT)
    cached = [number for name in _CACHE if (number := _whole(usage, (name,))) is not None]
    return StepCost(
        tokens if tokens is None else tokens + sum(cached),
        _whole(usage, _OUTPUT),
        _first(usage, _COST) if _first(usage, _COST) is not None else _first(around, _COST),
        _first(usage, _SECONDS) if _first(usage, _SECONDS) is not None else _first(around, _SECONDS),
    )


def total(costs: Iterable[StepCost | None]) -> StepCost:
    """The sum, of each only what some step says."""
    stated = [astuple(cost) for cost in costs if cost is not None]
    columns = ([value for value in column if value is not None] for column in zip(*stated, strict=True))
    return StepCost(*(sum(column) if column else None for column in columns))


def _first(holder: Mapping[str, Any], names: Iterable[str]) -> float | None:
    """The first of these that is a number which can be meant."""
    for name in names:
        value = holder.get(name)
        # of NaN neither comparison is true
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST:
            return value
    return None


def _whole(holder: Mapping[str, Any], names: Iterable[str]) -> int | None:
    value = _first(holder, names)
    return None if value is None else int(value)
