"""A judge's settings are said once: what is wrong with a value, and a setting more is found at every door."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.core.judging import settings as specification
from annotation.core.judging.setting_kinds import SettingKind, setting
from annotation.core.judging.settings import JudgeSettings, check, named, table_of
from annotation.models import Judge
from api.views import index
from tests import judge_settings
from tests.callers import Caller
from tests.fixtures.judges import URL
from tests.people import Cast

GOOD: dict[str, Any] = {"base_url": URL, "model": "m", "key_name": "ACME_API_KEY"}


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"base_url": None}, "base_url"),
        ({"base_url": "file:///etc/passwd"}, "base_url"),
        ({"model": ""}, "model"),
        ({"model": "a\nb"}, "model"),
        ({"prompt_version": "../v1"}, "prompt_version"),
        ({"structured_output": "yes"}, "structured_output"),
        ({"with_reference": None}, "with_reference"),
        ({"with_reference": 1}, "with_reference"),
        ({"extra": {"stream": True}}, "extra"),
        ({"extra": {"messages": []}}, "extra"),
        ({"extra": {"seed": 1}}, "extra"),
        ({"extra": {"a": float("nan")}}, "extra"),
        ({"extra": {"a": "\0"}}, "extra"),
        ({"extra": {"a": object()}}, "extra"),
        ({"extra": {"a": "x" * 10_000}}, "extra"),
        ({"extra": [1]}, "extra"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": True}, "concurrency"),
        ({"concurrency": None}, "concurrency"),
        ({"timeout_seconds": float("inf")}, "timeout_seconds"),
        ({"temperature": float("nan")}, "temperature"),
        ({"context_tokens": 1.5}, "context_tokens"),
        ({"context_tokens": 2_000, "max_tokens": 1_001}, "context_tokens"),
        ({"price_input": "-1"}, "price_input"),
        ({"price_output": "NaN"}, "price_output"),
        ({"price_output": 1_000_000}, "price_output"),
        ({"price_cached": "cheap"}, "price_cached"),
        ({"price_cached": "0.0000001"}, "price_cached"),
    ],
)
def test_setting_that_is_wrong_is_named(change: dict[str, Any], wrong: str) -> None:
    assert list(check({**GOOD, **change})) == [wrong]


def test_setting_that_is_left_out_or_empty_has_a_default() -> None:
    empty = {"top_p": None, "seed": None, "max_tokens": None, "price_cached": None, "key_name": ""}
    assert check(GOOD) == check({**GOOD, **empty}) == {}
    settings = JudgeSettings.of({**GOOD, **empty, "price_input": Decimal("0.27")})
    assert (settings.answer_limit, settings.prompt_tokens, settings.top_p) == (8_192, 24_576, None)
    assert (settings.price.input, settings.price.output, settings.price.cached) == (Decimal("0.27"), 0, None)


def test_settings_reach_every_bound_that_is_said() -> None:
    ends = ({one.name: getattr(one, end) for one in specification.SETTINGS} for end in ("minimum", "maximum"))
    for values in ends:
        assert check({**GOOD, **{name: value for name, value in values.items() if value is not None}}) == {}


# ── At every door ─────────────────────────
@pytest.fixture(autouse=True)
def judge_keys(settings: Any, judge_urls: None) -> None:
    settings.JUDGE_KEYS = ["ACME_API_KEY"]


def page_errors(client: Client, **change: Any) -> dict[str, str]:
    """The errors in the form of a judge with these settings: name → sentence; empty when it was made."""
    url = reverse("frontend:judge-create", args=["bench", "openai_compatible"])
    shown = client.get(url).context["form"]
    values = {field.name: "" if field.value() is None else field.value() for field in shown}
    page = client.post(url, {**values, **GOOD, "name": "Page", "with_reference": "", **change})
    errors = page.context["form"].errors if page.status_code == 400 else {}
    return {name: " ".join(told) for name, told in errors.items()}


def api_errors(caller: Caller, **change: Any) -> dict[str, str]:
    """The errors of the API."""
    sampling = {name: value for name, value in change.items() if named(name).sampling}
    plain = {name: value for name, value in change.items() if name not in sampling}
    kind = "openai_compatible"
    body = {**GOOD, "name": "API", "kind": kind, **plain, "sampling": sampling}
    answer = caller.post("/projects/bench/judges/", body)
    return answer.json()["error"]["fields"] if answer.status_code == 400 else {}


@pytest.mark.parametrize(
    ("name", "fit", "unfit"),
    [
        ("context_tokens", 10_000, 1_023),
        ("context_tokens", 2_000_000, 2_000_001),
        ("max_tokens", 16, 15),
        ("seed", 0, -5),
        ("temperature", 2, 2.1),
        ("timeout_seconds", 3_600, 3_601),
    ],
)
def test_settings_have_the_same_bounds_and_words_at_every_door(
    cast: Cast, client: Client, name: str, fit: Any, unfit: Any
) -> None:
    client.force_login(cast.admin)
    caller = Caller(cast.admin)
    rule = named(name).rule
    path = f"sampling.{name}" if named(name).sampling else name
    assert check({**GOOD, name: unfit}) == {name: rule}
    assert page_errors(client, **{name: unfit}) == {name: rule}
    assert api_errors(caller, **{name: unfit}) == {path: rule}
    assert not Judge.objects.exists()
    assert (check({**GOOD, name: fit}), page_errors(client, **{name: fit})) == ({}, {})
    assert api_errors(caller, **{name: fit}) == {}
    assert [judge.setting_values()[name] for judge in Judge.objects.all()] == [fit, fit]


def test_window_without_room_for_the_prompt_is_refused_for_what_it_lacks(cast: Cast, client: Client) -> None:
    client.force_login(cast.admin)
    sentence = (
        "The maximum answer takes 8,192 tokens of the context window, and the prompt needs at least "
        "1,000 more."
    )
    assert check({**GOOD, "context_tokens": 9_000}) == {"context_tokens": sentence}
    assert page_errors(client, context_tokens=9_000) == {"context_tokens": sentence}
    assert api_errors(Caller(cast.admin), context_tokens=9_000) == {"context_tokens": sentence}


def test_key_that_the_operator_names_is_taken_at_every_door(
    cast: Cast, client: Client, settings: Any
) -> None:
    client.force_login(cast.admin)
    caller = Caller(cast.admin)
    assert list(page_errors(client, key_name="OPENAI_KEY")) == ["key_name"]
    assert list(api_errors(caller, key_name="OPENAI_KEY")) == ["key_name"]
    settings.JUDGE_KEYS = ["OPENAI_KEY"]
    assert page_errors(client, key_name="OPENAI_KEY") == api_errors(caller, key_name="OPENAI_KEY") == {}


# ── A setting more ────────────────────────
@dataclass(frozen=True, slots=True, kw_only=True)
class More(JudgeSettings):
    """The settings with one more."""

    zeal: int | None = setting(
        SettingKind.WHOLE,
        "Zeal",
        help="How hard it tries.",
        group="Sampling",
        minimum=3,
        maximum=7,
        defining=True,
        sampling=True,
    )


def test_setting_more_is_found_in_the_form_the_page_the_schema_the_check_and_the_docs(
    cast: Cast, client: Client, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(specification, "SETTINGS", table_of(More))
    client.force_login(cast.admin)
    rule = "A whole number from 3 to 7."

    page = client.get(reverse("frontend:judge-create", args=["bench", "openai_compatible"]))
    field = page.context["form"]["zeal"]
    assert (field.label, field.help_text) == ("Zeal", "How hard it tries.")
    assert 'min="3" max="7"' in str(field) and str(field) in page.content.decode()
    assert page_errors(client, zeal=2) == {"zeal": rule}
    assert page_errors(client, zeal=3) == {}
    made = reverse("frontend:judge", args=["bench", Judge.objects.get().pk])
    assert ("Zeal", "3") in client.get(made).context["facts"]

    index.document.cache_clear()
    request.addfinalizer(index.document.cache_clear)
    schema = Caller(cast.admin).get("/schema/").json()["components"]["schemas"]
    described = schema["SamplingRequest"]["properties"]["zeal"]
    assert (described["minimum"], described["maximum"], described["description"]) == (
        3,
        7,
        "How hard it tries.",
    )
    assert api_errors(Caller(cast.admin), zeal=8) == {"sampling.zeal": rule}
    assert api_errors(Caller(cast.admin), zeal=7) == {}

    assert check({**GOOD, "zeal": 8}) == {"zeal": rule}
    assert f"| Zeal | `sampling.zeal` | {rule} | – | yes |" in judge_settings.table()

    assert [judge.sampling["zeal"] for judge in Judge.objects.order_by("pk")] == [3, 7]
    assert More.of(Judge.objects.latest("pk").setting_values()).zeal == 7


def test_table_in_the_docs_is_that_of_the_code() -> None:
    text = judge_settings.JUDGES.read_text(encoding="utf-8")
    assert judge_settings.with_table(text) == text, "make settings"
