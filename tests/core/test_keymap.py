"""The keys of the workbench: what may be changed, and what the page gets."""

import random

import pytest

from annotation.core import keymap
from annotation.core.errors import Invalid
from annotation.core.kinds import DECISIONS


def keys_of(action: str, changes: dict[str, str]) -> list[dict[str, object]]:
    return next(row["keys"] for row in keymap.table(changes) if row["id"] == action)


def test_keymap_with_nothing_changed_is_the_table_itself() -> None:
    assert keymap.table({}) == [row for row in keymap.BINDINGS if row["id"] not in ("drop", "others")]
    assert keymap.checked({"flag": "f"}) == {}


def test_keymap_of_alternatives_can_drop_the_item_and_submits_by_enter_where_nothing_is_proposed() -> None:
    rows = {row["id"]: row["keys"] for row in keymap.table({"flag": "d"}, DECISIONS)}
    assert rows["submit"] == [{"key": "Enter"}, {"key": "Enter", "ctrl": True}]
    assert rows["drop"] == [{"key": "f"}], "whoever had its key gives their own for it"
    assert (rows["confirm"], rows["others"]) == ([{"key": "Enter"}], [{"key": "o"}])


def test_key_takes_its_shifted_ones_along_and_leaves_the_alternatives() -> None:
    changes = keymap.checked({"plus": "2", "undo": "Z", "next": "h"})

    assert changes == {"plus": "2", "undo": "z", "next": "h"}
    assert keys_of("note", keymap.checked({"note": "y"})) == [{"key": "y"}]
    assert keys_of("redo", changes) == [{"key": "z", "shift": True}]
    assert keys_of("next", changes) == [{"key": "h"}, {"key": "ArrowDown"}]


def test_values_on_1_2_3_keep_their_usual_keys_where_these_are_free() -> None:
    changes = keymap.checked(keymap.NUMBERS)
    minus = {"key": "-", "code": "Minus"}

    assert keys_of("minus", changes) == [{"key": "3", "code": "Digit3"}, minus]
    assert keys_of("outcome_minus", changes) == [
        {"key": "3", "code": "Digit3", "shift": True},
        {**minus, "shift": True, "alike": "_"},
    ]
    assert keys_of("zero", changes) == [{"key": "2", "code": "Digit2"}, {"key": "0", "code": "Digit0"}]
    taken = keymap.checked({"minus": "1", "plus": "3"})
    assert keys_of("plus", taken) == [{"key": "3", "code": "Digit3"}]
    assert keys_of("minus", taken) == [{"key": "1", "code": "Digit1"}, minus]


def test_keymap_lets_two_actions_change_places() -> None:
    assert keymap.checked({"flag": "q", "unsure": "f"}) == {"flag": "q", "unsure": "f"}


@pytest.mark.parametrize(
    "changes",
    [
        {"flag": "q"},
        {"flag": "y", "note": "y"},
        {"flag": "F1"},
        {"flag": " "},
        {"flag": "?"},
        {"flag": ""},
        {"flag": 1},
        {"flag": "İ"},
        {"submit": "y"},
        {"redo": "y"},
        {"dance": "y"},
    ],
)
def test_keymap_refuses_clashes_and_what_is_no_single_key(changes: dict[str, str]) -> None:
    with pytest.raises(Invalid) as refusal:
        keymap.checked(changes)
    assert set(refusal.value.fields) <= set(changes)


@pytest.mark.parametrize("odd", [{"flag": "F1"}, {"flag": 1}, {"submit": "y"}, {"dance": "y"}, {"flag": "h"}])
def test_stored_change_that_means_nothing_any_more_takes_no_other_along(odd: dict[str, str]) -> None:
    changes = {"next": "h", **odd}
    assert keymap.settled(changes) == {"next": "h"}
    assert keymap.table(changes) == keymap.table({"next": "h"})


def test_newer_default_that_is_taken_gets_the_key_that_became_free() -> None:
    # the reasons have got `w` after these were stored
    stored = {"flag": "w", "unsure": "f", "plus": "2"}
    assert keymap.settled(stored) == {**stored, "reason": "q"}
    assert keys_of("flag", stored) == [{"key": "w"}] and keys_of("reason", stored) == [{"key": "q"}]
    # what the page shows can be saved as it is
    assert keymap.checked(keymap.settled(stored)) == keymap.settled(stored)


def test_no_stored_changes_give_two_actions_one_key() -> None:
    rng = random.Random(7)
    letters = [keymap.default_key(action) for action in keymap.CHANGEABLE] + ["y", "h", "2"]
    for _ in range(500):
        stored = {
            action: rng.choice(letters) for action in rng.sample(keymap.CHANGEABLE, rng.randrange(1, 12))
        }
        keys = {action: keymap.default_key(action) for action in keymap.CHANGEABLE}
        keys |= keymap.settled(stored)
        assert len(set(keys.values())) == len(keys)
        assert keymap.checked(keymap.settled(stored)) == keymap.settled(stored)


def test_keymap_never_has_the_same_key_twice() -> None:
    rows = keymap.table(keymap.checked({"flag": "1", "plus": "f", "minus": "h", "note": "-"}))
    keys = [(k["key"], k.get("shift"), k.get("ctrl")) for row in rows for k in row["keys"]]
    assert len(set(keys)) == len(keys)


def test_case_has_its_own_keys_and_a_change_never_takes_them():
    def keys(changes):
        return {row["id"]: row["keys"][0]["key"] for row in keymap.case_table(changes)}

    usual = keys({})
    assert (usual["take_a"], usual["take_b"], usual["next_disagreement"]) == ("a", "b", "d")
    assert usual["plus"] == "1" and "confirm" not in usual
    # nor does a default that gives way
    assert keys({"closes_corrected": "n"}) == usual
    assert keys({"plus": "z", "next": "d"}) == {**usual, "plus": "z", "outcome_plus": "z"}
