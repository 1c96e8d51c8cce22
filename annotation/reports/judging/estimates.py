"""Estimate tokens and cost of a run before it starts, without calling the judge."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

from annotation.core.judging import CostEstimate, JudgeInput
from annotation.core.judging.distractors import expected_distractors
from annotation.core.judging.kinds import KINDS
from annotation.core.judging.prompt_parts import expected
from annotation.core.seed import SEED
from annotation.models import Guideline, Judge, TrajectoryContent
from annotation.policies import Actor, require

from .run_selection import ALL, RunSelection, given_labels, incomplete, pending_trajectories
from .short_questions import short_questions, writing_of

SAMPLE: Final = 200
LOADED_AT_ONCE: Final = 20
_CENTS: Final = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """The estimate of a run. Made of a sample of `sampled` trajectories and scaled up, unless `exact`.

    `clipped`: trajectories of which the judge would see a part left out; `too_long`: those that do not fit
    its window at all, and will fail. `cost` in US dollars; hidden reasoning of a model comes on top.
    """

    trajectories: int
    sampled: int
    tokens_in: int
    tokens_out: int
    cost: Decimal
    clipped: int
    too_long: int

    @property
    def exact(self) -> bool:
        """Was every trajectory looked at?"""
        return self.sampled == self.trajectories

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; the cost as a string."""
        return {
            "trajectories": self.trajectories,
            "sampled": self.sampled,
            "exact": self.exact,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": str(self.cost),
            "clipped": self.clipped,
            "too_long": self.too_long,
        }


def estimate(
    *,
    viewer: Actor,
    judge: Judge,
    selection: RunSelection = ALL,
    options: int | None = None,
    at_most: int | None = SAMPLE,
) -> RunEstimate:
    """Tokens and cost of a run, from the prompts it would send: of all, or of `at_most` picked by chance
    (seeded: the same selection has the same estimate). One trajectory is in memory at a time. With `options`
    of a run that asks for distractors, until each question has so many.

    Raises Invalid for an unknown selection, Denied.
    """
    require(viewer, "suggest", judge)
    if options is not None:
        questions = short_questions(judge, selection, options)
        sample = _sampled(questions, at_most)
        return _summed(len(questions), len(sample), _of_questions(judge, sample, options))
    wanted = list(pending_trajectories(judge, selection).values_list("pk", flat=True))
    return estimate_for(judge, wanted, at_most=at_most)


def estimate_for(judge: Judge, trajectories: Sequence[int], *, at_most: int | None = SAMPLE) -> RunEstimate:
    """The same of some `trajectories`, by their pks. The judge need not be stored (then its pk is None)."""
    if not KINDS[judge.kind].prompted:
        # nothing is sent
        n = len(trajectories)
        return RunEstimate(n, n, tokens_in=0, tokens_out=0, cost=Decimal(0), clipped=0, too_long=0)
    sample = _sampled(trajectories, at_most)
    newest = Guideline.objects.filter(project=judge.project_id).order_by("-version").first()
    guidelines = newest.text if newest is not None else ""

    def each() -> Iterator[tuple[CostEstimate, bool]]:
        for content, given in _contents(judge, sample):
            material = JudgeInput.of(content, guidelines=guidelines, with_reference=judge.with_reference)
            yield expected(judge.settings, material, steps=material.open_steps(given))

    return _summed(len(trajectories), len(sample), each())


def _sampled(trajectories: Sequence[int], at_most: int | None) -> Sequence[int]:
    if at_most is None or len(trajectories) <= at_most:
        return trajectories
    return sorted(random.Random(SEED).sample(list(trajectories), at_most))


def _summed(trajectories: int, sampled: int, each: Iterable[tuple[CostEstimate, bool]]) -> RunEstimate:
    """The estimate of a run, scaled up from those of a sample."""
    total, clipped = CostEstimate(), 0
    for one, short in each:
        total += one
        clipped += short
    factor = Decimal(trajectories) / sampled if sampled else Decimal(0)
    return RunEstimate(
        trajectories=trajectories,
        sampled=sampled,
        tokens_in=round(total.tokens_in * factor),
        tokens_out=round(total.tokens_out * factor),
        cost=(total.cost * factor).quantize(_CENTS, ROUND_HALF_UP),
        clipped=round(clipped * factor),
        too_long=round(total.too_long * factor),
    )


def _of_questions(
    judge: Judge, trajectories: Sequence[int], options: int
) -> Iterator[tuple[CostEstimate, bool]]:
    for start in range(0, len(trajectories), LOADED_AT_ONCE):
        part = trajectories[start : start + LOADED_AT_ONCE]
        rows = TrajectoryContent.objects.filter(trajectory__in=part)
        for row in rows.only("trajectory", "content", "source_labels"):
            material = JudgeInput.of(row.parsed())
            if (writing := writing_of(material, row.labels_of_source(), options)) is not None:
                yield expected_distractors(judge.settings, material, writing)


def _contents(
    judge: Judge, trajectories: Sequence[int]
) -> Iterator[tuple[dict[str, Any], Mapping[int, int]]]:
    """The contents of trajectories, each with the labels that the judge has given to its steps already."""
    begun = frozenset() if judge.pk is None else incomplete(judge)
    for start in range(0, len(trajectories), LOADED_AT_ONCE):
        part = trajectories[start : start + LOADED_AT_ONCE]
        given = given_labels(judge, sorted(begun.intersection(part))) if begun.intersection(part) else {}
        for row in TrajectoryContent.objects.filter(trajectory__in=part).only("trajectory", "content"):
            yield row.parsed(), given.get(row.trajectory_id, {})
