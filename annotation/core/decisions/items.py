"""The items that models are scored on: the fit decisions of a release, their pairs, and what shows in each
option."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..releases.exports.formats.pairs import better_and_worse
from ..releases.exports.split import task_of
from ..trajectories.messages import Message, normalise
from .answers import Answer

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ScoredOption:
    """What shows in an option without reading it: how many calls it makes, its characters, and the policy
    models that did it (none of one that people or judges wrote)."""

    calls: int
    characters: int
    policy_models: frozenset[str]


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """A decision that is fit for use. `pairs` are message indexes, (better, worse) by the consensus."""

    subset: str
    record_id: str
    task: str
    category: str
    pairs: tuple[tuple[int, int], ...]
    options: Mapping[int, ScoredOption]


def scored_items(records: Iterable[Record]) -> Iterator[ScoredItem]:
    """The items of a release: its fit decisions in which some option is better than another."""
    for record in records:
        pairs = better_and_worse(record)
        if pairs:
            details = record.get("decision") or {}
            origins = details.get("options") or {}
            messages = normalise(record["messages"])
            yield ScoredItem(
                subset=record["subset"],
                record_id=record["record_id"],
                task=task_of(record),
                category=details.get("category") or "",
                pairs=tuple(pairs),
                options={
                    index: _option(messages[index], (origins.get(str(index)) or {}).get("steps", ()))
                    for index in map(int, record["step_labels"])
                },
            )


def _option(message: Message, steps: Iterable[Mapping[str, Any]]) -> ScoredOption:
    # what is written as a call into the text was not made
    calls = sum(call.origin == "tool_calls" for call in message.tool_calls)
    written = sum(len(call.name) + len(call.arguments_raw) for call in message.tool_calls)
    models = frozenset(step["policy_model"] for step in steps if step["policy_model"])
    return ScoredOption(calls, len(message.content) + written, models)


def shallow_cues(items: Iterable[ScoredItem]) -> dict[str, dict[tuple[str, str], Answer]]:
    """What choosing by what merely shows would answer, by the name of the cue: an option that makes a call
    (`makes_call`), that is longer (`longer`), that is of a policy model (`policy_model:NAME`, of each that
    occurs)."""
    items = list(items)
    models = {model for item in items for option in item.options.values() for model in option.policy_models}
    cues = {
        "makes_call": lambda option: float(option.calls > 0),
        "longer": lambda option: float(option.characters),
    } | {
        f"policy_model:{model}": lambda option, model=model: float(model in option.policy_models)
        for model in sorted(models)
    }
    return {
        name: {
            (item.subset, item.record_id): Answer(
                values={at: cue(option) for at, option in item.options.items()}
            )
            for item in items
        }
        for name, cue in cues.items()
    }
