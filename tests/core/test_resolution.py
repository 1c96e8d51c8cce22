"""Resolution of a step: pure rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.core.mentions import mentions
from annotation.core.resolution import AnnotatorPosition, Ruling, majority, resolve
from annotation.core.vocabulary import ConsensusKind

LATER = datetime(2026, 3, 14, tzinfo=UTC)
MAJORITY = ConsensusKind.MAJORITY


def said(*values: tuple[int, int] | int) -> list[AnnotatorPosition]:
    """Positions: a value, or (as submitted, now)."""
    pairs = [(value, value) if isinstance(value, int) else value for value in values]
    return [
        AnnotatorPosition(
            given, now, revised_at=LATER if given != now else None, root=2 if now == -1 else None
        )
        for given, now in pairs
    ]


@pytest.mark.parametrize(
    ("positions", "ruling", "expected"),
    [
        (said(1, 1), None, (1, "unanimous")),
        (said(1, -1), None, None),
        (said(1, (-1, 1)), None, (1, "discussed")),
        (said((1, 0), (1, 0)), None, (0, "discussed")),
        (said((1, 0), 1), None, None),
        (said(1, -1), Ruling(0), (0, "adjudicated")),
        (said(1, (-1, 1)), Ruling(-1), (-1, "adjudicated")),
        (said(1, 1, -1), None, None),
        (said(1, 1, -1), Ruling(1, MAJORITY), (1, "majority")),
        (said(1, (1, -1), -1), Ruling(1, MAJORITY), None),
        (said(-1, -1), Ruling(-1, reason="fabrication"), (-1, "unanimous")),
    ],
)
def test_resolution_has_the_value_and_the_origin(
    positions: list[AnnotatorPosition], ruling: Ruling | None, expected: tuple[int, str] | None
) -> None:
    found = resolve(positions, ruling)
    assert (None if found is None else (found.value, found.kind)) == expected


@pytest.mark.parametrize(("hours", "origin"), [(-1, ConsensusKind.ADJUDICATED), (1, ConsensusKind.DISCUSSED)])
def test_ruling_after_all_have_agreed_names_only_where_the_error_began(
    hours: int, origin: ConsensusKind
) -> None:
    ruling = Ruling(-1, root=4, reason="wrong_tool", at=LATER + timedelta(hours=hours))
    found = resolve(said((1, -1), -1), ruling)
    assert found is not None
    assert (found.kind, found.root, found.reason, found.by_ruling) == (origin, 4, "wrong_tool", True)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1, 1), None),
        ((1, -1), None),
        ((1, 1, -1), 1),
        ((1, 0, -1), None),
        ((1, 1, -1, -1), None),
        ((0,), None),
    ],
)
def test_majority_is_more_than_half_of_at_least_three(values: tuple[int, ...], expected: int | None) -> None:
    assert majority(said(*values)) == expected


def test_root_and_reason_are_those_on_which_all_agree_who_say_the_value() -> None:
    first = AnnotatorPosition(-1, -1, root=2, reason="fabrication")
    alike, elsewhere = (
        AnnotatorPosition(-1, -1, root=2, reason=""),
        AnnotatorPosition(-1, -1, root=4, reason="wrong_tool"),
    )
    plus = AnnotatorPosition(1, 1, reason="recovery")

    def graph(positions: list[AnnotatorPosition], ruling: Ruling | None = None) -> tuple[int | None, str]:
        found = resolve(positions, ruling)
        assert found is not None
        return found.root, found.reason

    assert graph([first, alike]) == (2, "fabrication")
    assert graph([first, elsewhere]) == (None, "")
    assert graph([first, elsewhere], Ruling(-1, root=4)) == (4, "")
    assert graph([first, plus], Ruling(-1)) == (2, "fabrication")
    assert graph([first, plus], Ruling(1)) == (None, "recovery")
    assert graph([first, plus], Ruling(0)) == (None, "")


VALUES = st.sampled_from((-1, 0, 1))


@given(
    st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=5),
    st.none() | st.builds(Ruling, VALUES, st.sampled_from((ConsensusKind.ADJUDICATED, MAJORITY))),
)
def test_resolution_depends_on_no_order_and_never_invents_a_value(
    pairs: list[tuple[int, int]], ruling: Ruling | None
) -> None:
    found = resolve(said(*pairs), ruling)
    assert found == resolve(said(*reversed(pairs)), ruling)
    now = {value for _, value in pairs}
    if found is not None:
        assert found.value in now | ({ruling.value} if ruling else set())
        assert found.value in now or found.kind is ConsensusKind.ADJUDICATED
    else:
        assert len(now) > 1


@pytest.mark.parametrize(
    ("text", "known", "strangers"),
    [
        ("@A and @B, @A", ["A", "B"], []),
        ("(@A)", ["A"], []),
        ("@A请看", ["A"], []),
        ("@裁决员请看", ["裁决员"], []),
        ("@AB @b @某人", [], ["AB", "b", "某人"]),
        ("`@x` and ```\n@y\n``` a@A.org /@A", [], []),
        ("@", [], []),
    ],
)
def test_mentions_of_a_text(text: str, known: list[str], strangers: list[str]) -> None:
    assert mentions(text, ("A", "B", "裁决员")) == (known, strangers)
