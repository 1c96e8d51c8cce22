"""How a chat-completions judge is set up: fields, bounds, and what is wrong with them, by name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.judging import FREE, LATEST, VERSIONS, Price

from .http.addresses import allowed, normalised

STRUCTURED: Final = ("auto", "json_schema", "json_object", "none")
KEY_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY|TRISTEP_JUDGE_KEY_[A-Z0-9_]+", re.ASCII)
"""Only such variables can be named: a judge must not be able to send the server's other secrets away. Which
of them are allowed is the operator's decision (services.suggest.judges)."""

_OURS: Final = frozenset(
    {"model", "messages", "stream", "stream_options", "response_format", "n", "tools", "tool_choice"}
    | {"max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "functions", "function_call"}
)
_NUMBERS: Final[dict[str, tuple[type, float, float, Any]]] = {
    "budget_tokens": (int, 2_000, 2_000_000, 100_000),
    "answer_tokens": (int, 64, 1_000_000, 8_192),
    "temperature": (float, 0.0, 2.0, None),
    "top_p": (float, 0.0, 1.0, None),
    "seed": (int, -(2**31), 2**31 - 1, None),
    "concurrency": (int, 1, 256, 8),
    "timeout": (float, 0.05, 3_600.0, 300.0),
    "connect_timeout": (float, 0.05, 120.0, 10.0),
    "attempts": (int, 1, 20, 5),
    "longest_wait": (float, 0.0, 3_600.0, 60.0),
}
_PRICES: Final = ("price_prompt", "price_answer", "price_cached")
FIELDS: Final = frozenset(
    {"base_url", "model", "key_name", "prompt_version", "structured", "extra", *_NUMBERS, *_PRICES}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A judge's settings, checked. Times in seconds; `timeout` is for one attempt, from connecting to the
    last byte. `None` is not sent: the server's default holds. `extra`: further fields of the request."""

    base_url: str
    model: str
    key_name: str = ""
    prompt_version: str = LATEST
    structured: str = "auto"
    extra: Mapping[str, Any] = field(default_factory=dict)
    price: Price = FREE
    budget_tokens: int = 100_000
    answer_tokens: int = 8_192
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    concurrency: int = 8
    timeout: float = 300.0
    connect_timeout: float = 10.0
    attempts: int = 5
    longest_wait: float = 60.0


def read(given: Mapping[str, Any], allow_list: Sequence[str]) -> Config:
    """The settings in `given` (JSON-ready; unknown keys are refused). Raises `Invalid` with `fields`;
    its code is `forbidden_url` when the address is all that is wrong."""
    wrong = problems(given, allow_list)
    if wrong:
        code = "forbidden_url" if wrong.keys() == {"base_url"} else None
        first = next(iter(wrong))
        sentence = translatable("The judge’s {field} {problem}.", field=first, problem=wrong[first])
        raise Invalid(sentence, fields=wrong, code=code)
    numbers = {name: _number(given.get(name), name)[0] for name in _NUMBERS}
    prices = {name: _price(given.get(name))[0] for name in _PRICES}
    return Config(
        base_url=normalised(given["base_url"]) or "",
        model=given["model"],
        key_name=given.get("key_name") or "",
        prompt_version=given.get("prompt_version") or LATEST,
        structured=given.get("structured") or "auto",
        extra=dict(given.get("extra") or {}),
        price=Price(
            prices["price_prompt"] or Decimal(0), prices["price_answer"] or Decimal(0), prices["price_cached"]
        ),
        **numbers,
    )


def problems(given: Mapping[str, Any], allow_list: Sequence[str]) -> dict[str, str]:
    """What is wrong with the settings: field → the end of a sentence. Empty when nothing is."""
    wrong: dict[str, str] = {str(key): "is not a setting" for key in given if key not in FIELDS}
    base_url, model, key_name = (given.get(name) for name in ("base_url", "model", "key_name"))
    if not isinstance(base_url, str) or normalised(base_url) is None:
        wrong["base_url"] = translatable("must be a plain http or https address")
    elif not allowed(base_url, allow_list):
        wrong["base_url"] = translatable("is not among the addresses that the operator allows")
    if not isinstance(model, str) or not model.strip() or len(model) > 200 or not model.isprintable():
        wrong["model"] = translatable("must be the name of a model")
    if key_name not in (None, "") and not (isinstance(key_name, str) and KEY_NAME.fullmatch(key_name)):
        wrong["key_name"] = translatable(
            "must be the name of an environment variable that may hold a judge’s key"
        )
    if (given.get("prompt_version") or LATEST) not in VERSIONS:
        wrong["prompt_version"] = translatable("must be one of {choices}", choices=", ".join(VERSIONS))
    if (given.get("structured") or "auto") not in STRUCTURED:
        wrong["structured"] = translatable("must be one of {choices}", choices=", ".join(STRUCTURED))
    if reason := _extra_problem(given.get("extra") or {}):
        wrong["extra"] = reason
    for name in _NUMBERS:
        if reason := _number(given.get(name), name)[1]:
            wrong[name] = reason
    for name in _PRICES:
        if reason := _price(given.get(name))[1]:
            wrong[name] = reason
    return wrong


def _extra_problem(extra: Any) -> str:
    if not isinstance(extra, dict):
        return translatable("must be a JSON object")
    if taken := sorted(_OURS & extra.keys()):
        return translatable("may not hold {names}", names=", ".join(taken))
    try:
        size = len(json.dumps(extra, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        return translatable("must be plain JSON")
    return translatable("is too large") if size > 10_000 else ""


def _number(value: Any, name: str) -> tuple[Any, str]:
    kind, low, high, default = _NUMBERS[name]
    if value is None:
        return default, ""
    whole = type(value) is int
    if not (whole or (kind is float and type(value) is float and math.isfinite(value))):
        return default, translatable("must be a whole number") if kind is int else translatable(
            "must be a number"
        )
    if not low <= value <= high:
        return default, translatable("must be from {low} to {high}", low=f"{low:,}", high=f"{high:,}")
    return kind(value), ""


def _price(value: Any) -> tuple[Decimal | None, str]:
    if value in (None, ""):
        return None, ""
    try:
        price = Decimal(str(value)) if isinstance(value, str | int | float | Decimal) else Decimal("NaN")
    except InvalidOperation:
        price = Decimal("NaN")
    if isinstance(value, bool) or not price.is_finite() or not 0 <= price <= 1_000_000:
        return None, translatable("must be a price per million tokens, 0 or more")
    return price, ""
