"""Permitted servers, the set-up of a judge, and the secrecy of keys."""

import base64
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.errors import Invalid
from annotation.core.judging.addresses import allowed, normalised
from annotation.core.judging.kinds import KINDS, JudgeKind
from annotation.core.judging.settings import JudgeSettings
from annotation.outside import KeyScheme, OperatorRules
from annotation.outside.redaction import Redactor
from annotation.providers import create

LIST = ["https://api.example.com/v1", "http://127.0.0.1:11434", "not an address"]
KEY = "sk-canary-Zq8/+x"
GOOD = {"base_url": "https://api.example.com/v1", "model": "m", "key_name": "ACME_API_KEY"}


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "https://API.example.com:443/v1/",
        "https://api.example.com./v1/deployments/a-b",
        "http://127.0.0.1:11434",
        "http://127.0.0.1:11434/v1",
    ],
)
def test_address_that_is_allowed(url: str) -> None:
    assert allowed(url, LIST)


@pytest.mark.parametrize(
    "url",
    [
        "http://api.example.com/v1",
        "https://api.example.com",
        "https://api.example.com/v10",
        "https://api.example.com/v2",
        "https://api.example.com:8443/v1",
        "https://api.example.com.evil.org/v1",
        "https://api.example.com@evil.org/v1",
        "https://user:word@api.example.com/v1",
        "https://api.example.com/v1/../admin",
        "https://api.example.com/v1/%2e%2e/admin",
        "https://api.example.com/v1//x",
        "https://api.example.com/v1?x=1",
        "https://api.example.com/v1#x",
        "https://api.example.com\\@evil.org/v1",
        "https://api.example.com/v1\n",
        "https://аpi.example.com/v1",
        "http://127.0.0.1:11435/v1",
        "http://localhost:11434",
        "http://[::1]:11434",
        "http://2130706433:11434/v1",
        "ftp://127.0.0.1:11434",
        "file:///etc/passwd",
        "//api.example.com/v1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:11434:80",
        "",
        "not an address",
    ],
)
def test_address_that_is_not_allowed(url: str) -> None:
    assert not allowed(url, LIST)


@given(st.text(max_size=60).map(lambda text: f"https://api.example.com{text}"))
def test_address_that_is_allowed_goes_to_an_allowed_server(url: str) -> None:
    if allowed(url, LIST):
        plain = normalised(url)
        assert plain is not None and (plain + "/").startswith("https://api.example.com/v1/")


def make(environ: Mapping[str, str] | None = None, **change: Any) -> Any:
    return create(
        "openai_compatible",
        JudgeSettings(**{**GOOD, **change}),
        environ={"ACME_API_KEY": KEY} if environ is None else environ,
        operator=OperatorRules(LIST, ["ACME_API_KEY", "odd key"], "TRISTEP_JUDGE_KEY_"),
    )


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"base_url": "https://evil.org"}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"key_name": "TRISTEP_SECRET_KEY"}, "key_name"),
        ({"key_name": "DATABASE_URL"}, "key_name"),
        ({"key_name": "acme_api_key"}, "key_name"),
        ({"key_name": "OTHER_API_KEY"}, "key_name"),
        ({"key_name": "TRISTEP_JUDGE_KEY_"}, "key_name"),
        ({"prompt_version": "../v1"}, "prompt_version"),
    ],
)
def test_address_that_the_operator_does_not_allow_is_asked_of_nobody(
    change: dict[str, str], wrong: str
) -> None:
    with pytest.raises(Invalid) as refused:
        make(**change)
    assert list(refused.value.fields) == [wrong]
    assert (refused.value.code == "forbidden_url") == (wrong == "base_url")


@pytest.mark.parametrize("name", ["ACME_API_KEY", "TRISTEP_JUDGE_KEY_A", "odd key"])
def test_keys_that_the_operator_allows_are_taken(name: str) -> None:
    make({name: KEY}, key_name=name).close()


@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.runnable and not kind.trained])
def test_kind_of_judge_is_made_by_its_module(kind: JudgeKind, monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module(f"annotation.providers.{kind.provider}")
    monkeypatch.setattr(module, "create", lambda settings, **_: settings)
    settings = JudgeSettings()
    assert create(kind.name, settings, environ={}, operator=OperatorRules()) is settings


def test_kind_of_judge_that_there_is_not() -> None:
    with pytest.raises(Invalid, match="Unknown kind of judge “oracle”"):
        create("oracle", JudgeSettings(), environ={}, operator=OperatorRules())


@pytest.mark.parametrize(
    "environ", [{}, {"ACME_API_KEY": " "}, {"ACME_API_KEY": f"{KEY}\nX: y"}, {"ACME_API_KEY": "ключ"}]
)
def test_key_that_is_missing_or_none_is_refused_without_showing_it(environ: dict[str, str]) -> None:
    with pytest.raises(Invalid) as refused:
        make(environ)
    assert (refused.value.code, list(refused.value.fields)) == ("bad_key", ["key_name"])
    assert "canary" not in repr(refused.value) + str(refused.value.fields) and "$ACME_API_KEY" in str(
        refused.value
    )


def test_key_is_trimmed_and_not_in_any_repr() -> None:
    judge = make({"ACME_API_KEY": f" {KEY}\n"})
    assert "canary" not in repr(judge) + repr(judge._redact) + repr(judge._settings) + repr(
        judge._server._client.headers
    )
    judge.close()


@pytest.mark.parametrize(
    "text",
    [
        f"key {KEY}.",
        json.dumps({"authorization": f"Bearer {KEY}"}),
        "https://x/?key=sk-canary-Zq8%2F%2Bx",
        "c2stY2FuYXJ5LVpxOC8reA==",
        "Basic OnNrLWNhbmFyeS1acTgvK3g=",
        "Incorrect API key provided: sk-can****Zq8.",
        "".join(f"\\u{ord(char):04x}" for char in KEY),
        "".join(f"\\\\u{ord(char):04X}" for char in KEY),
        "sk-\\u0063anary-Zq8/+x",
    ],
)
def test_key_is_taken_out_in_every_form(text: str) -> None:
    for cleaned in (Redactor(KEY).data(f'"a" {text} "z"'.encode()).decode(),):
        assert "[key]" in cleaned and "canary" not in cleaned and "Zq8" not in cleaned
        assert cleaned.startswith('"a" ') and cleaned.endswith(' "z"')


def test_key_of_two_halves_is_taken_out_whole_halved_and_encoded() -> None:
    key = "pk-lf-canary1:sk-lf-canary2"
    redact = Redactor(*KeyScheme.BASIC.secrets(key))
    (header,) = KeyScheme.BASIC.header(key, "K").values()
    told = f"{key} pk-lf-canary1, sk-lf-canary2; sent as {header}. sk-****ry2"
    assert redact.text(told) == "[key] [key], [key]; sent as Basic [key]. [key]"
    assert base64.b64decode(header.removeprefix("Basic ")).decode() == key


def test_key_taken_out_leaves_other_text_as_it_is() -> None:
    redact = Redactor(KEY)
    for text in ("skills ** and *** stars", "\\u00e9 sk-other", "the bearer of news", "Bearer", "a\udcff"):
        assert redact.text(text) == text
    assert redact.data(b"\xff\xfe\x00 plain") == b"\xff\xfe\x00 plain"
    assert Redactor("none").text("none of them") == "none of them"
    assert Redactor("").text("Authorization: Bearer abcdefghij") == "Authorization: Bearer [key]"
