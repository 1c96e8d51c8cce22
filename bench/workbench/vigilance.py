"""Check that an attentive annotator can see and correct every wrong proposal before confirming it.

One proposal of twenty is made wrong (`targets.seeded`). The policy is that of a careful person who likes to
confirm: it reads each proposal off the page while enough of it is on screen, confirms when all that Enter
would confirm are right, and else labels the focused step itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.core.propagation import Rules
from bench.client import Refused
from bench.workbench.browser import NARROW, WIDE, Look, Workbench
from bench.workbench.plan import CONFIRM, LABEL_KEYS, confirmable
from bench.workbench.replay import MOST_LOOKS, Sitting, Tally
from bench.workbench.targets import Target

RULES = Rules(carry_forward=True)


@dataclass(frozen=True)
class Window:
    """A size of the window, and the project that is labelled in it."""

    size: tuple[int, int]
    slug: str

    @property
    def name(self) -> str:
        """For the report."""
        return f"{self.size[0]} × {self.size[1]}"


WINDOWS = (Window(WIDE, "bench-wide-carry"), Window(NARROW, "bench-narrow-carry"))


@dataclass
class Watched:
    """What came of the wrong proposals, by (record, position), and of the right ones."""

    tally: Tally
    proposals: int = 0
    seeded: set[tuple[str, int]] = field(default_factory=set)
    seen: set[tuple[str, int]] = field(default_factory=set)
    corrected: set[tuple[str, int]] = field(default_factory=set)

    @property
    def right_confirmed(self) -> int:
        """Proposals confirmed, all of them right."""
        return sum(map(len, self.tally.confirmed.values()))


@dataclass
class Vigil(Sitting):
    """A sitting of somebody who looks first."""

    found: Watched = field(default_factory=lambda: Watched(Tally()))

    def _decide(self, look: Look) -> tuple[Look, str]:
        record, label = self.target.record_id, LABEL_KEYS[self.target.values[self.done]]
        if self.case.proposals(self.done)[self.done] is None:
            return look, label
        look = self._watch(look)
        positions = confirmable(self.case, self.done, self.done, self.sure)
        wrong = [at for at in positions if look.steps[at].value != self.target.values[at]]
        # a proposal further on may be wrong only until this run ends: that is not one of the seeded
        self.found.seen |= {(record, at) for at in wrong} & self.found.seeded
        if not wrong:
            self.confirmed |= set(positions)
            return look, CONFIRM
        if self.done in wrong:
            self.found.corrected.add((record, self.done))
        return look, label

    def _watch(self, look: Look) -> Look:
        """Look until what is on screen has been there long enough; the focused proposal is among it."""
        for _ in range(MOST_LOOKS):
            before = look
            self.workbench.pause()
            look = self._look()
            was, now = before.proposals_on_screen(), look.proposals_on_screen()
            self.sure |= was & now
            if was == now and look.scene.scroll == before.scene.scroll and self.done in self.sure:
                return look
        raise Refused(
            f"{self.target.record_id}: the proposal of step {self.done + 1} does not come on screen"
        )


def watch(
    workbench: Workbench, window: Window, targets: Sequence[Target], wrong: Mapping[str, frozenset[int]]
) -> Watched:
    """Label and submit all of a project's trajectories, looking. Raises Refused."""
    wanted = {target.record_id: target for target in targets}
    found = Watched(Tally())
    workbench.take_first(window.slug)
    for _ in targets:
        target = wanted.pop(workbench.record)
        case = target.case(RULES)
        found.seeded |= {(target.record_id, position) for position in wrong[target.record_id]}
        sitting = Vigil(workbench, target, case, found.tally, found=found)
        sitting.label_all(assisted=True)
        workbench.hand_in(target.outcome, target.odd)
        found.tally.confirmed[target.record_id] = sitting.confirmed
        found.proposals += sum(
            case.proposals(position)[position] is not None for position in range(len(target.values))
        )
    found.tally.problems += workbench.complaints()
    return found


def wrongly_confirmed(stored: Mapping[str, Any], targets: Sequence[Target]) -> list[str]:
    """Every confirmation of a wrong value that the history holds, taken back later or not; in sentences."""
    found = []
    for target in targets:
        values = dict(zip(target.indexes, target.values, strict=True))
        for index, value, source, _ in stored[target.record_id]["events"]:
            if source == "propagated" and value != values[index]:
                found.append(f"{target.record_id}, message {index}: {value} was confirmed")
    return found
