"""Ask a judge for wrong next actions of a question, and read its answer: a list of actions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from annotation.core.decisions.corrections import TypedCall
from annotation.core.decisions.distractors import KINDS, NextAct, Proposal, next_act
from annotation.core.i18n import translatable
from annotation.core.trajectories.tool_schema import read_tools

from .cost import ANSWER_TOKENS_PER_STEP, CostEstimate, estimate
from .judge_input import JudgeInput
from .lenient_json import MAX_ANSWER_CHARS, JsonObject, last_object
from .parsed_answer import ParsedAnswer, Problem, ProblemKind, Unusable, UnusableKind
from .prompt import Prompt, TooLong, strict, written
from .prompts import DISTRACTORS
from .settings import JudgeSettings
from .tokens import estimate_tokens
from .trajectory_text import question_blocks

SPARE: Final = 2
"""So many more actions are asked for than are needed: some will be refused."""
MOST_READ: Final = 64
"""Of a longer list the first are read."""
_ACTIONS: Final = "actions"

DISTRACTOR_SCHEMA: Final[dict[str, Any]] = strict(
    {
        _ACTIONS: {
            "type": "array",
            "items": strict(
                {
                    "kind": {"type": "string"},
                    "reasoning": {"type": "string"},
                    "text": {"type": "string"},
                    "calls": {
                        "type": "array",
                        "items": strict({"name": {"type": "string"}, "arguments": {"type": "string"}}),
                    },
                }
            ),
        }
    }
)
"""JSON Schema of an answer, strict in the sense of structured output."""


@dataclass(frozen=True, slots=True)
class Writing:
    """The task of writing distractors: `needed` of them, beside the options whose message indexes are `right`
    and all others of the question."""

    right: tuple[int, ...]
    needed: int


def build_distractors(material: JudgeInput, writing: Writing, budget_tokens: int) -> Prompt:
    """The prompt for wrong actions of a question, in at most `budget_tokens` tokens. Raises `TooLong`."""
    key = material.messages[writing.right[0]]
    act = next_act(key, read_tools(list(material.tools)))
    prompt = written(
        DISTRACTORS,
        question_blocks(material, writing.right),
        budget_tokens,
        (),
        count=str(writing.needed + SPARE),
        steps=", ".join(KINDS[act]),
    )
    return replace(prompt, schema=DISTRACTOR_SCHEMA, read=parse_distractors)


def expected_distractors(
    settings: JudgeSettings, material: JudgeInput, writing: Writing
) -> tuple[CostEstimate, bool]:
    """The expected effort of asking for distractors, on the high side, and whether the prompt leaves
    something out. An action is taken to be as long as the longest option."""
    limit = settings.answer_limit
    try:
        prompt = build_distractors(material, writing, settings.context_tokens - limit)
    except TooLong:
        return CostEstimate(too_long=1), False
    longest = max(estimate_tokens(json.dumps(material.messages[index])) for index in material.steps)
    each = -(-max(longest, ANSWER_TOKENS_PER_STEP) // ANSWER_TOKENS_PER_STEP)
    actions = each * (writing.needed + SPARE)
    return estimate(prompt.estimated_tokens, actions, settings.price, max_tokens=limit), bool(prompt.clipped)


def parse_distractors(answer_text: str, _steps: Sequence[int] = (), *, cut_off: bool = False) -> ParsedAnswer:
    """The actions in an answer, in `proposals`, None for one that cannot be read. Never raises.

    They stand in a list under `actions`, as asked for, or the list alone is the answer. Arguments may be an
    object or the text of one. Of an answer that was cut off, the last action is left out: it may lack a part.
    """
    if len(answer_text) > MAX_ANSWER_CHARS:
        size, limit = f"{len(answer_text):,}", f"{MAX_ANSWER_CHARS:,}"
        sentence = translatable(
            "The answer has {size} characters; one of more than {limit} is not read.", size=size, limit=limit
        )
        return _answer(unusable=Unusable(UnusableKind.TOO_LARGE, sentence))
    parsed = last_object(answer_text, (_ACTIONS,), cut_off=cut_off)
    if parsed.value is None and not parsed.cut:
        parsed = last_object(_as_object(answer_text), (_ACTIONS,), cut_off=cut_off)
    listed = None if parsed.value is None else parsed.value.get(_ACTIONS)
    listed = listed if isinstance(listed, list) else []
    if parsed.cut:
        listed = listed[:-1]
    if not listed:
        if parsed.cut or cut_off:
            sentence = translatable("The answer is cut off before its first action ends.")
            return _answer(unusable=Unusable(UnusableKind.TRUNCATED, sentence))
        sentence = translatable("The answer contains no list of actions.")
        kind = UnusableKind.NO_LABELS if parsed.any_json else UnusableKind.NOT_JSON
        return _answer(unusable=Unusable(kind, sentence))
    problems = []
    if parsed.lenient:
        problems.append(Problem(ProblemKind.NOTED, "answer", "read although it is not quite JSON"))
    if parsed.cut:
        problems.append(
            Problem(ProblemKind.NOTED, "answer", "cut off; the actions that were finished are read")
        )
    return _answer(
        proposals=tuple(map(_proposal, listed[:MOST_READ])), problems=tuple(problems), cut=parsed.cut
    )


def _answer(**values: Any) -> ParsedAnswer:
    nothing: dict[str, Any] = {
        "labels": {},
        "reasons": {},
        "outcome": None,
        "outcome_reason": "",
        "problems": (),
        "missing": 0,
        "extra": 0,
        "invalid": 0,
    }
    return ParsedAnswer(**{**nothing, **values})


def _as_object(text: str) -> str:
    """A text in which a list of objects stands, with the list under `actions`."""
    start, end = text.find("["), text.rfind("]")
    return f'{{"{_ACTIONS}": {text[start : end + 1]}}}' if 0 <= start < end else ""


def _proposal(entry: Any) -> Proposal | None:
    if not isinstance(entry, JsonObject) or entry.contradictory:
        return None
    text, reasoning, kind = (entry.get(name) or "" for name in ("text", "reasoning", "kind"))
    calls = entry.get("calls") or []
    if not (isinstance(text, str) and isinstance(reasoning, str) and isinstance(calls, list)):
        return None
    read = [_call(call) for call in calls]
    if None in read:
        return None
    kinds = {name for act in NextAct for name in KINDS[act]}
    return Proposal(
        text,
        tuple(call for call in read if call is not None),
        reasoning,
        kind if isinstance(kind, str) and kind in kinds else "",
    )


def _call(call: Any) -> TypedCall | None:
    if not isinstance(call, JsonObject) or call.contradictory or not isinstance(call.get("name"), str):
        return None
    arguments = call.get("arguments")
    if isinstance(arguments, Mapping):
        try:
            arguments = json.dumps(arguments, ensure_ascii=False)
        except (RecursionError, ValueError):
            return None
    return TypedCall(call["name"], arguments) if isinstance(arguments, str) else None
