"""The prompt of a judge: the words of a version (`prompts`) and a trajectory, made to fit a budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from annotation.core.errors import TristepError
from annotation.core.i18n import translatable
from annotation.core.vocabulary import VALUES

from .clipping import clip_middle, water_level
from .judge_input import JudgeInput
from .parsed_answer import ParsedAnswer
from .parsing import parse, parse_actions
from .prompts import tells_errors, template
from .tokens import UNITS_PER_TOKEN, tokens_of, units
from .trajectory_text import Block, blocks_of, decision_blocks, mark_for, sendable

MIN_OUTPUT_TOKENS: Final = 60
"""A tool output is never shortened to less than this: then the trajectory is too long."""

_PLACE: Final = re.compile(r"{{(guidelines|mark|record|earlier|steps|count)}}")

# One schema for every trajectory, which servers compile once. It cannot say that each index occurs once.
_VERDICT: Final[dict[str, Any]] = {
    "reasoning": {"type": "string"},
    "label": {"type": "integer", "enum": list(VALUES)},
    "reason": {"type": "string"},
}


def strict(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these properties, as structured output wants it."""
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


ANSWER_SCHEMA: Final[dict[str, Any]] = strict(
    {
        "steps": {"type": "array", "items": strict({"index": {"type": "integer"}, **_VERDICT})},
        "outcome": strict(_VERDICT),
    }
)
"""JSON Schema of an answer, strict in the sense of structured output: every key required, no others."""


DECISION_SCHEMA: Final[dict[str, Any]] = strict(
    {
        "actions": {
            "type": "array",
            "items": strict(
                {"index": {"type": "integer"}, "reasoning": _VERDICT["reasoning"], "label": _VERDICT["label"]}
            ),
        }
    }
)
"""The same of an answer about a decision."""


class TooLong(TristepError):
    """The trajectory does not fit the budget, even with every tool output cut short. `details`: its least
    number of tokens, and the budget."""

    default_code = "too_long"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as it is sent.

    `clipped`: one sentence for each thing that was shortened or left out. `step_indexes`: what the answer
    must label. `shortened`: tool outputs were. `estimated_tokens` is on the high side (see `tokens`), and at
    most the budget.
    """

    version: str
    system: str
    user: str
    clipped: tuple[str, ...]
    estimated_tokens: int
    step_indexes: tuple[int, ...]
    shortened: bool = False
    schema: Mapping[str, Any] = field(default_factory=lambda: ANSWER_SCHEMA)
    """The JSON schema of its answer."""
    read: Callable[..., ParsedAnswer] = parse
    """Reads its answer: text, `step_indexes` and whether it was `cut_off`."""


def build(
    prompt_version: str,
    material: JudgeInput,
    budget_tokens: int,
    *,
    steps: Sequence[int] | None = None,
    earlier: Mapping[int, int] | None = None,
) -> Prompt:
    """The prompt of `prompt_version` for one trajectory, in at most `budget_tokens` tokens.

    `steps`: those to be labelled, when not all are (`windows`); the whole trajectory is written out all the
    same. `earlier`: the labels that the judge has given to others before. Only tool outputs are shortened,
    in their middle and with a note, the longest first and all to the same length. Same input, same prompt.
    Raises `TooLong`, and `Invalid` for an unknown version.
    """
    blocks, notes = blocks_of(material, tell_errors=tells_errors(prompt_version))
    indexes = material.steps if steps is None else tuple(steps)
    return written(
        prompt_version,
        (blocks, notes),
        budget_tokens,
        indexes,
        guidelines=_guidelines(material.guidelines),
        earlier="" if indexes == material.steps else _earlier(earlier or {}),
        steps=", ".join(map(str, indexes)),
    )


def build_decision(
    prompt_version: str, material: JudgeInput, budget_tokens: int, order: Sequence[int]
) -> Prompt:
    """The prompt of `prompt_version`, one of those for decisions, with the options in this order.

    `order` are the message indexes of all options; they are called action 1, 2 …, and the answer is read by
    `parse_actions`. Raises as `build` does.
    """
    made = written(
        prompt_version,
        decision_blocks(material, order),
        budget_tokens,
        tuple(order),
        guidelines=_guidelines(material.guidelines),
        earlier="",
        steps=", ".join(str(number) for number, _ in enumerate(order, 1)),
    )
    return replace(made, schema=DECISION_SCHEMA, read=parse_actions)


def written(
    prompt_version: str,
    record: tuple[list[Block], list[str]],
    budget_tokens: int,
    indexes: tuple[int, ...],
    **values: str,
) -> Prompt:
    """The prompt with this record, its tool outputs shortened to what the budget leaves; `values` are those
    of the other places of its template. Raises `TooLong`."""
    system, user = template(prompt_version)
    blocks, notes = record
    mark = mark_for(blocks)
    values["mark"] = mark
    frame = system + _filled(user, record="", **values)
    fixed = units(frame) + sum(_fixed(block, mark) for block in blocks)
    bodies = _bodies(blocks, fixed, budget_tokens, notes)
    filled = list(zip(blocks, bodies, strict=True))
    outputs = sum(units(body) for block, body in filled if block.clippable)
    return Prompt(
        version=prompt_version,
        system=system,
        user=_filled(user, record="".join(block.written(mark, body) for block, body in filled), **values),
        clipped=tuple(notes),
        estimated_tokens=tokens_of(fixed + outputs),
        step_indexes=indexes,
        shortened=any(body != block.body for block, body in filled),
    )


def _guidelines(text: str) -> str:
    """The project's guidelines stand outside the record: its admins wrote them."""
    text = sendable(text.strip())[0]
    return f"The guidelines of this project bind you as its judge:\n\n{text}\n\n" if text else ""


