"""Contrast of the tokens, which are all colours there are: WCAG 2.2 AA, in light and in dark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
# grounds that no words stand on
WITHOUT_WORDS = {
    *(".swatch", ".mark__shape", ".stats", ".trend__band", ".values input", ".run-strip input", ".qr"),
}
PSEUDO = re.compile(r"::(before|after|backdrop|[\w-]*progress-(bar|value))$")
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


def rules() -> Iterator[tuple[str, list[str], str]]:
    """Each rule of the style sheets in our colours: its name, selectors and declarations."""
    for path in sorted(CSS.glob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        for selectors, body in (
            re.findall(r"([^{}]+)\{([^{}]*)\}", text) if path.name not in OWN_COLOURS else ()
        ):
            named = [one.strip() for one in re.sub(r"\([^()]*\)", "()", selectors).split(",\n")]
            yield f"{path.name}: {' '.join(selectors.split())}", named, body


def has_words(selectors: list[str]) -> bool:
    return not all(one in WITHOUT_WORDS or PSEUDO.search(one) for one in selectors)


def mixed(over: str, share: float, under: str) -> list[str]:
    """Both sides of `color-mix(in srgb, over share, under)`."""
    return [
        "#"
        + "".join(
            f"{round(int(a[at : at + 2], 16) * share + int(b[at : at + 2], 16) * (1 - share)):02x}"
            for at in (1, 3, 5)
        )
        for a, b in zip(LIGHT_DARK[over], LIGHT_DARK[under], strict=True)
    ]


def test_words_stand_on_grounds_that_were_computed() -> None:
    """A rule that fills its ground says the ink too, unless every ink does there; an ink that is made for a
    filled ground comes with it."""
    seen = 0
    for name, selectors, body in rules():
        inks = re.findall(r"(?<![\w-])color: var\(--([\w-]+)\)", body)
        grounds = re.findall(r"background(?:-color)?: var\(--([\w-]+)\)", body)
        if grounds and grounds[-1] not in SURFACES and has_words(selectors):
            assert [(ink, grounds[-1]) for ink in inks[-1:]] in ([pair] for pair in TEXT), name
            seen += 1
        if inks and inks[-1] not in INKS and has_words(selectors):
            assert (inks[-1], *grounds[-1:]) in TEXT, name
    assert seen > 3


def test_contrast_on_mixed_grounds_suffices() -> None:
    seen = 0
    for name, _selectors, body in rules():
        for over, share, under in re.findall(
            r"background: color-mix\(in srgb, var\(--([\w-]+)\) (\d+)%, var\(--([\w-]+)\)\)", body
        ):
            grounds = mixed(over, int(share) / 100, under)
            inks = INKS if int(share) < 50 else [ink for ink, filled in TEXT if filled == over][:1]
            for ink in inks:
                pairs = zip(LIGHT_DARK[ink], grounds, strict=True)
                assert min(contrast(*pair) for pair in pairs) >= 4.5, (name, ink)
            seen += 1
        assert not re.search(r"(?<![\w-])color: color-mix", body), name
    assert seen


def test_words_are_not_faded() -> None:
    """Only what cannot be used is, which WCAG exempts."""
    for name, selectors, body in rules():
        for opacity in re.findall(r"opacity: ([\d.]+)", body):
            assert opacity == "1" or ":disabled" in name or not has_words(selectors), name
