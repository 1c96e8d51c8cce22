"""The table of tests/permission_matrix.txt: the status of every request for every role."""

from __future__ import annotations

from pathlib import Path

TABLE = Path(__file__).with_suffix(".txt")


def matrix() -> tuple[list[str], dict[str, dict[str, int]]]:
    """(roles, {"GET name": {role: status}})."""
    lines = [line for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    roles = lines[0].split()
    rows = {}
    for line in lines[1:]:
        method, key, *statuses = line.split()
        assert len(statuses) == len(roles), line
        rows[f"{method} {key}"] = dict(zip(roles, map(int, statuses), strict=True))
    return roles, rows


ROLES, ROWS = matrix()
