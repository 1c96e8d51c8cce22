"""Tell tasks in several turns from conversations: in the former an error seldom outlives the next request.

In AgentProcessBench's BFCL subset −1 goes on across a user turn in 36 % of the cases, in τ² in 90 %
(docs/formats.md, "User turns").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def turns_stand_alone(messages: Sequence[Any], reference_answer: Any) -> bool:
    """Whether the user turns of a raw record are tasks of their own, as in multi-turn function calling.

    They are several, and either each but the first follows a system message (the state that it begins with),
    or the reference answer lists the expected calls turn by turn.
    """
    roles = [message.get("role") if isinstance(message, Mapping) else None for message in messages]
    turns = [index for index, role in enumerate(roles) if role == "user"]
    if len(turns) < 2:
        return False
    with_state = all(roles[index - 1] in ("system", "developer") for index in turns[1:])
    return with_state or _calls_by_turn(reference_answer, len(turns))


def _calls_by_turn(reference: Any, turns: int) -> bool:
    """One list of calls, written as strings, for each turn."""
    return (
        isinstance(reference, list)
        and len(reference) == turns
        and all(isinstance(turn, list) and all(isinstance(call, str) for call in turn) for turn in reference)
        and any(reference)
    )
