"""The errors of a trajectory: where each began, why, and what followed from it."""

from __future__ import annotations

from annotation.core.error_graph import ErrorChain, Judged, errors


def test_errors_stand_by_their_roots_with_what_follows_and_those_without_one_last() -> None:
    labels = {
        2: Judged(1, reason="correct_progress"),
        4: Judged(-1, 4, "wrong_tool"),
        6: Judged(-1),
        8: Judged(-1, 8),
        10: Judged(0),
        12: Judged(-1, 4, "builds_on_error"),
        14: Judged(None),
        16: Judged(-1),
    }
    assert errors(reversed(labels.items())) == (
        ErrorChain(4, "wrong_tool", (12,)),
        ErrorChain(8, "", ()),
        ErrorChain(None, "", (6, 16)),
    )
    assert errors([(2, Judged(1))]) == ()
