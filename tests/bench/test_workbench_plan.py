"""The planner of the workbench bench, against every sequence of keys that the page understands."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, replace

import pytest

from annotation.core.propagation import Rules, StepInput, resolve
from bench.workbench.plan import CONFIRM, LABEL_KEYS, SCROLL, Case, Scene, floor, plan
from bench.workbench.targets import BLOCK, Target, made, seeded

VALUES = {key: value for value, key in LABEL_KEYS.items()}
KEYS = (*VALUES, CONFIRM, SCROLL, "j", "k", "n")
CARRY = Rules(carry_forward=True)


@dataclass(frozen=True)
class Page:
    """A second reading of the page's rules, independent of the planner's: any key at any time."""

    labels: tuple[tuple[int, str] | None, ...]
    focus: int
    seen: frozenset[int]
    scene: Scene

    def steps(self) -> list[StepInput]:
        """As the rule reads them."""
        found = []
        for index, label in enumerate(self.labels):
            value, source = label or (None, None)
            root = next((i for i, one in enumerate(self.labels) if one == (-1, "explicit")), None)
            found.append(
                StepInput(index, value, source, root if source == "propagated" and value == -1 else None)
            )
        return found

    def proposals(self, rules: Rules) -> list[int | None]:
        """By position."""
        return [step.proposal.value if step.proposal else None for step in resolve(self.steps(), rules)]

    def looked(self, rules: Rules) -> Page:
        """With what is on screen seen."""
        now = {
            i for i, one in enumerate(self.proposals(rules)) if one is not None and self.scene.on_screen(i)
        }
        return replace(self, seen=self.seen | now)

    def went(self, position: int) -> Page:
        """With the focus there."""
        position = max(0, min(position, len(self.labels) - 1))
        return replace(self, focus=position, scene=self.scene.moved_to(position))

    def labelled(self, changes: dict[int, tuple[int, str]], rules: Rules) -> Page:
        """With these labels; a proposal that changes by it has not been seen."""
        labels = tuple(changes.get(i, label) for i, label in enumerate(self.labels))
        after = replace(self, labels=labels)
        old, new = self.proposals(rules), after.proposals(rules)
        return replace(after, seen=frozenset(i for i in self.seen if new[i] is not None and new[i] == old[i]))

    def press(self, key: str, targets: tuple[int, ...], rules: Rules) -> Page | None:
        """What the key does; None when it would make or confirm a label that is wrong, or does nothing."""
        if key in VALUES:
            if targets[self.focus] != VALUES[key]:
                return None
            return self.labelled({self.focus: (VALUES[key], "explicit")}, rules).went(self.focus + 1)
        if key == CONFIRM:
            proposals, changes = self.proposals(rules), {}
            for position in range(self.focus, len(targets)):
                value = proposals[position]
                if value is None:
                    continue
                if position not in self.seen:
                    break
                if value != targets[position]:
                    return None
                changes[position] = (value, "propagated")
            return self.labelled(changes, rules).went(max(changes) + 1) if changes else None
        if key == SCROLL:
            return replace(self, scene=self.scene.paged())
        if key == "n":
            count = len(targets)
            order = [(self.focus + i) % count for i in range(1, count + 1)]
            return self.went(next(i for i in order if self.labels[i] is None))
        return self.went(self.focus + (1 if key == "j" else -1))


def fewest(targets: tuple[int, ...], scene: Scene, rules: Rules) -> int:
    """By trying everything, shortest first."""
    start = Page((None,) * len(targets), 0, frozenset(), scene).looked(rules)
    known, waiting = {start}, deque([(0, start)])
    while waiting:
        presses, page = waiting.popleft()
        if None not in page.labels:
            return presses
        for key in KEYS:
            after = page.press(key, targets, rules)
            if after is None:
                continue
            after = after.looked(rules)
            if after not in known:
                known.add(after)
                waiting.append((presses + 1, after))
    raise AssertionError("no sequence of keys gets there")


def column(rng: random.Random, count: int) -> Scene:
    """Steps of chance heights in a window of 900 px, with a bar of 50 px over its top."""
    tops, bottoms, at = [], [], 200.0
    for _ in range(count):
        height = rng.choice((120, 120, 250, 480, 900, 1500))
        tops.append(at)
        bottoms.append(at + height)
        at += height + rng.choice((12, 100))
    return Scene(tuple(tops), tuple(bottoms), covered=50, height=900, margin=60, most=max(0.0, at - 900))


def runs(rng: random.Random, count: int) -> tuple[int, ...]:
    """Values that often repeat, as people's do."""
    values = [rng.choice((-1, 1, 1))]
    while len(values) < count:
        values.append(rng.choice((values[-1], values[-1], values[-1], -1, 1, 0)))
    return tuple(values)


@pytest.mark.parametrize("rules", [Rules(), CARRY], ids=["propagation", "carry-forward"])
def test_plan_is_as_short_as_any_sequence_of_keys(rules: Rules) -> None:
    rng = random.Random(7)
    confirmed = 0
    for _ in range(40):
        count = rng.randint(1, 4)
        targets = runs(rng, count)
        scene = column(rng, count)

        found = plan(Case(tuple(range(count)), targets, rules), scene)

        assert len(found) == fewest(targets, scene, rules), (targets, scene, found)
        confirmed += CONFIRM in found.presses
    assert confirmed


def test_plan_does_what_it_says() -> None:
    rng = random.Random(11)
    for _ in range(100):
        count = rng.randint(1, 8)
        targets = runs(rng, count)
        page = Page((None,) * count, 0, frozenset(), column(rng, count)).looked(CARRY)
        for key in plan(Case(tuple(range(count)), targets, CARRY), page.scene).presses:
            after = page.press(key, targets, CARRY)
            assert after is not None, (targets, key)
            page = after.looked(CARRY)
        assert tuple(label[0] for label in page.labels if label) == targets


def test_run_on_one_screen_takes_two_presses_and_a_wrong_proposal_on_it_is_never_confirmed() -> None:
    scene = Scene((100, 200, 300, 400), (190, 290, 390, 490), covered=50, height=900, margin=60, most=0)
    run = Case((2, 4, 6, 8), (-1, -1, -1, -1), Rules())
    ends = replace(run, targets=(-1, -1, -1, 1))

    assert plan(run, scene).presses == ("-", CONFIRM)
    assert plan(ends, scene).presses == ("-", "-", "-", "1")
    assert (floor(run), floor(ends)) == (2, 3)


def test_plan_seeds_one_proposal_of_twenty_wrong() -> None:
    records = [
        {"data_source": "x", "query_index": n, "sample_index": 0, "final_label": 1,
         "step_labels": {str(2 * i): 1 for i in range(1, 7)}}
        for n in range(80)
    ]  # fmt: skip
    targets, wrong = seeded(made(records), CARRY)

    proposed = 0
    for target in targets:
        case = target.case(CARRY)
        for position, value in enumerate(target.values):
            proposal = case.proposals(position)[position]
            proposed += proposal is not None
            differs = proposal is not None and proposal.value != value
            assert differs == (position in wrong[target.record_id])
    assert abs(sum(map(len, wrong.values())) - proposed / BLOCK) <= 1


def test_plan_calls_odd_the_outcome_that_the_page_asks_about() -> None:
    target = Target("x:0:0", (2, 4), (1, -1), 1)

    assert target.odd
    assert not replace(target, outcome=-1).odd
    assert replace(target, values=(1, 0), outcome=-1).odd