def _earlier(labels: Mapping[int, int]) -> str:
    """A note that only a part of the steps is asked about, with the labels of the others."""
    text = "These are not all steps of the run: label the listed ones, and the outcome of the whole run.\n"
    if labels:
        earlier_labels = ", ".join(f"{index}: {label}" for index, label in sorted(labels.items()))
        text += f"The labels that you have given to other steps before stand: {earlier_labels}.\n"
    return f"{text}\n"


def _fixed(block: Block, mark: str) -> int:
    return units(block.written(mark, "" if block.clippable else block.body))


def _bodies(blocks: Sequence[Block], fixed: int, budget_tokens: int, notes: list[str]) -> list[str]:
    """The blocks' texts, those of tool outputs together in what `fixed` units leave of the budget."""
    room = budget_tokens * UNITS_PER_TOKEN - fixed
    sizes = [units(block.body) for block in blocks if block.clippable]
    level = water_level(sizes, room)
    least = MIN_OUTPUT_TOKENS * UNITS_PER_TOKEN
    if room < 0 or (level is not None and level < min(least, max(sizes))):
        needed = tokens_of(fixed + sum(min(size, least) for size in sizes))
        raise TooLong(
            translatable(
                "The trajectory is too long for the judge: with its tool outputs cut short it still needs "
                "{needed} tokens, and the budget is {budget}.",
                needed=f"{needed:,}",
                budget=f"{budget_tokens:,}",
            ),
            details={"needed_tokens": needed, "budget_tokens": budget_tokens},
        )
    if level is None:
        return [block.body for block in blocks]
    bodies = []
    for block in blocks:
        clip = clip_middle(block.body, level) if block.clippable else None
        if clip and clip.left_out:
            of = f"{clip.left_out:,} of {len(block.body):,} characters"
            notes.append(f"Message {block.index}: {of} were left out.")
        bodies.append(clip.text if clip else block.body)
    return bodies


def _filled(user: str, **values: str) -> str:
    """The template with its places filled in one pass: what stands in a value is never filled in again."""
    return _PLACE.sub(lambda place: values[place.group(1)], user)
