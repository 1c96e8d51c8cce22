"""Limits of a trajectory at import: sizes that every page can show, and people can read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one trajectory, beside the bytes of its record.

    `messages` of it; `message_characters` and `message_values` (keys, items, texts, numbers) in one message,
    pictures apart; `tool_calls` in one message; `tools` offered; `beside_values` in what stands beside the
    messages, tools included, and how deep that nests (`beside_depth`).
    """

    messages: int = 5_000
    message_characters: int = 2_000_000
    message_values: int = 20_000
    tool_calls: int = 256
    tools: int = 512
    beside_values: int = 20_000
    beside_depth: int = 64


def variable(name: str) -> str:
    """The variable of the environment that sets a limit (docs/operations.md, "The environment")."""
    return f"TRISTEP_MAX_{name.upper()}"


DEFAULTS: Final[dict[str, int]] = asdict(Limits())
