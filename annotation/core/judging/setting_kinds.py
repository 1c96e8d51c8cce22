"""One setting of a judge: the kind of its values, its bounds and its texts.

`core.judging.settings` is the table of them.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import Any, Final

from annotation.core.i18n import translatable
from annotation.core.text import escape

from .addresses import normalised

MAX_DEPTH: Final = 8
"""So deep may objects lie within each other in a setting that is a JSON object."""
PRICE_DIGITS: Final = 12
PRICE_PLACES: Final = 6


class SettingKind(StrEnum):
    """The kind of a setting's values."""

    TEXT = "text"
    ADDRESS = "address"
    CHOICE = "choice"
    FLAG = "flag"
    WHOLE = "whole"
    NUMBER = "number"
    PRICE = "price"
    """US dollars per million tokens, as a `Decimal`."""
    OBJECT = "object"
    """A JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting. Its texts are English and can be translated (`core.i18n`).

    `default` holds where nothing is given (None: the judge's server decides, or there is no limit);
    `suggested` is what the form of a new judge begins with instead. `required`: a judge behind a server has a
    value. `secret`: it names a secret of the operator's (see `Operator`). `defining`: what the judge answers
    depends on it, so that it is locked once the judge has suggested. `sampling`: sent with each request.
    """

    name: str
    kind: SettingKind
    title: str
    help: str = ""
    group: str = ""
    default: Any = None
    suggested: Any = None
    minimum: int | None = None
    maximum: int | None = None
    max_length: int | None = None
    choices: tuple[tuple[str, str], ...] = ()
    required: bool = False
    secret: bool = False
    defining: bool = False
    sampling: bool = False

    @property
    def initial(self) -> Any:
        """The initial value in the form of a new judge; sampling parameters are empty unless suggested."""
        return self.suggested if self.sampling or self.suggested is not None else self.default

    @property
    def nullable(self) -> bool:
        """Whether it may be null: then `default` holds."""
        return self.default is None or self.sampling

    @property
    def rule(self) -> str:
        """The rule for a value, in one sentence."""
        low, high = (None if bound is None else f"{bound:,}" for bound in (self.minimum, self.maximum))
        match self.kind:
            case SettingKind.WHOLE:
                return translatable("A whole number from {minimum} to {maximum}.", minimum=low, maximum=high)
            case SettingKind.NUMBER:
                return translatable("A number from {minimum} to {maximum}.", minimum=low, maximum=high)
            case SettingKind.PRICE:
                return translatable("A price of 0 or more and less than 1,000,000, with at most 6 decimals.")
            case SettingKind.CHOICE:
                return translatable(
                    "One of {choices}.", choices=", ".join(value for value, _ in self.choices)
                )
            case SettingKind.FLAG:
                return translatable("Yes or no.")
            case SettingKind.ADDRESS:
                return translatable(
                    "A plain http or https address of at most {limit} characters.", limit=self.max_length
                )
            case SettingKind.OBJECT:
                return translatable(
                    "A JSON object of at most {limit} characters.", limit=f"{self.max_length:,}"
                )
        if self.secret:
            return translatable("The name of an environment variable that the operator allows.")
        return translatable("At most {limit} printable characters.", limit=self.max_length)

    def problem(self, value: Any) -> str:
        """The reason for refusing `value`, in one sentence; empty when it fits."""
        return "" if self._fits(value) else self.rule

    def _fits(self, value: Any) -> bool:
        match self.kind:
            case SettingKind.WHOLE | SettingKind.NUMBER:
                numbers = (int,) if self.kind is SettingKind.WHOLE else (int, float)
                return type(value) in numbers and self._within(value)
            case SettingKind.PRICE:
                return _is_price(value)
            case SettingKind.CHOICE:
                return value in [choice for choice, _ in self.choices]
            case SettingKind.FLAG:
                return type(value) is bool
            case SettingKind.OBJECT:
                return (
                    isinstance(value, dict) and _storable(value, MAX_DEPTH) and self._short(json.dumps(value))
                )
        plain = isinstance(value, str) and value.isprintable() and self._short(value)
        return plain and (self.kind is not SettingKind.ADDRESS or normalised(value) is not None)

    def _within(self, value: float) -> bool:
        low, high = self.minimum, self.maximum
        return math.isfinite(value) and (low is None or value >= low) and (high is None or value <= high)

    def _short(self, text: str) -> bool:
        return self.max_length is None or len(text) <= self.max_length


def setting(kind: SettingKind, title: str, *, default: Any = None, **more: Any) -> Any:
    """A field of `JudgeSettings`; `more` are further fields of `Setting`."""
    return dataclasses.field(default=default, metadata={"kind": kind, "title": title, **more})


def _is_price(value: Any) -> bool:
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        return False
    if (
        isinstance(value, bool)
        or not price.is_finite()
        or not 0 <= price < 10 ** (PRICE_DIGITS - PRICE_PLACES)
    ):
        return False
    return price == round(price, PRICE_PLACES)


def _storable(value: Any, depth: int) -> bool:
    """Whether every database takes it as JSON and gives it back."""
    if isinstance(value, str):
        return escape(value) == value
    if isinstance(value, dict):
        return depth > 0 and all(
            _storable(key, 0) and _storable(item, depth - 1) for key, item in value.items()
        )
    if isinstance(value, list):
        return depth > 0 and all(_storable(item, depth - 1) for item in value)
    return value is None or isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
