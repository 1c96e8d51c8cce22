"""Changes between two releases, in the words of a dataset card: counts, and nobody's trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from ..vocabulary import REASON_CODES_BY_CODE, SIGNS, VALUES
from .diff import DiffCounts, ReleaseDiff

T = TypeVar("T")


def changelog(
    diff: ReleaseDiff, *, versions: tuple[str, str], agreement: Iterable[tuple[str, Any, Any]] = ()
) -> str:
    """The Markdown of what changed from the first version to the second. `agreement`: (name, before, after),
    fractions or None. In English, as dataset cards are; subsets' names are slugs, so nothing needs escaping.
    """
    old, new = versions
    parts = [
        [f"## {new}, compared with {old}"],
        list(_sentences(diff)),
        _subsets(diff),
        _distributions(diff),
        _moves("Labels of steps in both releases", diff.moved) if diff.whole.labels else [],
        _moves("Outcomes in both releases", diff.moved_outcomes) if diff.whole.records["outcome"] else [],
        _reasons(diff),
        _agreement(agreement, versions),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _n(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _sentences(diff: ReleaseDiff) -> Iterator[str]:
    whole, records = diff.whole, diff.whole.records
    yield f"- {_n(whole.after, 'trajectory', 'trajectories')} (before: {whole.before:,}), " + (
        f"{_n(whole.steps_after, 'step')} (before: {whole.steps_before:,})."
    )
    if diff.same:
        yield "- Nothing changed."
        return
    yield f"- {records['added']:,} added, {records['removed']:,} removed, {whole.unchanged:,} unchanged."
    there = _n(records["labels"], "trajectory", "trajectories")
    yield f"- {_n(whole.labels, 'step label')} changed" + (f", in {there}." if whole.labels else ".")
    yield f"- {_n(records['outcome'], 'outcome')} changed."
    if records["reasons"]:
        there = _n(records["reasons"], "trajectory", "trajectories")
        yield f"- Where an error began, or why a label is what it is, changed in {there}."
    if records["text"]:
        yield f"- The messages of {_n(records['text'], 'trajectory', 'trajectories')} changed."
    if records["fields"]:
        there = _n(records["fields"], "trajectory", "trajectories")
        yield f"- Other fields (question, tools, reference answer …) of {there} changed."


def _table(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    names = list(heading)
    rule = ["---", *["---:"] * (len(names) - 1)]
    return [f"| {' | '.join(map(str, row))} |" for row in (names, rule, *rows)]


def _subsets(diff: ReleaseDiff) -> list[str]:
    heading = (
        *("Subset", "before", "after", "added", "removed"),
        *("labels changed", "outcomes changed", "messages changed"),
    )

    def row(name: str, counts: DiffCounts) -> tuple[object, ...]:
        records = counts.records
        changed = (counts.labels, records["outcome"], records["text"])
        return (name, counts.before, counts.after, records["added"], records["removed"], *changed)

    rows = [row(name, counts) for name, counts in diff.subsets.items()]
    if len(rows) > 1:
        rows.append(row("**all**", diff.whole))
    return _table(heading, rows)


def _distributions(diff: ReleaseDiff) -> list[str]:
    rows = [
        (f"{name}, {when}", *_shares(values))
        for name, (before, after) in (("Steps", diff.values), ("Outcomes", diff.outcomes))
        for when, values in (("before", before), ("after", after))
    ]
    return _table(("", *(SIGNS[value] for value in reversed(VALUES))), rows)


def _shares(values: Counter[int]) -> Iterator[str]:
    total = values.total()
    for value in reversed(VALUES):
        share = f" ({values[value] / total:.1%})" if total else ""
        yield f"{values[value]:,}{share}"


def _moves(title: str, moved: Counter[tuple[int, int]]) -> list[str]:
    ordered = tuple(reversed(VALUES))
    heading = ("before \\ after", *(SIGNS[value] for value in ordered))
    rows = [(SIGNS[was], *(f"{moved[was, now]:,}" for now in ordered)) for was in ordered]
    return [f"### {title}", "", *_table(heading, rows)]


def _reasons(diff: ReleaseDiff) -> list[str]:
    if not diff.whole.labels:
        return []
    reached = [
        (f"{was or 'no step'} → {now or 'no step'}", f"{count:,}")
        for (was, now), count in _commonest(diff.kinds)
    ]
    lines = [
        "### Changed labels by how they were reached",
        "",
        *_table(("before → after", "labels"), reached),
    ]
    if any(diff.reasons):
        rows = [(_reason(code), f"{count:,}") for code, count in _commonest(diff.reasons)]
        lines += ["", "### Changed labels by reason", "", *_table(("Reason now", "labels"), rows)]
    return lines


def _commonest(counts: Counter[T]) -> list[tuple[T, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], str(pair[0])))


def _reason(code: str) -> str:
    reason_code = REASON_CODES_BY_CODE.get(code)
    return reason_code.title if reason_code is not None else code or "none given"


def _agreement(figures: Iterable[tuple[str, Any, Any]], versions: tuple[str, str]) -> list[str]:
    rows = [(name, _figure(was), _figure(now)) for name, was, now in figures]
    return ["### Agreement over the whole project", "", *_table(("", *versions), rows)] if rows else []


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
