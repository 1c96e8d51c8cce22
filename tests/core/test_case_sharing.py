"""Cases shared among adjudicators: evenly, to those who may have them, and always in the same way."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotation.core.sharing.case_sharing import share

ANN, BEN, CLEO = 1, 2, 3


def test_share_goes_to_whoever_has_fewest_open_cases() -> None:
    everybody = {case: {ANN, BEN, CLEO} for case in range(10, 16)}
    assert Counter(share(everybody, {}).values()) == {ANN: 2, BEN: 2, CLEO: 2}
    assert Counter(share(everybody, {ANN: 5, BEN: 2}).values()) == {BEN: 2, CLEO: 4}


def test_share_keeps_people_free_for_what_nobody_else_may_have() -> None:
    assert share({10: {ANN, BEN}, 11: {ANN, BEN}, 12: {ANN}, 13: {ANN}}, {}) == {
        10: BEN,
        11: BEN,
        12: ANN,
        13: ANN,
    }
    assert share({10: set(), 11: {BEN}}, {}) == {11: BEN}


@given(
    st.dictionaries(st.integers(1, 40), st.sets(st.sampled_from((ANN, BEN, CLEO))), max_size=12),
    st.dictionaries(st.sampled_from((ANN, BEN, CLEO)), st.integers(0, 9)),
)
def test_share_is_one_answer_that_only_gives_what_people_may_have(
    may: dict[int, set[int]], open_cases: dict[int, int]
) -> None:
    given_cases = share(may, open_cases)
    assert given_cases.keys() == {case for case, people in may.items() if people}
    assert all(person in may[case] for case, person in given_cases.items())
    assert share(dict(reversed(may.items())), open_cases) == given_cases
