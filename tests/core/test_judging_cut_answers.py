"""Cut answers keep each finished label and get no other; published ones have a layout of their own."""

import json
import re

import pytest

from annotation.core.judging import ParsedAnswer, ProblemKind, UnusableKind, parse

STEPS = (2, 4, 6)
ENTRIES = [
    {"index": index, "reasoning": "…", "label": label, "reason": f"r{index}"}
    for index, label in ((2, 1), (4, -1), (6, 0))
]
GOOD = json.dumps({"steps": ENTRIES, "outcome": {"reasoning": "…", "label": 1, "reason": "end"}})


def counts(found: ParsedAnswer) -> tuple[int, int, int]:
    return found.missing, found.extra, found.invalid


def unusable(text: str, *, cut_off: bool = False) -> UnusableKind:
    found = parse(text, STEPS, cut_off=cut_off)
    assert found.unusable is not None and set(found.labels.values()) == {None}
    return found.unusable.kind


PUBLISHED = {
    "step_labels": {"2": 1, "4": -1, "6": 0},
    "final_label": -1,
    "explanations": {"steps": {"2": "fine", "6": "no, “6” rests on nothing"}, "final": "it failed"},
}
TRICKY = {
    "steps": [
        {
            "index": 2,
            "reasoning": '{"steps": [{"index": 4, "label": 1}]}\\ \n',
            "label": -1,
            "reason": "é 好",
        },
        {"label": 0, "reason": "“4”, then {", "index": 4},
        {"index": 6, "label": "−1", "reason": "a, b]"},
    ],
    "outcome": {"label": 1},
}
ENTRY_OF_LIST = r'"index": (?P<i>\d+), "reasoning": "(?:[^"\\]|\\.)*", "label": (?P<v>-?\d),'
LABEL_FIRST = r'"label": (?P<v>-?\d), "reason": "[^"]*", "index": (?P<i>\d+)\}'
LABEL_AS_STRING = r'"index": (?P<i>\d+), "label": "(?P<v>[^"]+)"'
ENTRY_OF_OBJECT = r'(?<=[{ ])"(?P<i>\d+)": (?P<v>-?\d)[,}]'


def cuts(text: str) -> dict[str, str]:
    """The text cut at each byte of its UTF-8, halves of a character left out: by their name."""
    data = text.encode()
    return {f"{end}": data[:end].decode(errors="ignore") for end in range(len(data))}


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        (GOOD, [ENTRY_OF_LIST]),
        (json.dumps(json.loads(GOOD), indent=1).replace("\n", " "), [ENTRY_OF_LIST.replace(" ", " +")]),
        (f"So:\n```json\n{GOOD}\n```\nDone {{", [ENTRY_OF_LIST]),
        (json.dumps({"judgement": json.loads(GOOD)}), [ENTRY_OF_LIST]),
        (json.dumps(PUBLISHED, ensure_ascii=False), [ENTRY_OF_OBJECT]),
        (json.dumps(TRICKY, ensure_ascii=False), [ENTRY_OF_LIST, LABEL_FIRST, LABEL_AS_STRING]),
    ],
    ids=["as asked", "indented", "in a fence", "wrapped", "published", "tricky"],
)
@pytest.mark.parametrize("cut_off", [True, False])
def test_parsing_keeps_every_finished_label_before_a_cut_and_makes_none(
    text: str, patterns: list[str], cut_off: bool
) -> None:
    written = {"1": 1, "0": 0, "-1": -1, "−1": -1}

    def finished_in(piece: str) -> dict[int, int]:
        matches = (found for pattern in patterns for found in re.finditer(pattern, piece))
        return {int(found["i"]): written[found["v"]] for found in matches}

    whole = parse(text, STEPS)
    assert whole.labels == finished_in(text) and len(whole.labels) == 3
    for name, piece in cuts(text).items():
        finished = finished_in(piece)
        found = parse(piece, STEPS, cut_off=cut_off)
        assert {step: label for step, label in found.labels.items() if label is not None} == finished, name
        assert (found.unusable is None) == bool(finished), name
        assert found.reasons.items() <= whole.reasons.items(), name
        assert found.outcome in (None, whole.outcome) and not found.extra and not found.invalid, name
        if cut_off and not finished:
            assert found.unusable is not None and found.unusable.kind == UnusableKind.TRUNCATED, name


def test_parsing_says_that_an_answer_was_cut_so_that_the_rest_can_be_asked_for() -> None:
    found = parse(GOOD[: GOOD.index('"r4"')], STEPS, cut_off=True)
    assert (found.labels, found.reasons, found.outcome) == ({2: 1, 4: -1, 6: None}, {2: "r2"}, None)
    assert found.cut and counts(found) == (1, 0, 0)
    assert ProblemKind.NOTED in [problem.kind for problem in found.problems if problem.where == "answer"]
    assert not parse(GOOD, STEPS).cut
    assert not parse(f"{GOOD}\nThat is a", STEPS, cut_off=True).cut


def test_parsing_never_takes_a_draft_for_an_answer_that_was_cut() -> None:
    drafted = {"steps": [{"index": step, "label": -1, "reason": "?"} for step in STEPS], "outcome": -1}
    draft = json.dumps(drafted)
    text = f"<think>Perhaps {draft}? No.</think>\n{GOOD}"
    for name, piece in cuts(text).items():
        found = parse(piece, STEPS, cut_off=True)
        said = [label for label in found.labels.values() if label is not None]
        assert said == [1, -1, 0][: len(said)] or "</think>\n{" not in piece, name
        assert not said or "</think>" in piece, name
    assert unusable(f"{GOOD}\nOr better: {GOOD[:20]}", cut_off=True) == UnusableKind.TRUNCATED
    wrapped = f'{{"draft": {GOOD}, "steps": ['
    assert unusable(wrapped, cut_off=True) == unusable(wrapped) == UnusableKind.TRUNCATED


def test_parsing_reads_the_layout_of_published_answers() -> None:
    found = parse(f"```json\n{json.dumps(PUBLISHED)}\n```", STEPS)
    assert found.labels == {2: 1, 4: -1, 6: 0}
    assert found.reasons == {2: "fine", 6: "no, “6” rests on nothing"}
    assert (found.outcome, found.outcome_reason, found.problems) == (-1, "it failed", ())
    bare = parse('{"step_labels": {"2": 1, "2": -1, "4": null, "5": 1, "6": "+1"}, "final_label": 7}', STEPS)
    assert (bare.labels, bare.outcome) == ({2: None, 4: None, 6: 1}, None)
    assert counts(bare) == (1, 1, 1)
