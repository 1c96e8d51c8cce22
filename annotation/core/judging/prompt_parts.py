"""Ask about a trajectory in parts, when one answer cannot hold the labels of all its steps.

A part is a range of its steps; each prompt holds the whole trajectory. (The context window is something else:
it limits prompt and answer together.) A decision is asked about whole, in an order and in its reverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from .cost import ANSWER_TOKENS_BASE, ANSWER_TOKENS_PER_STEP, CostEstimate, answer_tokens, estimate
from .judge_input import JudgeInput
from .parsed_answer import ParsedAnswer, Problem, ProblemKind
from .parsing import MAX_PROBLEMS
from .prompt import Prompt, TooLong, build, build_decision
from .prompts import in_both_orders
from .settings import MIN_PROMPT_TOKENS, USUAL_ANSWER, JudgeSettings


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """The plan of asking about one trajectory.

    `limit`: tokens of an answer; `budget`: tokens of a prompt; `parts`: the steps of each prompt, in order
    (of a decision all options, in the order in which they are shown); `prompts`: one for each part, as they
    are before anything was answered.
    """

    limit: int
    budget: int
    parts: tuple[tuple[int, ...], ...]
    prompts: tuple[Prompt, ...]


def parts_of(steps: Sequence[int], limit: int) -> tuple[tuple[int, ...], ...]:
    """`steps` in as few parts as answers of `limit` tokens allow, all of about the same size."""
    if not steps:
        return ()
    most = max((limit - ANSWER_TOKENS_BASE) // ANSWER_TOKENS_PER_STEP, 1)
    count = -(-len(steps) // most)
    bounds = [round(number * len(steps) / count) for number in range(count + 1)]
    return tuple(tuple(steps[start:end]) for start, end in pairwise(bounds))


def plan(
    settings: JudgeSettings,
    material: JudgeInput,
    *,
    steps: Sequence[int] | None = None,
    server_limit: int | None = None,
) -> PromptPlan:
    """One answer for all `steps` (None: of the trajectory; of a decision always all), or parts.

    Without a limit in the settings an answer may be as long as its steps need; but when tool outputs would
    have to be shortened for it, parts come before that. `server_limit`: what the server was found to allow.
    Raises `TooLong` when the trajectory fits with no limit.
    """
    whole = steps is None or in_both_orders(settings.prompt_version)
    indexes = material.steps if whole else tuple(steps or ())
    limits = [settings.answer_limit]
    if settings.max_tokens is None and answer_tokens(len(indexes)) > USUAL_ANSWER:
        limits.insert(0, answer_tokens(len(indexes)))
    if server_limit is not None:
        limits = sorted({min(limit, server_limit) for limit in limits}, reverse=True)
    for limit in limits[:-1]:
        budget = settings.context_tokens - limit
        if budget < MIN_PROMPT_TOKENS:
            continue
        try:
            planned = _planned(settings, material, indexes, limit)
        except TooLong:
            continue
        if not any(prompt.shortened for prompt in planned.prompts):
            return planned
    return _planned(settings, material, indexes, limits[-1])


def _planned(settings: JudgeSettings, material: JudgeInput, steps: tuple[int, ...], limit: int) -> PromptPlan:
    budget, version = settings.context_tokens - limit, settings.prompt_version
    if in_both_orders(version):
        parts: tuple[tuple[int, ...], ...] = (steps, steps[::-1])
        prompts = tuple(build_decision(version, material, budget, part) for part in parts)
    else:
        parts = parts_of(steps, limit) or ((),)
        prompts = tuple(build(version, material, budget, steps=part) for part in parts)
    return PromptPlan(limit, budget, parts, prompts)


def expected(
    settings: JudgeSettings, material: JudgeInput, *, steps: Sequence[int] | None = None
) -> tuple[CostEstimate, bool]:
    """The expected effort of asking about a trajectory (or these of its `steps`), on the high side, and
    whether its prompts leave something out."""
    try:
        planned = plan(settings, material, steps=steps)
    except TooLong:
        return CostEstimate(too_long=1), False
    each = (
        estimate(prompt.estimated_tokens, len(part), settings.price, max_tokens=planned.limit)
        for prompt, part in zip(planned.prompts, planned.parts, strict=True)
    )
    return sum(each, CostEstimate()), any(prompt.clipped for prompt in planned.prompts)


def joined(steps: Sequence[int], answers: Sequence[ParsedAnswer]) -> ParsedAnswer:
    """One answer joined from several about `steps`: of a step the first label, of the outcome the last."""
    labels: dict[int, int | None] = dict.fromkeys(steps)
    reasons: dict[int, str] = {}
    outcome, outcome_reason = None, ""
    problems: list[Problem] = []
    for answer in answers:
        for index, label in answer.labels.items():
            if label is not None and labels.get(index, label) is None:
                labels[index] = label
                if index in answer.reasons:
                    reasons[index] = answer.reasons[index]
        if answer.outcome is not None:
            outcome, outcome_reason = answer.outcome, answer.outcome_reason
        problems += [problem for problem in answer.problems if problem not in problems]
    open_places = {f"steps.{index}" for index, label in labels.items() if label is None}
    open_places |= {"outcome"} if outcome is None else set()
    unread = (ProblemKind.INVALID, ProblemKind.CONTRADICTORY)
    invalid = {problem.where for problem in problems if problem.kind in unread} & (open_places - {"outcome"})
    problems = [it for it in problems if it.kind is not ProblemKind.MISSING or it.where in open_places]
    return ParsedAnswer(
        labels=labels,
        reasons=reasons,
        outcome=outcome,
        outcome_reason=outcome_reason,
        problems=tuple(problems[:MAX_PROBLEMS]),
        missing=len(open_places - {"outcome"}) - len(invalid),
        extra=sum(answer.extra for answer in answers),
        invalid=len(invalid),
        cut=bool(open_places) and any(answer.cut for answer in answers),
    )
