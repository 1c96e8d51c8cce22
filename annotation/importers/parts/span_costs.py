"""Tokens, cost and duration of a call of the model, from its span, whichever convention that follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from annotation.core.trajectories.step_costs import StepCost, cost_in

from .dialects import parse_json
from .message_parts import as_text
from .span_tree import Span

__all__ = ["span_cost"]

_NAMES: Final = {
    "input_tokens": (
        *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
        *("ai.usage.inputTokens", "ai.usage.promptTokens", "promptTokens"),
    ),
    "output_tokens": (
        *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
        *("ai.usage.outputTokens", "ai.usage.completionTokens", "completionTokens"),
    ),
    "cost_usd": ("gen_ai.usage.cost", "llm.cost.total", "calculatedTotalCost", "totalCost"),
}
_OBJECTS: Final = ("usageDetails", "usage", "mlflow.chat.tokenUsage")
_COSTS: Final = (("costDetails", "total"), ("mlflow.llm.cost", "total_cost"))


def span_cost(span: Span) -> StepCost:
    """The cost of a call, by its span; the duration is that of the span."""
    usage: dict[str, Any] = {}
    for name, attributes in _NAMES.items():
        usage[name] = next(
            (_number(span.attributes[each]) for each in attributes if span.attributes.get(each) is not None),
            None,
        )
    for key in _OBJECTS:
        held = parse_json(span.attributes.get(key))
        if isinstance(held, Mapping):
            cost = cost_in(held)
            usage["input_tokens"] = _either(usage["input_tokens"], cost.input_tokens)
            usage["output_tokens"] = _either(usage["output_tokens"], cost.output_tokens)
            usage["cost_usd"] = _either(usage["cost_usd"], cost.cost_usd)
    for key, part in _COSTS:
        held = parse_json(span.attributes.get(key))
        if isinstance(held, Mapping):
            usage["cost_usd"] = _either(usage["cost_usd"], held.get(part))
    if 0 < span.start <= span.end:
        usage["seconds"] = round((span.end - span.start) / 1e9, 3)
    return cost_in(usage)


def _either(first: Any, other: Any) -> Any:
    return other if first is None else first


def _number(value: Any) -> Any:
    """A number, also where OTLP's JSON wrote it as text."""
    if isinstance(value, str):
        try:
            return float(as_text(value))
        except ValueError:
            return None
    return value
