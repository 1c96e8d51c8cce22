"""The escape for text columns, canonical JSON, and the errors' common shape."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core import errors, vocabulary
from annotation.core.jsonio.canonical import canonical_json, sha256_hex
from annotation.core.text import escape, unescape
from tests.strategies import ANY_JSON, ANY_TEXT


@given(ANY_TEXT)
def test_unescape_gives_back_what_escape_was_given(text: str) -> None:
    assert unescape(escape(text)) == text


@given(ANY_TEXT)
def test_escaped_text_fits_every_text_column(text: str) -> None:
    escaped = escape(text)
    assert "\x00" not in escaped
    escaped.encode("utf-8")


@given(ANY_TEXT, ANY_TEXT)
def test_escape_confuses_no_two_texts(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) == (one == other)


@pytest.mark.parametrize("text", ["", "plain", "κ = .767 — ✈️", "<script>", "a\tb\nc", "\ufffd\uffff"])
def test_escape_leaves_ordinary_text_as_it_is(text: str) -> None:
    assert escape(text) is text
    assert unescape(text) is text


def test_escape_has_these_marks() -> None:
    assert escape("a\x00b\ud83dc\ufdd0d") == "a\ufdd00000b\ufdd0d83dc\ufdd0fdd0d"
    assert unescape("\ufdd0zzzz") == "\ufdd0zzzz"


@given(ANY_JSON)
def test_canonical_json_reads_back_as_the_same_value(value: object) -> None:
    written = canonical_json(value)
    again = json.loads(written)
    assert canonical_json(again) == written
    assert repr(sorted_value(again)) == repr(sorted_value(value))


@given(st.dictionaries(ANY_TEXT, st.integers(), min_size=2))
def test_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


def sorted_value(value: object) -> object:
    """`value` with its keys in order, so that `repr` tells 1 from 1.0 and NaN from nothing."""
    if isinstance(value, dict):
        return {key: sorted_value(value[key]) for key in sorted(value)}
    return [sorted_value(item) for item in value] if isinstance(value, list) else value


def test_canonical_json_is_ascii_with_sorted_keys_and_without_spaces() -> None:
    value = {
        "b": [1, 1.0, -0.0, 10**30],
        "a": "é\x00\ud800",
        "c": [math.nan, math.inf, -math.inf, None, True],
    }
    assert canonical_json(value) == (
        rb'{"a":"\u00e9\u0000\ud800","b":[1,1.0,-0.0,1000000000000000000000000000000],'
        rb'"c":[NaN,Infinity,-Infinity,null,true]}'
    )


def test_sha256_in_hex() -> None:
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_errors_have_a_code_and_a_sentence() -> None:
    stale = errors.StaleVersion("Someone saved this step before you.", details={"version": 3})
    assert (stale.code, str(stale), stale.details) == (
        "stale_version",
        "Someone saved this step before you.",
        {"version": 3},
    )
    assert isinstance(stale, errors.Conflict)
    assert errors.Invalid("No.", fields={"name": "is taken"}).fields == {"name": "is taken"}
    refused = errors.ImportRefused("Refused.", report={"count": 1})
    assert refused.report == refused.details == {"count": 1}
    assert errors.Denied("No.", code="own_label").code == "own_label"


def test_reason_codes_are_unique_and_cover_all_values() -> None:
    assert len(vocabulary.REASON_CODES_BY_CODE) == len(vocabulary.REASON_CODES)
    assert all(len(reason.code) <= 40 and reason.title for reason in vocabulary.REASON_CODES)
    assert {reason.value for reason in vocabulary.REASON_CODES} == set(vocabulary.VALUES)


@pytest.mark.parametrize("value", [True, False, 1.0, "1", None, 2, -2, [], float("nan")])
def test_label_value_that_is_none(value: object) -> None:
    assert not vocabulary.is_value(value)
    assert all(vocabulary.is_value(good) for good in (-1, 0, 1))
