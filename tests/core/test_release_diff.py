"""Comparing two releases, against a comparison record by record; and what a changelog says of it."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from annotation.core.releases.changelog import changelog
from annotation.core.releases.details import DetailsOf, ReleasedDetails
from annotation.core.releases.diff import ComparedRelease, ReleaseDiff, compare
from annotation.core.releases.statistics import release_statistics
from annotation.core.scoring import ReleasedLabels

LABELS = ("step_labels", "step_kinds", "step_roots", "step_reasons")
CONTENT = ("question", "tools", "hints", "policy_model")


def record(
    name: str, values: list[int], *, subset: str = "one", outcome: int = 1, **more: Any
) -> dict[str, Any]:
    """A record of a release with the steps 2, 4, 6 …"""
    steps = {str(2 * number + 2): value for number, value in enumerate(values)}
    return {
        "record_id": name,
        "subset": subset,
        "policy_model": "agent-a",
        "task_key": name.split(":")[0],
        "total_index": 0,
        "query_index": 0,
        "sample_index": 0,
        "question": "Why?",
        "messages": [{"role": "user", "content": name}],
        "tools": [],
        "hints": {},
        "step_labels": steps,
        "step_kinds": dict.fromkeys(steps, "unanimous"),
        "step_roots": {index: int(index) for index, value in steps.items() if value == -1},
        "step_reasons": {},
        "final_label": outcome,
        "final_kind": "unanimous",
        "final_reason": "",
        **more,
    }


def outline(records: list[dict[str, Any]]) -> ComparedRelease:
    """A release as it is kept: packed and unpacked."""
    taken = DetailsOf()
    labels = ReleasedLabels.of(taken.watched(records))
    details = ReleasedDetails.unpacked(taken.details.packed())
    assert details == taken.details
    return ComparedRelease(ReleasedLabels.unpacked(labels.packed()), details)


def compared(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> ReleaseDiff:
    return compare(outline(old), outline(new))


def test_diff_names_what_came_went_and_changed_and_nothing_else() -> None:
    old = [
        record("same", [1, -1]),
        record("gone", [1]),
        record("relabelled", [1, -1, -1], outcome=0),
        record("retold", [1]),
        record("retooled", [0]),
        record("explained", [-1]),
        record("same", [1], subset="two"),
    ]
    new = [
        record("same", [1], subset="two", total_index=9, query_index=4),  # where it stands is no change
        record("explained", [-1], step_reasons={"2": "wrong_tool"}),
        record("retooled", [0], tools=[{"name": "search"}]),
        record("retold", [1], messages=[]),
        record(
            "relabelled", [1, 0, -1], outcome=-1, step_kinds={"2": "unanimous", "4": "adjudicated", "6": "x"}
        ),
        record("new", [1, 1]),
        record("same", [1, -1]),
    ]

    found = compared(old, new)

    assert [(change.record_id, set(change.what)) for change in found.changes] == [
        ("explained", {"reasons"}),
        ("gone", {"removed"}),
        ("new", {"added"}),
        ("relabelled", {"labels", "outcome"}),
        ("retold", {"text"}),
        ("retooled", {"fields"}),
    ]
    step, outcome = found.changes[3].labels
    assert (step.message_index, step.number, step.before.value, step.after.value) == (4, 2, -1, 0)
    assert (step.before.kind, step.after.kind, step.before.root) == ("unanimous", "adjudicated", 4)
    assert (outcome.message_index, outcome.before.value, outcome.after.value) == (None, 0, -1)
    assert (found.whole.before, found.whole.after, found.whole.unchanged, found.whole.labels) == (7, 7, 2, 1)
    assert found.subsets["two"].unchanged == 1 and not found.subsets["two"].records
    assert found.moved[-1, 0] == 1 and found.moved_outcomes[0, -1] == 1
    assert found.kinds == {("unanimous", "adjudicated"): 1}


@pytest.mark.parametrize("seed", range(3))
def test_diff_is_what_a_comparison_record_by_record_finds(seed: int) -> None:
    rng = random.Random(seed)
    old = [
        record(
            f"r{number}:{rng.random():.3f}",
            rng.choices((-1, 0, 1), k=rng.randint(1, 6)),
            subset=rng.choice("ab"),
        )
        for number in range(60)
    ]
    new = copy.deepcopy(rng.sample(old, 50))
    for one in rng.sample(new, 20):
        index = rng.choice(list(one["step_labels"]))
        one["step_labels"][index] = rng.choice((-1, 0, 1))
        one["step_reasons"][index] = rng.choice(("wrong_tool", "redundant"))
    for one in rng.sample(new, 5):
        one["messages"] = [{"role": "user", "content": "other"}]
        one["final_label"] = rng.choice((-1, 0, 1))
    new += [record(f"n{number}", [1]) for number in range(4)]
    rng.shuffle(new)

    found = compared(old, new)

    was, now = ({(one["subset"], one["record_id"]): one for one in side} for side in (old, new))
    assert {change[:2] for change in found.changes if "added" in change.what} == now.keys() - was.keys()
    assert {change[:2] for change in found.changes if "removed" in change.what} == was.keys() - now.keys()
    both = was.keys() & now.keys()
    for what, keys in (("text", ("messages",)), ("outcome", ("final_label",)), ("labels", ("step_labels",))):
        expected = {key for key in both if any(was[key][name] != now[key][name] for name in keys)}
        assert {change[:2] for change in found.changes if what in change.what} == expected
    changed = sum(
        was[key]["step_labels"][index] != value
        for key in both
        for index, value in now[key]["step_labels"].items()
    )
    assert found.whole.labels == changed
    assert found.moved.total() == sum(len(now[key]["step_labels"]) for key in both)
    assert sum(count for (a, b), count in found.moved.items() if a != b) == changed
    assert [change[:2] for change in found.changes] == sorted(change[:2] for change in found.changes)
    back = compared(new, old)
    assert {change[:2] for change in back.changes} == {change[:2] for change in found.changes}
    assert not compared(new, sorted(new, key=lambda one: one["record_id"])).changes


def test_steps_that_only_one_release_has_are_said() -> None:
    found = compared([record("r", [1, 1])], [record("r", [1], messages=[])])
    (gone,) = found.changes[0].labels
    assert (gone.message_index, gone.number, gone.after) == (4, 2, None)
    assert found.whole.labels == 1 and found.moved == {(1, 1): 1}


def test_changelog_counts_and_names_no_trajectory() -> None:
    old = [record("secret:0", [1, -1]), record("gone:0", [1])]
    new = [record("secret:0", [1, 1], step_reasons={"4": "recovery"}), record("more:0", [0], subset="two")]
    written = changelog(compared(old, new), versions=("1.0", "1.1"), agreement=[("Cohen’s κ", 0.5, None)])

    assert written.startswith(
        "## 1.1, compared with 1.0\n\n- 2 trajectories (before: 2), 3 steps (before: 3).\n"
    )
    assert "- 1 added, 1 removed, 0 unchanged.\n- 1 step label changed, in 1 trajectory.\n" in written
    assert "| one | 2 | 1 | 0 | 1 | 1 | 0 | 0 |" in written
    assert "| −1 | 1 | 0 | 0 |" in written
    assert "| Notices an earlier error and puts it right | 1 |" in written
    assert "| Cohen’s κ | 0.500 | undefined |" in written
    assert "secret" not in written and "gone" not in written
    assert "Nothing changed." in changelog(compared(old, old), versions=("1", "2"))


def test_statistics_count_every_label_once() -> None:
    records = [
        record("a", [1, -1, -1], outcome=-1, step_roots={"4": 4, "6": 4}, step_reasons={"4": "fabrication"}),
        record("b", [1]),
        record("c", [0, 0, 0, 0, 0, 0, 1], policy_model="agent-b"),
        record("d", [-1], subset="two", policy_model=""),
    ]
    taken = outline(records)
    found = release_statistics(taken.labels, taken.details)

    assert [(part.subset, part.policy_model, part.records, part.with_error) for part in found.parts] == [
        ("one", "agent-a", 2, 1),
        ("one", "agent-b", 1, 0),
        ("two", "", 1, 1),
    ]
    assert found.parts[0].steps == {-1: 2, 0: 0, 1: 2}
    assert [(one.policy_model, one.success_rate, one.plus_share) for one in found.models] == [
        *(("", 1.0, 0.0), ("agent-a", 0.5, 0.5), ("agent-b", 1.0, 1 / 7))
    ]
    assert [(one.subset, one.outcome, one.records, one.mean_length) for one in found.by_outcome] == [
        *(("", 1, 3, 3.0), ("", -1, 1, 3.0), ("one", 1, 2, 4.0), ("one", -1, 1, 3.0), ("two", 1, 1, 1.0))
    ]
    # an error that goes on counts once, where it began
    assert [(one.subset, one.policy_model, list(one.reasons.items())) for one in found.root_reasons] == [
        ("one", "agent-a", [("fabrication", 1), ("", 0)]),
        ("two", "", [("fabrication", 0), ("", 1)]),
    ]
    assert [tuple(length) for length in found.lengths if length.n] == [(1, 1, 2), (3, 3, 1), (6, 7, 1)]
    assert [tuple(error) for error in found.first_errors] == [(1, 1, 1), (2, 2, 1)]
    assert (found.without_error, found.mean_length, found.median_length) == (2, 3.0, 2.0)
