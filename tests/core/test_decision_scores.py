"""Decisions in releases: rows of pairs, figures of models, shallow cues, and what judges settle first."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotation.core.decisions.derive import Derivation
from annotation.core.decisions.judges_first import JudgesFirst, settle, wilson
from annotation.core.decisions.recipes import Recipe
from annotation.core.decisions.record import Decision, Option, decision_draft, frozen_details
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.kinds import DECISIONS, STEPS
from annotation.core.releases.exports import PLAIN as PLAIN_EXPORT
from annotation.core.releases.exports.formats.pairs import better_and_worse, toolprmbench_rows, trl_rows
from annotation.core.scoring import Predictions, ReleasedLabels, scores
from annotation.core.scoring.decisions.answers import Answer, read_answer
from annotation.core.scoring.decisions.facts import DecisionFacts
from annotation.core.scoring.pairs import Pairs, Verdicts, difficulty, shallow
from annotation.core.scoring.reading import read_predictions
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers import FORMATS, ReadContext
from tests.fixtures import published_labels
from tests.fixtures.decisions import by_key, frozen
from tests.importers import golden

NO_ORDER = "must be a list of two or more different message indexes"


def drafts(name: str, data: bytes) -> list[TrajectoryDraft]:
    found = list(FORMATS[name].read(io.BytesIO(data), ReadContext("f")))
    assert all(isinstance(item, TrajectoryDraft) for item in found), found
    return found  # type: ignore[return-value]


# ── Rows ──────────────────────────────────
@pytest.mark.parametrize("path", ["toolprmbench.json", "plan_rewardbench.jsonl"])
def test_pairs_that_go_out_come_in_again_as_the_same_decisions(path: str) -> None:
    file = golden.GOLDEN / path
    every = drafts(golden.format_of(file), file.read_bytes())
    keyed = [item for item in every if len(item.source_labels) == 2]
    rows = [row for item in keyed for row in toolprmbench_rows(by_key(item), PLAIN_EXPORT)]
    assert len(rows) == len(keyed) >= 3

    again = drafts("toolprmbench", "\n".join(map(json.dumps, rows)).encode())

    assert contents(again) == contents(keyed)


def contents(items: list[TrajectoryDraft]) -> list[bytes]:
    """What each says, its category, and its key."""
    keys = [[label.value for label in item.source_labels] for item in items]
    return [
        canonical_json([item.content(), json.loads(item.raw)["category"], key])
        for item, key in zip(items, keys, strict=True)
    ]


def options(*keys: int | None) -> TrajectoryDraft:
    chosen = [Option({"role": "assistant", "content": f"Say {at}."}, key) for at, key in enumerate(keys)]
    return decision_draft(Decision("Q?", [], [{"role": "user", "content": "Q?"}], chosen, "t"))


@pytest.mark.parametrize(
    ("labels", "fit", "pairs"),
    [
        ((1, -1), 1, 1),
        ((1, 0, -1, -1), 1, 5),
        ((1, 1, 1), 1, 0),
        ((1, -1), 0, 0),
        ((1, -1), -1, 0),
    ],
)
def test_rows_are_of_the_fit_items_one_for_each_better_and_worse_option(
    labels: tuple[int, ...], fit: int, pairs: int
) -> None:
    record = frozen(options(*labels), dict(enumerate(labels, 1)), fit)
    assert len(better_and_worse(record)) == pairs == len(list(toolprmbench_rows(record, PLAIN_EXPORT)))
    assert all(labels[better - 1] > labels[worse - 1] for better, worse in better_and_worse(record))


def test_trl_row_has_prompt_chosen_and_rejected_as_messages_and_tools_as_schemas() -> None:
    first, second, *_ = drafts("toolprmbench", (golden.GOLDEN / "toolprmbench.json").read_bytes())
    (row,) = trl_rows(by_key(second), PLAIN_EXPORT)
    assert row == {
        "prompt": [
            {"role": "user", "content": "Is there a night train to Vienna?"},
            {
                "role": "assistant",
                "content": "I will look it up.",
                "tool_calls": [
                    {
                        "type": "function",
                        "function": {
                            "name": "search_trains",
                            "arguments": {"origin": "Zürich", "destination": "Wien"},
                        },
                    }
                ],
            },
            {"role": "tool", "content": "NJ 467, 21:40"},
        ],
        "chosen": [{"role": "assistant", "content": "Yes: NJ 467 leaves at 21:40."}],
        "rejected": [{"role": "assistant", "content": "There is none."}],
        "tools": [],
    }
    (row,) = trl_rows(by_key(first), PLAIN_EXPORT)
    assert [tool["type"] for tool in row["tools"]] == ["function", "function"]
    assert row["tools"][1]["function"]["name"] == "buy_ticket"


@pytest.mark.parametrize("raw", [b"{}", b"[1]", b"\xff", b'{"format": "theirs/1"}'])
def test_details_of_a_record_that_another_format_keeps_are_none(raw: bytes) -> None:
    assert frozen_details(raw) == {}


# ── Answers ───────────────────────────────
def released(
    *items: tuple[dict[int, int], str], tasks: Sequence[int] = (), subset: Sequence[int] = ()
) -> ReleasedLabels:
    """Fit decisions with these labels by message index, and their categories; each a task of its own."""
    n = len(items)
    record = np.repeat(np.arange(n), [len(labels) for labels, _ in items])
    values = [value for labels, _ in items for value in labels.values()]
    indexes = [index for labels, _ in items for index in labels]
    by_task, by_subset = np.array(tasks or range(n)), np.array(subset or [0] * n)
    of_steps = ReleasedLabels.of_steps(
        by_subset[record], by_task[record], record, np.array(values), np.array(indexes)
    )
    categories = sorted({category for _, category in items} - {""})
    facts = DecisionFacts(
        tuple(categories),
        np.array([categories.index(one) if one else -1 for _, one in items]),
        {"longer": np.array(indexes)},
    )
    return replace(of_steps, kind=DECISIONS, decisions=facts, outcome=np.ones(n, dtype=np.int64))


def answered(known: ReleasedLabels, *lines: dict[str, Any] | None) -> Predictions:
    """The predictions in a file of these lines, one a decision; None: not asked about."""
    given = [line | {"record_id": str(at)} for at, line in enumerate(lines) if line is not None]
    file = read_predictions(
        io.BytesIO("\n".join(map(json.dumps, given)).encode()), "f", known, reasons=io.BytesIO()
    )
    assert not file.errors, [str(error) for error in file.errors.errors]
    said = file.predictions()
    return Predictions.unpacked(said.packed(), known)


@pytest.mark.parametrize(
    ("line", "verdicts"),
    [
        ({"labels": {"1": 1, "2": -1}}, "right"),
        ({"step_labels": {"1": 1, "2": -1}, "final_label": 1}, "right"),
        ({"labels": {"1": 0, "2": 0}}, "tied"),
        ({"labels": {"1": -1, "2": 0}}, "wrong"),
        ({"labels": {"1": 1, "2": None}}, "unreadable"),
        ({"labels": {"1": 1}}, "unreadable"),
        ({"scores": {"1": 0.51, "2": 0.5}}, "right"),
        ({"scores": {"1": -3, "2": 1e300}}, "wrong"),
        ({"scores": {"1": True, "2": 0.5}}, "unreadable"),
        ({"scores": {"1": float("nan"), "2": 0.5}}, "unreadable"),
        ({"choices": [{"order": [1, 2], "choice": 1}, {"order": [2, 1], "choice": 2}]}, "right wrong"),
        ({"choices": [{"order": [1, 2], "choice": None}, {"order": [2, 1], "choice": 9}]}, "unreadable " * 2),
        ({"choices": [{"order": [1, 2, 3], "choice": 3}, {"order": [1, 3], "choice": 1}]}, "tied"),
        ({"choices": [{"order": [1, 3], "choice": 1}]}, "unreadable"),
        ({"choices": []}, "unreadable"),
    ],
)  # fmt: skip
def test_answer_puts_a_pair_right_wrong_or_cannot_be_read(line: dict[str, Any], verdicts: str) -> None:
    known = released(({1: 1, 2: -1, 3: 1}, ""), ({1: 1, 2: -1}, ""))
    said = answered(known, line, {"labels": {"1": 1, "2": 1}})
    one = Verdicts.of(known, said, Pairs.of(known))
    counts = {name: int(getattr(one, name)[0]) for name in ("right", "tied", "unreadable")}
    found = Counter(verdicts.split())
    assert counts == {name: found[name] for name in counts}
    assert one.asked.tolist()[0] == found.total() and one.tied.tolist()[-1] == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({}, ("labels", "must hold one of labels, scores and choices")),
        ({"labels": {}, "scores": {}}, ("scores", "must hold one of labels, scores and choices")),
        ({"scores": [1]}, ("scores", "must be an object of message index and number")),
        ({"scores": {"x": 1}}, ('scores."x"', "is not a message index")),
        ({"scores": {"01": 1}}, ('scores."01"', "is not a message index")),
        ({"choices": {}}, ("choices", "must be a list of at most 24 choices")),
        ({"choices": [{"order": [1, 2]}] * 25}, ("choices", "must be a list of at most 24 choices")),
        ({"choices": [{"order": [1, 1]}]}, ("choices[0].order", NO_ORDER)),
        ({"choices": [7]}, ("choices[0].order", NO_ORDER)),
    ],
)
def test_answer_that_is_none_is_noted(line: dict[str, Any], problem: tuple[str, str]) -> None:
    problems: list[tuple[str, str]] = []
    read_answer(line, problems)
    assert problems == [problem]


def test_answer_says_again_what_it_said() -> None:
    lines: list[dict[str, Any]] = [
        {"scores": {"1": 0.5, "2": None}},
        {"choices": [{"order": [2, 1], "choice": None}]},
    ]
    assert [read_answer(line, []).as_json() for line in lines] == lines
    assert read_answer({"labels": {"1": 1}}, []) == Answer()


# ── Figures ───────────────────────────────
def test_figures_of_a_model_are_those_counted_by_hand() -> None:
    known = released(
        ({0: 1, 1: -1}, "x"),
        ({0: 1, 1: -1, 2: -1, 3: -1}, "x"),
        ({0: 1, 1: -1}, "y"),
        ({0: 1, 1: -1}, ""),
        subset=[0, 0, 0, 1],
    )
    said = answered(
        known,
        {"labels": {"0": 1, "1": -1}},
        {"labels": {"0": 0, "1": -1, "2": 0, "3": 1}},
        {"choices": [{"order": [0, 1], "choice": 0}, {"order": [1, 0], "choice": 1}]},
        None,
    )

    (found,) = scores(known, [said])

    values = {name: (measure.value, measure.n) for name, measure in found.figures.items()}
    assert values == {
        "pair_accuracy": ((1 + 1.5 + 0.5 + 0) / 6, 6),
        "pair_accuracy_strict": ((1 + 1 + 0.5 + 0) / 6, 6),
        "item_accuracy": ((1 + 0.5 + 0.5 + 0) / 4, 4),
        "category_mean": ((2.5 / 4 + 0.5) / 2, 5),
        "right_in_both": (0.0, 1),
        "first_chosen": (1.0, 2),
        "unreadable": (1 / 6, 6),
    }
    assert found.pairs is not None
    assert found.pairs.as_json() == {"pairs": 6, "won": 2.5, "tied": 1, "lost": 2.5}
    assert (found.absent, found.missing) == (1, 2)
    alone = known.subset == 1
    (rest,) = scores(known.only(alone), [said.only(known, alone)])
    assert rest.figures["pair_accuracy"].value == 0
    assert rest.figures["category_mean"].reason == "no decision has a category"
    json.dumps([found.as_json(), rest.as_json()])


def test_interval_resamples_tasks_and_holds_its_share() -> None:
    chance = random.Random(4)
    known = released(*[({0: 1, 1: -1}, "")] * 300, tasks=[at // 5 for at in range(300)])
    # whole tasks are right or wrong, so that their pairs tell no more than they do
    right = [chance.random() < 0.7 for _ in range(60)]
    said = answered(known, *({"scores": {"0": float(right[at // 5]), "1": 0.5}} for at in range(300)))

    (found,) = scores(known, [said])

    ends = found.figures["pair_accuracy"].ends
    assert ends is not None
    assert 0.18 < ends[1] - ends[0] < 0.30  # of 60 tasks; of 300 pairs it would be 0.10
    assert ends[0] < sum(right) / 60 < ends[1]
    assert found.effective_steps == pytest.approx(60, rel=0.1)


def test_difficulty_is_the_share_of_right_answers_over_judges_and_orders() -> None:
    known = released(*[({0: 1, 1: -1}, "")] * 3, ({0: 1, 1: 1}, ""))
    both = {"choices": [{"order": [0, 1], "choice": 0}, {"order": [1, 0], "choice": 1}]}
    plain = {"labels": {"0": 1, "1": 1}}
    first = answered(known, {"labels": {"0": 1, "1": 0}}, both, None, plain)
    second = answered(known, plain, {"labels": {"0": 1, "1": -1}}, None, plain)
    assert [None if one != one else one for one in difficulty(known, [first, second]).tolist()] == [
        0.5,
        0.75,
        None,
        None,
    ]


def test_predictions_in_orders_are_merged_and_cut_with_the_others() -> None:
    known = released(*[({0: 1, 1: -1}, "")] * 3)
    choices = {"choices": [{"order": [0, 1], "choice": 0}, {"order": [1, 0], "choice": 0}]}
    labels, score = {"labels": {"0": 1, "1": 0}}, {"scores": {"0": 2, "1": 3}}
    stored = answered(known, labels, score, None)
    newer = answered(known, None, None, choices)
    together = stored.merged(newer, newer.there, known.record)
    assert together.packed() == answered(known, labels, score, choices).packed()
    parts = [np.arange(3) < 1, np.arange(3) >= 1]
    one, other = (together.only(known, part) for part in parts)
    assert one.joined(other).packed() == together.packed()
    with pytest.raises(ValueError, match="not predictions"):
        Predictions.unpacked(together.packed(), replace(known, kind=STEPS))


# ── Judges first ──────────────────────────
def test_thousand_items_settle_as_the_rule_says() -> None:
    chance = random.Random(7)
    key = {3: 1, 4: -1, 5: -1}
    orders: dict[str, dict[int, int | None]] = {
        "key": {3: 1, 4: 0, 5: -1},
        "reverse": {3: -1, 4: 1, 5: 0},
        "tied": {3: 0, 4: 0, 5: -1},
        "mixed": {3: 0, 4: 1, 5: -1},
        "missing": {3: 1, 4: None, 5: -1},
    }
    names = list(orders)
    votes = [[chance.choice(names[:2] if at % 2 else names) for _ in range(3)] for at in range(1_000)]

    settled = [settle(key, [orders[name] for name in vote]) for vote in votes]

    expected = [
        JudgesFirst.JUDGED if set(vote) == {"key"} else
        JudgesFirst.DROPPED if set(vote) == {"reverse"} else
        JudgesFirst.PEOPLE
        for vote in votes
    ]  # fmt: skip
    assert settled == expected
    assert min(Counter(settled).values()) > 50


@pytest.mark.parametrize(("key", "judges"), [({3: 1, 4: -1}, 2), ({3: None, 4: None}, 3), ({3: 1, 4: 1}, 3)])
def test_item_without_a_key_or_with_two_judges_is_for_people(key: dict[int, int | None], judges: int) -> None:
    assert settle(key, [{3: 1, 4: -1}] * judges) is JudgesFirst.PEOPLE


def test_audited_96_of_100_have_wilsons_interval() -> None:
    low, high = wilson(96, 100)
    assert (round(low, 4), round(high, 4)) == (0.9016, 0.9843)
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(10, 10)[1] == 1.0


# ── Published figures ─────────────────────
def hotpotqa_records(published: Path) -> list[dict[str, Any]]:
    runs = Derivation(lambda: published_labels.hotpotqa_records(published), Recipe.SHARED)
    return [by_key(decision_draft(decision)) for decision in runs.decisions()]


@pytest.mark.published
def test_cue_makes_a_call_is_right_in_85_of_the_104_pairs(published: Path) -> None:
    known = replace(ReleasedLabels.of(hotpotqa_records(published)), kind=DECISIONS)
    cues = shallow(ReleasedLabels.unpacked(known.packed()))
    (found,) = scores(known, [cues["makes_call"]])
    assert found.pairs is not None
    assert found.pairs.as_json() == {"pairs": 104, "won": 85, "tied": 16, "lost": 3}
    assert found.figures["pair_accuracy"].value == (85 + 8) / 104
    assert {name for name in cues if ":" in name} == {f"policy_model:sample-{at}" for at in range(5)}
