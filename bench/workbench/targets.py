"""Choose the labels to replay: the published human ones or synthetic ones, and which proposals are wrong."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotation.core.propagation import Rules
from bench import records
from bench.workbench.plan import Case

SEED = 20_260_314
BLOCK = 20  # of so many proposals in a row, one is wrong: 5 %

# Made labels: how often a value follows a value (None: the first step), about as in the published labels.
FOLLOWS: dict[int | None, tuple[float, float, float]] = {
    None: (0.72, 0.10, 0.18),
    1: (0.78, 0.06, 0.16),
    0: (0.45, 0.30, 0.25),
    -1: (0.28, 0.08, 0.64),
}
VALUES = (1, 0, -1)


@dataclass(frozen=True)
class Target:
    """One trajectory's judgement: its record, its steps' message indexes and values, its outcome."""

    record_id: str
    indexes: tuple[int, ...]
    values: tuple[int, ...]
    outcome: int

    def case(self, rules: Rules) -> Case:
        """For the planner. HotpotQA has no user turns between steps."""
        return Case(self.indexes, self.values, rules)

    @property
    def odd(self) -> bool:
        """Whether the page asks once whether the outcome is meant."""
        success_ends_badly = self.outcome == 1 and self.values[-1] == -1
        return success_ends_badly or (self.outcome == -1 and -1 not in self.values)


def identity(record: dict[str, Any]) -> str:
    """The record's id, as every page shows it."""
    return f"{record['data_source']}:{record['query_index']}:{record['sample_index']}"


def load(how_many: int) -> tuple[list[dict[str, Any]], list[Target], str]:
    """At most so many records, their judgements, and whose these are."""
    if records.PUBLISHED.is_file():
        with records.PUBLISHED.open("rb") as file:
            found = [json.loads(line) for line in file][:how_many]
        return found, [_target(one) for one in found], "human labels of the published HotpotQA subset"
    found = list(records.records(how_many))
    whose = "made labels of made records: the published HotpotQA subset is not here"
    return found, made(found), whose


def _target(record: dict[str, Any]) -> Target:
    labels = sorted((int(index), value) for index, value in record["step_labels"].items())
    indexes, values = zip(*labels, strict=True)
    return Target(identity(record), indexes, values, record["final_label"])


def made(found: Iterable[dict[str, Any]]) -> list[Target]:
    """Judgements for made records, the same every time."""
    rng = random.Random(SEED)
    targets = []
    for record in found:
        plain = _target(record)
        values: list[int] = []
        for _ in plain.indexes:
            values += rng.choices(VALUES, FOLLOWS[values[-1] if values else None])
        outcome = values[-1] if values[-1] else rng.choice((1, -1))
        targets.append(replace(plain, values=tuple(values), outcome=outcome))
    return targets


def seeded(targets: Sequence[Target], rules: Rules) -> tuple[list[Target], dict[str, frozenset[int]]]:
    """Judgements under which one proposal of twenty is wrong, and the positions of those, by record.

    Of every twenty proposals that the rule makes in turn, chance picks one: its step gets another value, its
    own human label if that differs. Every other proposed step gets the value that is proposed; steps without
    a proposal keep their label.
    """
    rng = random.Random(SEED)
    number, wrong_one = 0, rng.randrange(BLOCK)
    changed, wrong = [], {}
    for target in targets:
        values, positions = list(target.values), set()
        for position, human in enumerate(target.values):
            case = replace(target, values=tuple(values)).case(rules)
            proposal = case.proposals(position)[position]
            if proposal is None:
                continue
            values[position] = proposal.value
            if number % BLOCK == wrong_one:
                others = [value for value in VALUES if value != proposal.value]
                values[position] = human if human in others else rng.choice(others)
                positions.add(position)
            number += 1
            if number % BLOCK == 0:
                wrong_one = rng.randrange(BLOCK)
        changed.append(replace(target, values=tuple(values)))
        wrong[target.record_id] = frozenset(positions)
    return changed, wrong


def write(path: Path, found: Iterable[dict[str, Any]]) -> None:
    """Records as JSON Lines."""
    with path.open("wb") as file:
        for record in found:
            file.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
