"""Patterns of files."""

from __future__ import annotations

import time

import pytest

from annotation.connections.patterns import Pattern
from annotation.core.errors import Invalid


@pytest.mark.parametrize(
    ("pattern", "fits", "not_"),
    [
        ("runs/*.jsonl", ["runs/a.jsonl"], ["a.jsonl", "runs/b/a.jsonl", "runs/a.json", "Runs/a.jsonl"]),
        ("**/*.json", ["a.json", "b/a.json", "b/c/a.json"], ["a.jsonl", "b/"]),
        ("runs/**", ["runs/a", "runs/b/c"], ["other/a"]),
        ("runs/**/log.txt", ["runs/log.txt", "runs/a/b/log.txt"], ["log.txt"]),
        ("day-[0-9]?/a*", ["day-12/ab"], ["day-x2/ab", "day-1/ab"]),
        ("exact.jsonl", ["exact.jsonl"], ["exact.jsonl2", "a/exact.jsonl"]),
    ],
)
def test_pattern_fits_what_it_should(pattern: str, fits: list[str], not_: list[str]) -> None:
    made = Pattern(pattern)
    assert [path for path in [*fits, *not_] if made.fits(path)] == fits
    assert all(path.startswith(made.beginning) for path in fits)


@pytest.mark.parametrize("text", ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a\\b", "a\nb", "*" * 7])
def test_text_that_is_no_pattern_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as refused:
        Pattern(text)
    assert list(refused.value.fields) == ["source"]


def test_pattern_that_is_hard_to_match_takes_no_time() -> None:
    began = time.monotonic()
    assert not Pattern("/".join(["**", "*a*a*a*a*a*"] * 15)).fits("/".join(["a" * 200] * 20) + "/b")
    assert time.monotonic() - began < 2
