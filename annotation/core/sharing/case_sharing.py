"""Share cases among adjudicators, so that nobody has many more open ones than another."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def share(may: Mapping[int, Collection[int]], open_cases: Mapping[int, int]) -> dict[int, int]:
    """The person for each case: of those who `may` have it the one with the fewest open ones, and of several
    such the one with the lowest number. A case that nobody may have is left out.

    Cases that fewer people may have come first, while these still have few. The same input gives the same
    answer, in whatever order it comes.
    """
    load = {person: open_cases.get(person, 0) for people in may.values() for person in people}
    person_of: dict[int, int] = {}
    for case in sorted(may, key=lambda case: (len(may[case]), case)):
        if may[case]:
            person_of[case] = min(may[case], key=lambda person: (load[person], person))
            load[person_of[case]] += 1
    return person_of
