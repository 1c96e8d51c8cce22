"""The settings of a judge, each said once: `JudgeSettings` has a field for each, with its bounds and texts.

From the table that comes out of it (`SETTINGS`) are made the fields of the form (frontend.forms.judges) and
of the API (api.serializers.judges), the service's check (`check`) and the table in docs/judges.md
(tests.judge_settings); providers take a `JudgeSettings`. What is `sampling` lies in one JSON column, so that
another parameter is another field here and nothing else; any other setting is a column of its name.
"""

# ruff: noqa: RUF009 - `setting` makes a field of a dataclass

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Self

from annotation.core.bounds import MAX_INT
from annotation.core.i18n import translatable

from .cost import Price
from .prompts import DECISION_VERSIONS, LATEST, PROMPTS
from .setting_kinds import Setting, SettingKind, setting

NUMBER_ERRORS: Final = (
    "invalid",
    "min_value",
    "max_value",
    "max_digits",
    "max_decimal_places",
    "max_whole_digits",
)
"""Errors of numbers by Django and REST framework, all replaced by the rule."""
USUAL_ANSWER: Final = 8_192
"""The limit of an answer in tokens where none is set, unless so many steps need more (`parts`)."""
MIN_PROMPT_TOKENS: Final = 1_000
"""The tokens that the longest answer must leave of the window; fewer do not even hold the instructions."""
_PROTOCOL: Final = frozenset(
    {"model", "messages", "stream", "stream_options", "response_format", "n", "tools", "tool_choice"}
    | {"max_completion_tokens", "functions", "function_call"}
)
"""The keys that a request has by itself, so that `extra` may not."""

NEEDED: Final = translatable("This field is required.")


_WHO: Final = translatable("Model and server")
_HOW: Final = translatable("Prompt and answer format")
_SAMPLING: Final[dict[str, Any]] = {
    "group": translatable("Sampling"),
    "defining": True,
    "sampling": True,
}
_PACE: Final = translatable("Cost and rate limits")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeSettings:
    """A judge's settings as providers take them; None is not sent, so that the server's own default holds."""

    model: str = setting(
        SettingKind.TEXT,
        translatable("Model"),
        default="",
        help=translatable("As the server calls it, for example gpt-4.1-mini."),
        group=_WHO,
        max_length=200,
        required=True,
        defining=True,
    )
    base_url: str = setting(
        SettingKind.ADDRESS,
        translatable("Server"),
        default="",
        help=translatable("Only addresses that the operator of this Tristep allows (TRISTEP_JUDGE_URLS)."),
        group=_WHO,
        max_length=500,
        required=True,
        defining=True,
    )
    key_name: str = setting(
        SettingKind.TEXT,
        translatable("Environment variable of the key"),
        default="",
        help=translatable(
            "Its name only; the operator sets the key itself. Empty for servers without a key."
        ),
        group=_WHO,
        max_length=120,
        secret=True,
    )
    prompt_version: str = setting(
        SettingKind.CHOICE,
        translatable("Prompt"),
        default=LATEST,
        group=_HOW,
        choices=tuple((version, version) for version in reversed(PROMPTS)),
        required=True,
        defining=True,
    )
    context_tokens: int = setting(
        SettingKind.WHOLE,
        translatable("Context window, in tokens"),
        default=32_768,
        help=translatable(
            "Longer prompts are shortened to fit: the middle of long tool outputs is left out and marked."
        ),
        group=_HOW,
        minimum=1_024,
        maximum=2_000_000,
        required=True,
        defining=True,
    )
    structured_output: str = setting(
        SettingKind.CHOICE,
        translatable("Structured output"),
        default="auto",
        group=_HOW,
        choices=(
            ("auto", translatable("Use it if the server supports it")),
            ("json_schema", translatable("JSON schema")),
            ("json_object", translatable("JSON object")),
            ("none", translatable("Off: read the last JSON object in the answer")),
        ),
        required=True,
        defining=True,
    )
    with_reference: bool = setting(
        SettingKind.FLAG,
        translatable("Show the reference answer to the judge"),
        default=False,
        help=translatable("For judging the outcome only. The judge’s reasons may reveal it."),
        group=_HOW,
        defining=True,
    )
    temperature: float | None = setting(
        SettingKind.NUMBER, translatable("Temperature"), suggested=0, minimum=0, maximum=2, **_SAMPLING
    )
    top_p: float | None = setting(
        SettingKind.NUMBER, translatable("Top p"), minimum=0, maximum=1, **_SAMPLING
    )
    max_tokens: int | None = setting(
        SettingKind.WHOLE,
        translatable("Maximum answer length, in tokens"),
        help=translatable(
            "If left empty: {usual}, and more for trajectories of many steps. The prompt gets the rest of "
            "the context window. What one answer cannot hold is asked in parts.",
            usual=USUAL_ANSWER,
        ),
        minimum=16,
        maximum=1_000_000,
        **_SAMPLING,
    )
    seed: int | None = setting(
        SettingKind.WHOLE, translatable("Seed"), minimum=0, maximum=MAX_INT, **_SAMPLING
    )
    extra: Mapping[str, Any] | None = setting(
        SettingKind.OBJECT,
        translatable("Additional parameters"),
        help=translatable("A JSON object, sent with each request."),
        max_length=10_000,
        **_SAMPLING,
    )
    price_input: Decimal = setting(
        SettingKind.PRICE,
        translatable("Input, $ per million tokens"),
        default=Decimal(0),
        group=_PACE,
        minimum=0,
        required=True,
    )
    price_output: Decimal = setting(
        SettingKind.PRICE,
        translatable("Output, $ per million tokens"),
        default=Decimal(0),
        group=_PACE,
        minimum=0,
        required=True,
    )
    price_cached: Decimal | None = setting(
        SettingKind.PRICE,
        translatable("Cached input, $ per million tokens"),
        help=translatable("If left empty, the same as other input. Estimates and budgets use these prices."),
        group=_PACE,
        minimum=0,
    )
    rate_per_minute: int | None = setting(
        SettingKind.WHOLE,
        translatable("Maximum calls per minute"),
        help=translatable("Across all workers."),
        group=_PACE,
        minimum=1,
        maximum=MAX_INT,
    )
    concurrency: int = setting(
        SettingKind.WHOLE,
        translatable("Concurrent calls"),
        default=4,
        group=_PACE,
        minimum=1,
        maximum=64,
        required=True,
    )
    timeout_seconds: float = setting(
        SettingKind.WHOLE,
        translatable("Timeout of a call, in seconds"),
        default=180,
        group=_PACE,
        minimum=1,
        maximum=3_600,
        required=True,
    )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The settings among `values` (name → value, as `check` takes them); defaults for what is null."""
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: values[name] for name in names if values.get(name) is not None})

    @property
    def prompt_tokens(self) -> int:
        """The most tokens a prompt may have: what an answer leaves of the window."""
        return self.context_tokens - self.answer_limit

    @property
    def answer_limit(self) -> int:
        """The limit of an answer in tokens, when no trajectory of many steps asks for more."""
        return USUAL_ANSWER if self.max_tokens is None else self.max_tokens

    @property
    def price(self) -> Price:
        """The price of its tokens."""
        return Price(self.price_input, self.price_output, self.price_cached)


def table_of(settings: type[JudgeSettings]) -> tuple[Setting, ...]:
    """The settings of a class, in the order of its fields, which is that of the form."""
    return tuple(
        Setting(name=field.name, default=field.default, **field.metadata)
        for field in dataclasses.fields(settings)
    )


SETTINGS: Final = table_of(JudgeSettings)
"""The table; read it where it is used (`settings.SETTINGS`), so that a test can add to it."""

NAME: Final = Setting(
    name="name",
    kind=SettingKind.TEXT,
    title=translatable("Name"),
    help=translatable("For admins. Annotators see “Judge 1”, “Judge 2” …, never the name."),
    max_length=120,
    required=True,
)
"""A judge's name, which every kind of judge has and which may change at any time."""


