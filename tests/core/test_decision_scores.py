"""Decisions in releases: rows of pairs, figures of models, shallow cues, and what judges settle first."""

from __future__ import annotations

import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from annotation.core.decisions.answers import Answer, Choice, PairVerdict, read_answer
from annotation.core.decisions.derive import Derivation, Recipe
from annotation.core.decisions.figures import difficulty, score
from annotation.core.decisions.items import ScoredItem, ScoredOption, scored_items, shallow_cues
from annotation.core.decisions.judges_first import JudgesFirst, settle, wilson
from annotation.core.decisions.record import Decision, Option, decision_draft, frozen_details
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.label_files import read_label_lines
from annotation.core.releases.exports import PLAIN as PLAIN_EXPORT
from annotation.core.releases.exports.formats.pairs import better_and_worse, toolprmbench_rows, trl_rows
from annotation.core.releases.record_format import ConsensusSnapshot, RecordIndexes, release_record
from annotation.core.trajectories.trajectory import TrajectoryDraft
from annotation.importers import FORMATS, ReadContext
from tests.fixtures.published_labels import MODELS, hotpotqa_records, prediction_file
from tests.importers import golden

PLAIN = ScoredOption(0, 10, frozenset())
NO_ORDER = "must be a list of different message indexes"


def frozen(draft: TrajectoryDraft, labels: dict[int, int], fit: int = 1) -> dict[str, Any]:
    """The record of a release in which a decision has these labels."""
    steps = {index: (value, "unanimous") for index, value in labels.items()}
    indexes = RecordIndexes("s", draft.record_id, draft.policy_model, 0, 0, 0)
    return release_record(
        draft.content(),
        indexes,
        ConsensusSnapshot(steps, (fit, "unanimous")),
        decision=frozen_details(draft.raw),
    )


def by_key(draft: TrajectoryDraft) -> dict[str, Any]:
    """The record of a release that agrees with the key."""
    return frozen(
        draft, {label.message: label.value for label in draft.source_labels if label.message is not None}
    )


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
@pytest.mark.parametrize(
    ("line", "verdicts"),
    [
        ({"step_labels": {"1": 1, "2": -1}}, ["right"]),
        ({"step_labels": {"1": 0, "2": 0}}, ["tied"]),
        ({"step_labels": {"1": -1, "2": 0}}, ["wrong"]),
        ({"step_labels": {"1": 1, "2": None}}, ["unreadable"]),
        ({"step_labels": {"1": 1}}, ["unreadable"]),
        ({"scores": {"1": 0.51, "2": 0.5}}, ["right"]),
        ({"scores": {"1": True, "2": 0.5}}, ["unreadable"]),
        ({"scores": {"1": float("nan"), "2": 0.5}}, ["unreadable"]),
        ({"choices": [{"order": [1, 2], "choice": 1}, {"order": [2, 1], "choice": 2}]}, ["right", "wrong"]),
        (
            {"choices": [{"order": [1, 2], "choice": None}, {"order": [2, 1], "choice": 9}]},
            ["unreadable"] * 2,
        ),
        ({"choices": [{"order": [1, 2, 3], "choice": 3}, {"order": [1, 3], "choice": 1}]}, ["tied"]),
        ({"choices": []}, ["unreadable"]),
    ],
)
def test_answer_puts_a_pair_right_wrong_or_cannot_be_read(line: dict[str, Any], verdicts: list[str]) -> None:
    problems: list[tuple[str, str]] = []
    assert [verdict.value for verdict in read_answer(line, problems).verdicts(1, 2)] == verdicts
    assert problems == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({}, ("step_labels", "must be an object of message index and number")),
        ({"scores": [1]}, ("scores", "must be an object of message index and number")),
        ({"scores": {"x": 1}}, ('scores."x"', "is not a message index")),
        ({"choices": {}}, ("choices", "must be a list of choices")),
        (
            {"choices": [{"order": [1, 1]}]},
            ("choices[0].order", "must be a list of different message indexes"),
        ),
        ({"choices": [7]}, ("choices[0].order", NO_ORDER)),
    ],
)
def test_answer_that_is_none_is_noted(line: dict[str, Any], problem: tuple[str, str]) -> None:
    problems: list[tuple[str, str]] = []
    read_answer(line, problems)
    assert problems == [problem]


# ── Figures ───────────────────────────────
def item(name: str, pairs: int = 1, category: str = "", subset: str = "s") -> ScoredItem:
    """An item of which option 0 is better than each of the others."""
    return ScoredItem(
        subset,
        name,
        name,
        category,
        tuple((0, at) for at in range(1, pairs + 1)),
        dict.fromkeys(range(pairs + 1), PLAIN),
    )


