"""The permission matrix: what every request answers every role (permission_matrix.txt)."""

from __future__ import annotations

from pathlib import Path

TABLE = Path(__file__).with_name("permission_matrix.txt")


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
