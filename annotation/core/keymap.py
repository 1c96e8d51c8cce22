"""The table of the workbench's keys, and a person's changes to it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import STEPS, Feature, ProjectKind

Binding = dict[str, Any]

BINDINGS: tuple[Binding, ...] = tuple(json.loads(Path(__file__).with_name("keys.json").read_text("utf-8")))
"""`{"id", "group", "keys": [{"key", "code"?, "shift"?, "ctrl"?, "alike"?}], "follows"?, "fixed"?}`: what
`follows` another action is that one's key with Shift; what is `fixed` cannot be changed."""

CASE_BINDINGS: tuple[Binding, ...] = (
    *({"id": f"take_{letter}", "group": "label", "keys": [{"key": letter}]} for letter in "abc"),
    {"id": "next_disagreement", "group": "move", "keys": [{"key": "d"}]},
    {"id": "previous_disagreement", "group": "move", "keys": [{"key": "d", "shift": True}]},
)
"""Further keys of a case's page: to take an annotator's label, and to go to disputed steps."""
NEEDS: Mapping[str, Feature] = {
    **dict.fromkeys(("root", "closes_corrected", "closes_independent"), Feature.PROPAGATION),
    **dict.fromkeys(("drop", "others"), Feature.PAIRS),
}
"""Actions that not every kind of project has."""
NOT_IN_CASES = NEEDS.keys() | {"confirm", "reason", "unsure", "flag", "undo", "redo"}
NOT_IN_CASES |= {"trajectory_next", "trajectory_previous"}

CHANGEABLE: tuple[str, ...] = tuple(
    row["id"] for row in BINDINGS if not row.get("fixed") and "follows" not in row
)
# Where a key is on the keyboard, for those that some layouts type with Shift only.
_CODES = {"-": "Minus", **{str(digit): f"Digit{digit}" for digit in range(10)}}
VALUES = ("plus", "zero", "minus")
NUMBERS: dict[str, str] = {"plus": "1", "zero": "2", "minus": "3"}
"""The layout 1/2/3 of the three values, side by side."""
ONE_KEY = translatable("One letter, one digit or the minus sign.")


def default_key(action: str) -> str:
    """The key an action has when nothing is changed."""
    return next(str(row["keys"][0]["key"]) for row in BINDINGS if row["id"] == action)


def checked(changes: Mapping[str, Any]) -> dict[str, str]:
    """The changes worth keeping: {action: key}, without those that say what the table says anyway.

    Raises Invalid with `fields` for an action that cannot be changed, for what is not a single key, and for
    two actions with the same key.
    """
    problems: dict[str, str] = {}
    keys = {action: default_key(action) for action in CHANGEABLE}
    for action, key in changes.items():
        if action not in keys:
            problems[action] = translatable("There is no such action, or its key cannot be changed.")
        elif not _is_key(key):
            problems[action] = ONE_KEY
        else:
            keys[action] = key.lower()
    for action, key in keys.items():
        same = [other for other, its in keys.items() if its == key and other != action]
        if same and (action in changes or not any(other in changes for other in same)):
            problems.setdefault(action, translatable("Another action has this key."))
    if problems:
        raise Invalid(translatable("These keys cannot be saved."), fields=problems)
    return {action: key for action, key in keys.items() if key != default_key(action)}


def _is_key(key: object) -> bool:
    return isinstance(key, str) and len(key) == len(key.lower()) == 1 and (key.isalnum() or key == "-")


def settled(changes: Mapping[str, Any]) -> dict[str, str]:
    """The changes that hold, {action: key}, after defaults may have changed.

    One that means nothing (any more) is left out, and no other with it. Where it has taken the default of an
    action that is not changed, say of a newer one, that action gets the key that became free by it.
    """
    owners: dict[str, str] = {}
    for action, key in changes.items():
        if action in CHANGEABLE and _is_key(key):
            owners.setdefault(key.lower(), action)
    valid = {action: key for key, action in owners.items()}
    for action in CHANGEABLE:
        if action not in valid and (free := default_key(action)) in owners:
            # no circle: each key has one owner, and each owner one default
            while free in owners:
                free = default_key(owners[free])
            valid[action] = free
    return {action: key for action, key in valid.items() if key != default_key(action)}


def table(changes: Mapping[str, Any], kind: ProjectKind = STEPS) -> list[Binding]:
    """The table of the workbench, for a kind of project, with a person's changes that hold (`settled`); the
    three values keep their usual keys too, where these are free. Of alternatives the outcome stands on the
    screen beforehand, so that Enter is enough to submit."""
    valid = settled(changes)
    rows = [copy.deepcopy(row) for row in BINDINGS if kind.has(NEEDS.get(row["id"]))]
    for row in rows:
        if row["id"] == "submit" and kind.has(Feature.PAIRS):
            row["keys"].insert(0, {"key": "Enter"})
        action = str(row.get("follows", row["id"]))
        key = valid.get(action)
        if key is None:
            continue
        usual = row["keys"][0]
        row["keys"][0] = _key(key, shift="follows" in row)
        if action in VALUES and usual["key"] not in valid.values():
            row["keys"].append(usual)
    return rows


def case_table(changes: Mapping[str, str]) -> list[Binding]:
    """The table of a case's page: its own keys, and those of the workbench that mean something there. A
    change that takes one of its own keys is left out."""
    own = {row["keys"][0]["key"] for row in CASE_BINDINGS}
    kept = {
        action: key
        for action, key in settled(changes).items()
        if key not in own and action not in NOT_IN_CASES
    }
    shared = [row for row in table(kept) if row["id"] not in NOT_IN_CASES]
    return [*copy.deepcopy(CASE_BINDINGS), *shared]


def _key(key: str, *, shift: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"key": key}
    if key in _CODES:
        made["code"] = _CODES[key]
    if shift:
        made["shift"] = True
        if key == "-":
            made["alike"] = "_"
    return made
