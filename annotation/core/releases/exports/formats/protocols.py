"""Step labels of a release's record under each protocol.

*propagated*: as frozen. A consequence of an error is −1 like the error itself.
*independent*: every step is judged for itself. An error of its own stays −1; of a −1 that only follows from
an earlier error nobody said what it would be without that error, so it has no label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

PROPAGATED: Final = "propagated"
INDEPENDENT: Final = "independent"
PROTOCOLS: Final = (PROPAGATED, INDEPENDENT)


def step_values(record: Mapping[str, Any], protocol: str) -> dict[int, int | None]:
    """The label of each step by its message index, in order; None: no label under this protocol.

    A −1 without an agreed root is an error of its own when nothing before it is one, and otherwise may be
    either, so that it has no label.
    """
    labels = sorted((int(index), value) for index, value in record["step_labels"].items())
    if protocol == PROPAGATED:
        return dict(labels)
    roots = record["step_roots"]
    values: dict[int, int | None] = {}
    wrong_before = False
    for index, value in labels:
        root = roots.get(str(index), None if wrong_before else index)
        values[index] = None if value == -1 and root != index else value
        wrong_before = wrong_before or value == -1
    return values
