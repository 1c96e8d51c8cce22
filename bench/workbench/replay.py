"""Label trajectories in the browser exactly as somebody did, with the fewest presses, and count them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.core.propagation import PropagationRules
from bench.client import Refused
from bench.workbench.browser import Look, Workbench
from bench.workbench.plan import CONFIRM, LABEL_KEYS, SCROLL, Case, confirmable, floor, kept, plan, right

PRESS_KINDS = {**dict.fromkeys(LABEL_KEYS.values(), "labels"), CONFIRM: "confirmations", SCROLL: "scrolling"}
MOST_LOOKS = 20


@dataclass(frozen=True)
class Target:
    """One trajectory's judgement: its record, its steps' message indexes and values, its outcome."""

    record_id: str
    indexes: tuple[int, ...]
    values: tuple[int, ...]
    outcome: int

    @classmethod
    def of(cls, record: dict[str, Any]) -> Target:
        """The labels that a record comes with; its id is the one that every page shows."""
        labels = sorted((int(index), value) for index, value in record["step_labels"].items())
        indexes, values = zip(*labels, strict=True)
        record_id = f"{record['data_source']}:{record['query_index']}:{record['sample_index']}"
        return cls(record_id, indexes, values, record["final_label"])

    @property
    def odd(self) -> bool:
        """Whether the page asks once whether the outcome is meant."""
        success_ends_badly = self.outcome == 1 and self.values[-1] == -1
        return success_ends_badly or (self.outcome == -1 and -1 not in self.values)


@dataclass(frozen=True)
class Mode:
    """The help that is used. `limit`: presses a step that are allowed. `limit`: presses a step that are
    allowed."""

    name: str
    slug: str
    assisted: bool
    rules: PropagationRules
    limit: float


MODES = (
    Mode("no assistance", "bench-plain", False, PropagationRules(), 1.0),
    Mode("propagation", "bench-propagation", True, PropagationRules(), 0.97),
    Mode("propagation, carry-forward", "bench-carry", True, PropagationRules(carry_forward=True), 0.90),
)


@dataclass
class Tally:
    """Counts of presses and confirmations, and faults (in sentences)."""

    steps: int = 0
    trajectories: int = 0
    presses: Counter[str] = field(default_factory=Counter)
    outcome: int = 0
    submit: int = 0
    floor: int = 0
    confirmed: dict[str, set[int]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def per_step(self) -> float:
        """Presses a step: labels, moves, scrolling, confirmations."""
        return self.presses.total() / self.steps


@dataclass
class Sitting:
    """One trajectory on one workbench: what has been labelled, and which proposals have stood on screen."""

    workbench: Workbench
    target: Target
    case: Case
    tally: Tally
    done: int = 0
    maybe: frozenset[int] = frozenset()  # on screen at any moment: the page may have counted them
    sure: frozenset[int] = frozenset()  # on screen for as long as the page asks for
    confirmed: set[int] = field(default_factory=set)

    def label_all(self, assisted: bool) -> None:
        """Press until every step has its label. Raises Refused when the page does not do what is expected."""
        look = self._look()
        if look.focus != 0:
            raise Refused(f"{self.target.record_id} does not open at its first step")
        while self.done < len(self.target.values):
            press = LABEL_KEYS[self.target.values[self.done]]
            if assisted:
                look, press = self._decide(look)
            self.tally.presses[PRESS_KINDS[press]] += 1
            self.workbench.press(press)
            look = self._look() if press == SCROLL else self._after(press)

    def _look(self) -> Look:
        look = self.workbench.look().of(self.target.indexes)
        self.maybe |= look.proposals_on_screen()
        return look

    def _next(self, look: Look) -> str:
        if look.focus != min(self.done, len(look.steps) - 1):
            raise Refused(f"{self.target.record_id}: the focus is on {look.focus}, not on {self.done}")
        return plan(self.case, look.scene, self.done, self.maybe).presses[0]

    def _decide(self, look: Look) -> tuple[Look, str]:
        """The next press. Before proposals are confirmed or scrolled away from, they are looked at."""
        press = self._next(look)
        for _ in range(MOST_LOOKS):
            if press not in (CONFIRM, SCROLL):
                return look, press
            before = look
            self.workbench.pause()
            look = self._look()
            was, now = before.proposals_on_screen(), look.proposals_on_screen()
            self.sure |= was & now
            press = self._next(look)
            if now != was or look.scene.scroll != before.scene.scroll:
                continue  # still scrolling, or something has only just appeared
            if press == SCROLL:
                return look, press
            positions = confirmable(self.case, self.done, self.sure)
            if press == CONFIRM and positions and right(self.case, self.done, positions):
                self.confirmed |= set(positions)
                return look, press
        raise Refused(f"{self.target.record_id}: what {press} needs does not come on screen")

    def _after(self, press: str) -> Look:
        """Read off what the press has done; it must be what was meant."""
        before = self.done
        self.done = max(self.confirmed) + 1 if press == CONFIRM else before + 1
        values, rest = self.target.values, len(self.target.values) - self.done
        expected = values[: self.done] + (None,) * rest
        for _ in range(MOST_LOOKS):
            look = self._look()
            if look.values == expected and look.focus >= 0:
                break
            # steps far from the window are drawn when the browser has time, or their part when it has come
            self.workbench.pause()
        else:
            raise Refused(
                f"{self.target.record_id}: after {press} the labels are {look.values}, not {expected}"
            )
        self.maybe = kept(self.case, before, self.done, self.maybe) | look.proposals_on_screen()
        self.sure = kept(self.case, before, self.done, self.sure)
        return look


def replay(workbench: Workbench, mode: Mode, targets: Sequence[Target]) -> Tally:
    """Label and submit all of a project's trajectories; `targets` are theirs. Raises Refused."""
    wanted = {target.record_id: target for target in targets}
    tally = Tally()
    workbench.take_first(mode.slug)
    for _ in targets:
        target = wanted.pop(workbench.record)
        case = Case(target.indexes, target.values, mode.rules)
        sitting = Sitting(workbench, target, case, tally)
        sitting.label_all(mode.assisted)
        outcome, submit = workbench.hand_in(target.outcome, target.odd)
        tally.outcome += outcome
        tally.submit += submit
        tally.trajectories += 1
        tally.steps += len(target.values)
        tally.floor += floor(case) if mode.assisted else len(target.values)
        tally.confirmed[target.record_id] = sitting.confirmed
    tally.problems += workbench.complaints()
    return tally


