"""Words on boards of questions: the parts that figures are cut by, the letters of keys, verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.scoring.question_figures import VERDICTS
from annotation.core.scoring.without_reading import KeyPositions
from annotation.core.vocabulary import Ability
from frontend.rendering import charts
from frontend.templatetags.judging import count
from frontend.templatetags.tristep import readable

CUT_TITLES = {
    "category": gettext_lazy("Category"),
    "ability": gettext_lazy("Ability"),
    "language": gettext_lazy("Language"),
    "length": gettext_lazy("Length in characters"),
}
ABILITIES = {
    Ability.PLANNING: gettext_lazy("planning"),
    Ability.ACTION: gettext_lazy("action"),
    Ability.ATOMIC: gettext_lazy("atomic"),
}
_VERDICTS = (
    (gettext_lazy("right"), "badge--good"),
    (gettext_lazy("wrong"), "badge--bad"),
    (gettext_lazy("unreadable"), "badge--warn"),
    (gettext_lazy("empty"), "badge--outline"),
)
VERDICT_TITLES = {name: title for name, (title, _look) in zip(VERDICTS, _VERDICTS, strict=True)}
VERDICT_BADGES = {name: look for name, (_title, look) in zip(VERDICTS, _VERDICTS, strict=True)}


def part_title(cut: str, name: str) -> str:
    """The title of a part."""
    if cut == "ability":
        return str(ABILITIES.get(name, readable(name)))  # type: ignore[call-overload]
    if cut != "length":
        return readable(name)
    first, last = name.split("-")
    if not last:
        return _("%(n)s and more") % {"n": count(int(first))}
    if first == "0":
        return _("up to %(n)s") % {"n": count(int(last))}
    return f"{count(int(first))}–{count(int(last))}"


def part_choices(cuts: Mapping[str, Iterable[str]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The parts to choose from, by cut: (value, words) each; a cut with a single part cuts nothing."""
    choices = []
    for cut, names in cuts.items():
        parts = [(f"{cut}:{name}", part_title(cut, name)) for name in names]
        if len(parts) > 1:
            choices.append((str(CUT_TITLES[cut]), parts))
    return choices


def letters_of(positions: KeyPositions) -> list[dict[str, Any]]:
    """The count of each letter as the key, with the expected one."""
    rows = zip(positions.letters, positions.counts, positions.expected, strict=True)
    most = max(positions.counts, default=0)
    return [
        {"letter": letter, "count": n, "expected": expected, "width": charts.bar(n, most)}
        for letter, n, expected in rows
    ]