def test_figures_of_a_model_are_those_counted_by_hand() -> None:
    items = [
        item("a", category="x"),
        item("b", 3, category="x"),
        item("c", category="y"),
        item("d", subset="r"),
    ]
    answers = {
        ("s", "a"): Answer({0: 1, 1: -1}),
        ("s", "b"): Answer({0: 0, 1: -1, 2: 0, 3: 1}),
        ("s", "c"): Answer(choices=[Choice((0, 1), 0), Choice((1, 0), 1)]),
    }

    found = score(items, answers)

    values = {name: (measure.value, measure.n) for name, measure in found.overall.items()}
    assert values == {
        "pair_accuracy": ((1 + 1.5 + 0.5 + 0) / 6, 6),
        "pair_accuracy_strict": ((1 + 1 + 0.5 + 0) / 6, 6),
        "item_accuracy": ((1 + 0.5 + 0.5 + 0) / 4, 4),
        "right_in_both": (0.0, 1),
        "first_chosen": (1.0, 2),
        "unreadable": (1 / 6, 6),
    }
    assert found.subsets["r"]["pair_accuracy"].value == 0
    assert found.categories["x"]["pair_accuracy"].value == 2.5 / 4
    mean = found.by_category_mean
    assert mean is not None
    assert (mean.value, mean.n) == ((2.5 / 4 + 0.5) / 2, 5)
    assert found.overall["right_in_both"].interval is not None
    assert found.subsets["r"]["first_chosen"].value is None
    json.dumps(found.as_json())


def test_interval_resamples_tasks_and_holds_its_share() -> None:
    chance = random.Random(4)
    items = [ScoredItem("s", str(at), str(at // 5), "", ((0, 1),), {0: PLAIN, 1: PLAIN}) for at in range(300)]
    # whole tasks are right or wrong, so that their pairs tell no more than they do
    right = {str(task): chance.random() < 0.7 for task in range(60)}
    answers = {("s", one.record_id): Answer({0: 1.0 if right[one.task] else -1.0, 1: 0.0}) for one in items}

    measure = score(items, answers).overall["pair_accuracy"]

    assert (
        measure.interval is not None
        and measure.interval.low is not None
        and measure.interval.high is not None
    )
    width = measure.interval.high - measure.interval.low
    assert 0.18 < width < 0.30  # of 60 tasks; of 300 pairs it would be 0.10
    assert measure.interval.low < sum(right.values()) / 60 < measure.interval.high


def test_difficulty_is_the_share_of_right_answers_over_judges_and_orders() -> None:
    items = [item("a"), item("b"), item("c")]
    first = {
        ("s", "a"): Answer({0: 1, 1: 0}),
        ("s", "b"): Answer(choices=[Choice((0, 1), 0), Choice((1, 0), 1)]),
    }
    second = {("s", "a"): Answer({0: 0, 1: 0}), ("s", "b"): Answer({0: 1, 1: -1})}
    assert difficulty(items, [first, second]) == {("s", "a"): 0.5, ("s", "b"): 0.75}


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
def hotpotqa_items(published: Path) -> tuple[list[dict[str, Any]], list[Decision]]:
    decisions = list(Derivation(lambda: hotpotqa_records(published), Recipe.SHARED).decisions())
    return [by_key(decision_draft(decision)) for decision in decisions], decisions


@pytest.mark.published
def test_cue_makes_a_call_is_right_in_85_of_the_104_pairs(published: Path) -> None:
    records, _ = hotpotqa_items(published)
    items = list(scored_items(records))
    cues = shallow_cues(items)
    verdicts = Counter(
        verdict
        for one in items
        for pair in one.pairs
        for verdict in cues["makes_call"][one.subset, one.record_id].verdicts(*pair)
    )
    assert verdicts == {PairVerdict.RIGHT: 85, PairVerdict.TIED: 16, PairVerdict.WRONG: 3}
    assert score(items, cues["makes_call"]).overall["pair_accuracy"].value == (85 + 8) / 104
    assert {name for name in cues if ":" in name} == {f"policy_model:sample-{at}" for at in range(5)}


@pytest.mark.published
@pytest.mark.parametrize(
    ("model", "won", "tied", "lost"), [(MODELS[0], 65, 38, 1), (MODELS[1], 61, 39, 4), (MODELS[2], 7, 45, 52)]
)
def test_published_predictions_win_tie_and_lose_the_pairs(
    published: Path, model: str, won: int, tied: int, lost: int
) -> None:
    """The labels that a model gave to the steps from which the options were derived."""
    with prediction_file(published, model).open("rb") as stream:
        lines = read_label_lines(stream, "predictions").lines
    said = {line.record_id: line.step_labels for line in lines.values()}
    records, _ = hotpotqa_items(published)
    verdicts: Counter[PairVerdict] = Counter()
    for record in records:
        steps = {int(at): option["steps"][0] for at, option in record["decision"]["options"].items()}
        answer = Answer({at: said[step["record_id"]].get(step["step"]) for at, step in steps.items()})
        for pair in better_and_worse(record):
            verdicts.update(answer.verdicts(*pair))
    assert verdicts == {PairVerdict.RIGHT: won, PairVerdict.TIED: tied, PairVerdict.WRONG: lost}
