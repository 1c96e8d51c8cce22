"""Plan the fewest key presses for known labels on the workbench.

Pure, and by the page's own rules: a label key labels the focused step and moves on; Enter confirms the
proposals from the focused step on that have been on screen, up to the first that has not, and focuses the
step after the last; moving brings a step that is not wholly on screen to the top; PageDown scrolls. What is
proposed comes from `annotation.core.propagation`, which is the authority.

Enter is never planned while one of the proposals that it would confirm is wrong, and everything that stands
on screen counts as seen at once: who types fast must not profit from not having looked.

Labels go forward only. Leaving a step for later costs the moves there and back, which is never less than
labelling it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from annotation.core.propagation import PropagationRules, Proposal, StepInput, resolve

LABEL_KEYS = {1: "1", 0: "0", -1: "-"}
CONFIRM = "Enter"
SCROLL = "PageDown"

# As frontend/static/frontend/js/workbench/view/visibility.js has it.
ENOUGH_PIXELS = 400
# What Chromium scrolls by a page: this share of the window.
PAGE = 0.875


@dataclass(frozen=True)
class Scene:
    """The places of the steps: pixels from the top of the document, and the part that the window shows."""

    tops: tuple[float, ...]
    bottoms: tuple[float, ...]
    covered: float  # of the window's top, by what stays there
    height: float  # of the window
    margin: float  # above a step that was brought to the top
    most: float  # how far the document scrolls
    scroll: float = 0.0

    def on_screen(self, position: int) -> bool:
        """Whether at least half of a step, or 400 px of a tall one, is on screen."""
        top, bottom = self.tops[position] - self.scroll, self.bottoms[position] - self.scroll
        visible = min(bottom, self.height) - max(top, self.covered)
        return visible > 0 and visible >= min((bottom - top) / 2, ENOUGH_PIXELS)

    def moved_to(self, position: int) -> Scene:
        """After the focus has come to a step: it is brought to the top unless all of it is on screen."""
        top, bottom = self.tops[position] - self.scroll, self.bottoms[position] - self.scroll
        if top >= self.covered and bottom <= self.height:
            return self
        return self._at(self.tops[position] - self.margin)

    def paged(self) -> Scene:
        """After PageDown."""
        return self._at(self.scroll + PAGE * self.height)

    def _at(self, scroll: float) -> Scene:
        return replace(self, scroll=max(0.0, min(scroll, self.most)))


@dataclass(frozen=True)
class Case:
    """A trajectory whose judgement is known: of each step its message index and its value. HotpotQA has no
    user turns between steps."""

    indexes: tuple[int, ...]
    targets: tuple[int, ...]
    rules: PropagationRules

    def proposals(self, done: int) -> tuple[Proposal | None, ...]:
        """The proposals for each step when the first `done` have their target labels."""
        return _proposals(self, done)


@cache
def _proposals(case: Case, done: int) -> tuple[Proposal | None, ...]:
    steps = [
        StepInput(index, target, "explicit") if position < done else StepInput(index)
        for position, (index, target) in enumerate(zip(case.indexes, case.targets, strict=True))
    ]
    return tuple(step.proposal for step in resolve(steps, case.rules))


@dataclass(frozen=True)
class Plan:
    """The presses to come, and how many of them there are of each kind."""

    presses: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.presses)

    @property
    def weight(self) -> tuple[int, int, int]:
        """Fewer presses are better; of as many, those with less scrolling, then with fewer confirmations."""
        return len(self.presses), self.presses.count(SCROLL), self.presses.count(CONFIRM)


def confirmable(case: Case, done: int, seen: frozenset[int]) -> tuple[int, ...]:
    """The positions that Enter confirms, with the focus on the first step without a label."""
    found = []
    for position, proposal in enumerate(case.proposals(done)):
        if position < done or proposal is None:
            continue
        if position not in seen:
            break
        found.append(position)
    return tuple(found)


def looked(case: Case, done: int, seen: frozenset[int], scene: Scene) -> frozenset[int]:
    """The proposals that have been seen, with what is on screen now."""
    proposals = case.proposals(done)
    now = {at for at, proposal in enumerate(proposals) if proposal is not None and scene.on_screen(at)}
    return frozenset(now | {at for at in seen if proposals[at] is not None})


def kept(case: Case, before: int, after: int, seen: frozenset[int]) -> frozenset[int]:
    """The proposals still seen after labels `before` … `after` were made: a proposal that changes is new."""
    old, new = case.proposals(before), case.proposals(after)
    return frozenset(at for at in seen if new[at] is not None and new[at] == old[at])


def right(case: Case, done: int, positions: Sequence[int]) -> bool:
    """Whether the proposals of these steps are what the judgement is."""
    proposals = case.proposals(done)
    return all(
        one is not None and one.value == case.targets[at] for at in positions for one in [proposals[at]]
    )


def plan(case: Case, scene: Scene, done: int = 0, seen: frozenset[int] = frozenset()) -> Plan:
    """The fewest presses from here, with the first `done` steps labelled and the focus on the next.

    `seen`: positions of the proposals that have been on screen before.
    """
    last = len(case.targets) - 1
    memo: dict[tuple[int, float, frozenset[int]], Plan] = {}

    def after(press: tuple[str, ...], before: int, now: int, scene: Scene, seen: frozenset[int]) -> Plan:
        scene = scene.moved_to(min(now, last))
        return Plan(press + best(now, scene, kept(case, before, now, seen)).presses)

    def best(done: int, scene: Scene, seen: frozenset[int]) -> Plan:
        if done > last:
            return Plan()
        seen = looked(case, done, seen, scene)
        key = (done, scene.scroll, seen)
        if key not in memo:
            memo[key] = min(options(done, scene, seen), key=lambda one: one.weight)
        return memo[key]

    def options(done: int, scene: Scene, seen: frozenset[int]) -> list[Plan]:
        found = [after((LABEL_KEYS[case.targets[done]],), done, done + 1, scene, seen)]
        scrolls = 0
        while True:
            positions = confirmable(case, done, seen)
            if not right(case, done, positions):
                return found
            if positions:
                found.append(after((SCROLL,) * scrolls + (CONFIRM,), done, positions[-1] + 1, scene, seen))
            further = scene.paged()
            if further.scroll <= scene.scroll or case.proposals(done)[done] is None:
                return found
            scene, scrolls = further, scrolls + 1
            seen = looked(case, done, seen, scene)

    return best(done, scene, seen)


def floor(case: Case) -> int:
    """The presses of somebody who sees everything and confirms exactly what is right: every label that was
    not proposed, and one confirmation for each unbroken run of right proposals, as published figures do."""
    presses, confirming = 0, False
    for position, target in enumerate(case.targets):
        proposal = case.proposals(position)[position]
        proposed = proposal is not None and proposal.value == target
        presses += not (proposed and confirming)
        confirming = proposed
    return presses
