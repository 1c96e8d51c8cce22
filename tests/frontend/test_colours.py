"""Contrast of the tokens, which are all colours there are: WCAG 2.2 AA, in light and in dark."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

import pytest

from tests.servers import ROOT

CSS = ROOT / "frontend" / "css"
TOKENS = (CSS / "tokens.css").read_text()
LIGHT_DARK = {
    name: sides for name, *sides in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", TOKENS)
}
LIGHT_DARK |= {name: LIGHT_DARK[same] for name, same in re.findall(r"--([\w-]+): var\(--([\w-]+)\);", TOKENS)}
FILLED = ("plus", "zero", "minus", "warn", "danger", "accent", "ink")
INKS = (*FILLED, "ink-soft")
SURFACES = ("page", "raised", "sunken", "hover", *(name for name in LIGHT_DARK if name.endswith("-wash")))
ON_FILLED = ("on-ink", "on-accent", "raised")
TEXT = [
    *product(INKS, SURFACES),
    ("on-found", "found"),
    *((over, under) for over, under in product(ON_FILLED, FILLED) if (over, under) != ("on-accent", "ink")),
]
# edges of fields, and dots between words
DRAWN = {("line-strong", "page"), ("line-strong", "raised")}
# Found words are marked as with a marker, and paper is white.
OWN_COLOURS = {"print.css", "text.css", "tokens.css"}


def luminance(colour: str) -> float:
    """The relative luminance of a colour of six digits, from 0 to 1."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """The ratio by WCAG 2.2, from 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""
    dark, light = sorted(map(luminance, (first, second)))
    return (light + 0.05) / (dark + 0.05)


def too_low(pairs: Iterable[tuple[str, str]], enough: float) -> list[str]:
    return [
        f"--{over} on --{under}, {theme}"
        for over, under in pairs
        for theme, *pair in zip(("light", "dark"), LIGHT_DARK[over], LIGHT_DARK[under], strict=True)
        if contrast(*pair) < enough
    ]


def test_contrast_is_computed_as_defined() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


def test_contrast_of_every_ink_on_every_surface_suffices() -> None:
    assert [*too_low(TEXT, 4.5), *too_low(DRAWN, 3)] == []


def test_contrast_of_found_words_suffices() -> None:
    rules = re.findall(r"::highlight[^}]+\}", (CSS / "text.css").read_text())
    assert len(rules) == 2
    for rule in rules:
        under, over = (re.findall(r"#\w{6}", line) for line in re.findall(r"color: (.+);", rule))
        assert min(contrast(under[0], over[0]), contrast(under[-1], over[-1])) >= 4.5, rule


def test_keys_on_a_filled_button_have_its_colours() -> None:
    rules = re.findall(r"^([^\n{]*\bkbd)\s*\{([^}]+)\}", (CSS / "key.css").read_text(), re.MULTILINE)
    own = {selector: dict(re.findall(r"([\w-]+): (.+);", rule)) for selector, rule in rules}
    assert own["kbd"]["background"] == "var(--sunken)"
    assert own[".button--primary kbd"].items() >= {("background", "none"), ("color", "inherit")}


def test_colours_are_tokens() -> None:
    for path in CSS.glob("*.css"):
        rules = re.sub(r"/\*.*?\*/|mask-image[^;]+;", "", path.read_text(), flags=re.DOTALL)
        assert path.name in OWN_COLOURS or not re.findall(r"#[0-9a-f]{3,8}\b|rgb\(|hsl\(", rules), path.name
        inks = set(re.findall(r"(?<![\w-])color: var\(--([\w-]+)", rules))
        assert inks <= {over for over, _ in {*TEXT, *DRAWN}}, path.name
