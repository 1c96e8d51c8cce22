"""The error-propagation rule: the authority for roots, proposals and orphaned fills.

Source: docs/design.md, "Labels and propagation", after the labelling scheme of AgentProcessBench
(arXiv 2603.14465). One pure function, `resolve`, reads the labels of a trajectory from the first step to the
last and says for each what it is now; the browser previews with the same rule
(`frontend/static/frontend/js/workbench/state/propagation_preview.js`) and `tests/propagation_cases.json`
drives the tests of both.

In short: an explicit −1 opens an error run or joins the one that is open; while a run is open and not
suspended, an unlabelled step is proposed −1 with the run's root; an explicit +1 closes the run, an explicit 0
suspends it, and so does a user turn where the subset says so. A confirmed fill lives as long as what it was
filled from. No explicit value is ever changed. Where errors do not propagate, because steps are alternatives
(core.kinds), every −1 is an error of its own, and nothing is proposed; but of a question, once an option is
explicitly +1, each that has no label may be −1, wherever it stands.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Source = Literal["explicit", "propagated"]


@dataclass(frozen=True, slots=True)
class PropagationRules:
    """The choices of a project and a subset.

    `suspend_on_user_turn` (subset): a user message suspends the open run.
    `carry_forward` (project): an explicit +1 proposes +1 for what follows.
    `propagates` (kind of project): errors carry on to later steps at all.
    `others` (of alternatives, and no pair): an explicit +1 proposes −1 for those without a label.
    """

    suspend_on_user_turn: bool = False
    carry_forward: bool = False
    propagates: bool = True
    others: bool = False


@dataclass(frozen=True, slots=True)
class StepInput:
    """One step and the label stored for it (value −1, 0, +1, or None when it has none).

    `root` is the message index of the step where the error began (only of a −1); with `root_pinned` the
    annotator chose it, otherwise it is worked out anew. `after_user_turn`: a user message stands between the
    previous step and this one.
    """

    message_index: int
    value: int | None = None
    source: Source | None = None
    root: int | None = None
    root_pinned: bool = False
    after_user_turn: bool = False


@dataclass(frozen=True, slots=True)
class Proposal:
    """An unconfirmed fill: −1 with the root of its run, or +1 without one. Shown, never stored or counted."""

    value: int
    root: int | None


@dataclass(frozen=True, slots=True)
class StepResult:
    """The state of a step. `orphaned`: a confirmed fill stood here and lost what it was filled from."""

    message_index: int
    value: int | None
    source: Source | None
    root: int | None
    root_pinned: bool
    proposal: Proposal | None
    orphaned: bool


@dataclass(slots=True)
class _Run:
    """The state of the walk: the run's root (None: no run), whether it rests, and the last explicit label."""

    root: int | None = None
    suspended: bool = False
    last_explicit: int | None = None


def resolve(steps: Sequence[StepInput], rules: PropagationRules) -> tuple[StepResult, ...]:
    """Judge every step of a trajectory, in order; same length and order as `steps`.

    `steps` come with strictly rising message indexes (ValueError otherwise). The result, read as input again,
    gives itself (but for `orphaned`, which reports a change). Roots in the result are always roots of
    themselves: chains are followed to their end.
    """
    run = _Run()
    done: dict[int, StepResult] = {}
    previous = -1
    ground = rules.others and any(step.value == 1 and step.source == "explicit" for step in steps)
    for step in steps:
        if step.message_index <= previous:
            raise ValueError(f"steps must rise by message index: {step.message_index} after {previous}")
        previous = step.message_index
        if step.after_user_turn and rules.suspend_on_user_turn:
            run.suspended = True
        if not rules.propagates:
            done[step.message_index] = _alone(step, ground)
        elif step.value is not None and step.source == "explicit":
            done[step.message_index] = _explicit(step, run, done)
        else:
            done[step.message_index] = _filled(step, run, done, rules)
    return tuple(done.values())