def compare(stored: dict[str, Any], targets: Sequence[Target], tally: Tally) -> tuple[int, int, list[str]]:
    """The database against the judgement: labels and outcomes that are equal, and a sentence for each
    difference, a label's source included (propagated where a proposal was confirmed, else explicit)."""
    labels = outcomes = 0
    wrong = []
    for target in targets:
        found = stored.get(target.record_id)
        if found is None or found["state"] != "submitted":
            wrong.append(f"{target.record_id} was not submitted")
            continue
        confirmed = tally.confirmed.get(target.record_id, set())
        for position, (index, value) in enumerate(zip(target.indexes, target.values, strict=True)):
            source = "propagated" if position in confirmed else "explicit"
            got = found["labels"].get(str(index))
            labels += got is not None and got[0] == value
            if got != [value, source]:
                wrong.append(f"{target.record_id}, message {index}: {got}, not {[value, source]}")
        extra = set(found["labels"]) - set(map(str, target.indexes))
        wrong += [f"{target.record_id}, message {index}: a label nobody made" for index in sorted(extra)]
        outcomes += found["outcome"] == target.outcome
        if found["outcome"] != target.outcome:
            wrong.append(f"{target.record_id}: outcome {found['outcome']}, not {target.outcome}")
    return labels, outcomes, wrong
