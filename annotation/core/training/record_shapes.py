"""Whether record ids look like those beside them: gold that is called otherwise would be told by its name."""

import re
from collections.abc import Collection, Iterable

_RUNS = (
    (re.compile(r"\d+"), "9"),
    (re.compile(r"[^\W\d_]+"), "a"),
)


def shape(record_id: str) -> str:
    """A record id with each run of digits as 9 and each of letters as a: "hotpotqa:12:3" is "a:9:9"."""
    for run, sign in _RUNS:
        record_id = run.sub(sign, record_id)
    return record_id


def unlike(record_ids: Iterable[str], neighbours: Collection[str]) -> list[str]:
    """Those of these record ids whose shape or length none of the neighbours has, in order. Without
    neighbours there is nothing to be told from: none."""
    if not neighbours:
        return []
    shapes = {shape(one) for one in neighbours}
    shortest, longest = min(map(len, neighbours)), max(map(len, neighbours))
    return [one for one in record_ids if shape(one) not in shapes or not shortest <= len(one) <= longest]