def named(name: str) -> Setting:
    """The setting of this name. Raises KeyError."""
    return {spec.name: spec for spec in SETTINGS}[name]


def check(values: Mapping[str, Any], *, complete: bool = True) -> dict[str, str]:
    """Problems of `values` (name → value, sampling parameters among the others): name → one sentence.

    `complete`: what a judge behind a server needs must be there. What the operator allows is for `Operator`.
    """
    problems: dict[str, str] = {}
    for spec in SETTINGS:
        value = values.get(spec.name, spec.default)
        if value is None:
            if not spec.nullable:
                problems[spec.name] = NEEDED
        elif value == "" and spec.kind in (SettingKind.TEXT, SettingKind.CHOICE, SettingKind.ADDRESS):
            if spec.required and complete:
                problems[spec.name] = NEEDED
        elif reason := spec.problem(value):
            problems[spec.name] = reason
    taken = sorted(
        (_PROTOCOL | {one.name for one in SETTINGS if one.sampling}) & set(values.get("extra") or ())
    )
    if taken and "extra" not in problems:
        problems["extra"] = translatable("May not contain {names}.", names=", ".join(taken))
    if values.get("prompt_version") in DECISION_VERSIONS and values.get("temperature"):
        problems.setdefault("temperature", translatable("A decision is asked about at temperature 0."))
    if complete and not problems.keys() & {"context_tokens", "max_tokens"}:
        settings = JudgeSettings.of(values)
        if settings.prompt_tokens < MIN_PROMPT_TOKENS:
            problems["context_tokens"] = translatable(
                "The maximum answer takes {answer} tokens of the context window, and the prompt needs "
                "at least {least} more.",
                answer=f"{settings.answer_limit:,}",
                least=f"{MIN_PROMPT_TOKENS:,}",
            )
    return problems


def as_columns(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with the sampling parameters that are not null or empty gathered under `sampling`."""
    sampling = {spec.name for spec in SETTINGS if spec.sampling}
    return {
        **{name: value for name, value in values.items() if name not in sampling},
        "sampling": {
            name: value for name, value in values.items() if name in sampling and value not in (None, {})
        },
    }


def columns(*, defining: bool = False) -> set[str]:
    """The names of the columns that hold the settings, or only those that define the judge."""
    return {"sampling" if one.sampling else one.name for one in SETTINGS if one.defining or not defining}
