"""The propagation rule: the shared cases, and properties over generated labellings."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.core.propagation import (
    PropagationRules,
    Proposal,
    StepInput,
    StepResult,
    allowed_confirmation,
    resolve,
)

CASES = json.loads((Path(__file__).parent.parent / "propagation_cases.json").read_text("utf-8"))["cases"]
VALUE = {"+": 1, "0": 0, "-": -1}
TOKEN = re.compile(
    r"(?P<turn>u)?(?P<index>\d+):(?P<orphan>x)?"
    r"(?:\.|(?P<kind>[~?])?(?P<sign>[+0-])(?:(?P<at>[@!])(?P<root>\d+))?)"
)


def rules_of(names: list[str]) -> PropagationRules:
    alternatives = {"propagates": "alone" not in names, "others": "others" in names}
    return PropagationRules("turn" in names, "carry" in names, **alternatives)


def read_steps(text: str) -> list[StepInput]:
    steps = []
    for token in text.split():
        m = TOKEN.fullmatch(token)
        assert m and m["kind"] != "?" and not m["orphan"], token
        sign = m["sign"]
        steps.append(
            StepInput(
                message_index=int(m["index"]),
                value=VALUE[sign] if sign else None,
                source=("propagated" if m["kind"] else "explicit") if sign else None,
                root=int(m["root"]) if m["root"] else None,
                root_pinned=m["at"] == "!",
                after_user_turn=bool(m["turn"]),
            )
        )
    return steps


def read_results(text: str) -> tuple[StepResult, ...]:
    results = []
    for token in text.split():
        m = TOKEN.fullmatch(token)
        assert m, token
        value = VALUE[m["sign"]] if m["sign"] else None
        root = int(m["root"]) if m["root"] else None
        proposed = m["kind"] == "?"
        labelled = value is not None and not proposed
        results.append(
            StepResult(
                message_index=int(m["index"]),
                value=value if labelled else None,
                source=("propagated" if m["kind"] == "~" else "explicit") if labelled else None,
                root=root if labelled else None,
                root_pinned=m["at"] == "!",
                proposal=Proposal(value, root) if proposed else None,
                orphaned=bool(m["orphan"]),
            )
        )
    return tuple(results)


def as_input(results: tuple[StepResult, ...], steps: list[StepInput]) -> list[StepInput]:
    """The labels of a result, read again as stored labels."""
    return [
        replace(step, value=r.value, source=r.source, root=r.root, root_pinned=r.root_pinned)
        for r, step in zip(results, steps, strict=True)
    ]


def confirmed(results: tuple[StepResult, ...], steps: list[StepInput]) -> list[StepInput]:
    """Every proposal confirmed."""
    return [
        replace(s, value=r.proposal.value, source="propagated", root=r.proposal.root) if r.proposal else s
        for r, s in zip(results, as_input(results, steps), strict=True)
    ]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_shared_case(case: dict) -> None:
    steps, rules = read_steps(case["steps"]), rules_of(case["rules"])
    results = resolve(steps, rules)
    assert results == read_results(case["expected"])
    again = resolve(as_input(results, steps), rules)
    assert again == tuple(replace(r, orphaned=False) for r in results)


def test_case_names_are_unique() -> None:
    names = [case["name"] for case in CASES]
    assert len(names) == len(set(names)) >= 40


def test_steps_out_of_order_are_refused() -> None:
    with pytest.raises(ValueError, match="rise by message index: 2 after 4"):
        resolve([StepInput(4), StepInput(2)], PropagationRules())
    with pytest.raises(ValueError, match="rise"):
        resolve([StepInput(4), StepInput(4)], PropagationRules())


@pytest.mark.parametrize(
    ("steps", "index", "value", "root", "allowed"),
    [
        ("2:- 4:.", 4, -1, 2, True),
        ("2:- 4:.", 4, -1, 4, False),
        ("2:- 4:.", 4, -1, None, False),
        ("2:- 4:.", 4, 1, None, False),
        ("2:- 4:0", 4, -1, 2, True),  # an undo may put a fill back where an explicit label stands now
        ("2:- 4:~-@2 6:.", 4, -1, 2, True),  # a fill that stands may be saved again, with its note say
        ("2:- 4:0 6:~-@2", 6, -1, 2, True),
        ("2:- 4:0 6:.", 6, -1, 2, False),
        ("2:- 4:+ 6:.", 6, -1, 2, False),
        ("2:. 4:~-@2", 4, -1, 2, False),
        ("2:. 4:.", 4, -1, None, False),
        ("2:+ 4:.", 4, 1, None, False),
        ("2:- 4:.", 3, -1, 2, False),
        ("2:- 4:.", 2, -1, 2, False),
    ],
)
def test_confirmation_is_of_the_present_proposal_only(steps, index, value, root, allowed) -> None:
    assert allowed_confirmation(read_steps(steps), PropagationRules(), index, value, root) is allowed


def test_confirmation_of_a_carried_plus_one() -> None:
    steps = read_steps("2:+ 4:. 6:.")
    assert allowed_confirmation(steps, PropagationRules(carry_forward=True), 6, 1, None)
    assert not allowed_confirmation(steps, PropagationRules(carry_forward=True), 6, 1, 2)


@st.composite
def labellings(draw: st.DrawFn) -> list[StepInput]:
    """Any stored labels whatever, sensible or not: roots may point anywhere."""
    gaps = draw(st.lists(st.integers(1, 3), max_size=12))
    steps, index = [], -1
    for gap in gaps:
        index += gap
        source = draw(st.sampled_from(["explicit", "propagated", None]))
        value = draw(st.sampled_from([-1, 0, 1])) if source else None
        steps.append(
            StepInput(
                message_index=index,
                value=value,
                source=source,
                root=draw(st.one_of(st.none(), st.integers(0, index + 3))) if value == -1 else None,
                root_pinned=draw(st.booleans()) if value == -1 and source == "explicit" else False,
                after_user_turn=draw(st.booleans()),
            )
        )
    return steps


all_rules = st.builds(PropagationRules, suspend_on_user_turn=st.booleans(), carry_forward=st.booleans())


@given(labellings(), all_rules)
@settings(max_examples=400)
def test_propagation_of_any_labelling_has_its_properties(
    steps: list[StepInput], rules: PropagationRules
) -> None:
    results = resolve(steps, rules)
    by_index = {r.message_index: r for r in results}
    assert [r.message_index for r in results] == [s.message_index for s in steps]
    last_explicit = None
    for step, result in zip(steps, results, strict=True):
        if step.source == "explicit":  # an explicit label is never changed
            assert (result.value, result.source, result.proposal) == (step.value, "explicit", None)
            assert not result.orphaned
        elif result.value is not None:  # a fill keeps its value or loses it
            assert (result.value, result.source) == (step.value, "propagated")
        assert (result.root is not None) == (result.value == -1)
        for root in (result.root, result.proposal.root if result.proposal else None):
            if root is not None:  # every root is an explicit −1 and the root of itself, here or earlier
                assert root <= result.message_index
                assert (by_index[root].value, by_index[root].root) == (-1, root)
                assert by_index[root].source == "explicit"
        if result.proposal is not None:
            assert result.value is None
            if result.proposal.value == 1:
                assert rules.carry_forward and last_explicit == 1 and result.proposal.root is None
            else:  # −1 is proposed only under an open run
                assert result.proposal.value == -1 and result.proposal.root is not None
                assert last_explicit != 0 or _fill_since_explicit(results, result.message_index)
        if result.source == "explicit":
            last_explicit = result.value


def _fill_since_explicit(results: tuple[StepResult, ...], before: int) -> bool:
    """Whether a confirmed −1 stands between the last explicit label and this step."""
    for result in reversed([r for r in results if r.message_index < before]):
        if result.source == "explicit":
            return False
        if result.source == "propagated" and result.value == -1:
            return True
    return False


@given(labellings(), all_rules)
def test_propagation_of_its_result_gives_the_result(steps: list[StepInput], rules: PropagationRules) -> None:
    results = resolve(steps, rules)
    assert resolve(as_input(results, steps), rules) == tuple(replace(r, orphaned=False) for r in results)


@given(labellings(), all_rules)
def test_confirmation_of_every_proposal_leaves_none_and_changes_nothing_else(steps, rules) -> None:
    results = resolve(steps, rules)
    for result in results:
        if result.proposal:
            proposal = result.proposal
            assert allowed_confirmation(steps, rules, result.message_index, proposal.value, proposal.root)
    after = resolve(confirmed(results, steps), rules)
    for was, now in zip(results, after, strict=True):
        assert now.proposal is None and not now.orphaned
        expected = (was.proposal.value, was.proposal.root) if was.proposal else (was.value, was.root)
        assert (now.value, now.root) == expected


@given(labellings(), all_rules, st.data())
def test_root_taken_back_leaves_nothing_of_its_run(steps, rules, data) -> None:
    filled = confirmed(resolve(steps, rules), steps)
    roots = [s.message_index for s in filled if s.value == -1 and s.root == s.message_index]
    if not roots:
        return
    taken = data.draw(st.sampled_from(roots))
    bare = [
        replace(s, value=None, source=None, root=None, root_pinned=False) if s.message_index == taken else s
        for s in filled
    ]
    for step, result in zip(bare, resolve(bare, rules), strict=True):
        assert result.root != taken
        assert result.proposal is None or result.proposal.root != taken
        if step.source == "propagated" and step.root == taken:
            assert result.orphaned and result.value is None