def allowed_confirmation(
    steps: Sequence[StepInput], rules: PropagationRules, message_index: int, value: int, root: int | None
) -> bool:
    """Whether a label with source "propagated" may be saved here: it equals the step's proposal.

    The proposal is the one the step has, or would have without its present label (so that an undo can put a
    fill back); a valid fill that stands here already may also be saved again. False for an unknown index.
    """
    proposal = Proposal(value, root)
    for index, step in enumerate(steps):
        if step.message_index != message_index:
            continue
        before = steps if rules.others else steps[: index + 1]
        now = resolve(before, rules)[index]
        if now.source == "propagated" and Proposal(now.value or 0, now.root) == proposal:
            return True
        bare = replace(step, value=None, source=None, root=None, root_pinned=False)
        return resolve([*steps[:index], bare, *before[index + 1 :]], rules)[index].proposal == proposal
    return False


def _alone(step: StepInput, ground: bool) -> StepResult:
    """A step that has nothing to do with those before it: what is explicit stays. A fill of −1, as a
    proposal, has a ground where another one is right."""
    explicit = step.value is not None and step.source == "explicit"
    if ground and not explicit:
        index, filled = step.message_index, step.value == -1
        if filled:
            return StepResult(index, -1, "propagated", index, False, None, False)
        return StepResult(index, None, None, None, False, Proposal(-1, index), step.value is not None)
    return StepResult(
        step.message_index,
        step.value if explicit else None,
        "explicit" if explicit else None,
        step.message_index if explicit and step.value == -1 else None,
        False,
        None,
        step.value is not None and not explicit,
    )


def _explicit(step: StepInput, run: _Run, done: Mapping[int, StepResult]) -> StepResult:
    root, pinned = None, False
    if step.value == -1:
        root, pinned = _root_of_error(step, run, done)
        run.root, run.suspended = root, False
    elif step.value == 1:
        run.root, run.suspended = None, False
    else:
        run.suspended = True
    run.last_explicit = step.value
    return StepResult(step.message_index, step.value, "explicit", root, pinned, None, False)


def _root_of_error(step: StepInput, run: _Run, done: Mapping[int, StepResult]) -> tuple[int, bool]:
    """(root, still pinned). A pin to a step that is not −1 any more is dropped; the default takes over."""
    if step.root_pinned and step.root is not None:
        if step.root == step.message_index:
            return step.root, True
        target = done.get(step.root)
        if target is not None and target.value == -1 and target.root is not None:
            return target.root, True  # the end of the chain: results carry roots of themselves only
    return (step.message_index if run.root is None else run.root), False


def _filled(
    step: StepInput, run: _Run, done: Mapping[int, StepResult], rules: PropagationRules
) -> StepResult:
    """A step without an explicit label: a fill that still holds, else unlabelled with its proposal."""
    had_fill = step.value is not None and step.source == "propagated"
    if had_fill and step.value == -1:
        root = _living_root(step.root, done)
        if root is not None:
            run.root, run.suspended = root, False
            return StepResult(step.message_index, -1, "propagated", root, False, None, False)
    if had_fill and step.value == 1 and run.last_explicit == 1:
        return StepResult(step.message_index, 1, "propagated", None, False, None, False)
    return StepResult(step.message_index, None, None, None, False, _proposal(run, rules), had_fill)


def _living_root(root: int | None, done: Mapping[int, StepResult]) -> int | None:
    """The root a fill belongs to now, or None when the −1 it came from is gone."""
    origin = None if root is None else done.get(root)
    if origin is None or origin.value != -1 or origin.source != "explicit":
        return None
    return origin.root


def _proposal(run: _Run, rules: PropagationRules) -> Proposal | None:
    if run.root is not None:
        return None if run.suspended else Proposal(-1, run.root)
    if rules.carry_forward and run.last_explicit == 1:
        return Proposal(1, None)
    return None
