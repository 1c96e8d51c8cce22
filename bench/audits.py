"""The topic `audits`: how often the certificate of labels holds, and how many draws it takes.

Labels are those of the published HotpotQA subset, four times over (1,000 trajectories), made wrong as the
published judges GPT-5.2 and DeepSeek-V3.2 are wrong: whole trajectories take their labels until so many
steps differ from the human ones. What is expected to be wrong comes from the two judges that made none of
them, calibrated by how often steps are wrong that neither, the one, the other or both of them label
otherwise. Where the data is not here, readers of bench/intervals.py stand in for all three. Audits draw with
seeds of their own and find every wrong step. Tables: docs/agreement.md, "How far labels can be wrong".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from annotation.core.audits.certificate import CONFIDENCE, Certificate, Draw, certificate, fixed_bound
from annotation.core.audits.drawing import chances, draw, heaviest
from annotation.core.figures.measure import FloatArray, IntArray
from bench.installations import Stock
from bench.intervals import Study
from bench.records import PUBLISHED
from bench.report import Limit, Report, Say, table
from tests.fixtures.published_labels import MODELS, predictions, released_labels

ERRORS: Final = (0.005, 0.01, 0.03)
DRAWS: Final = (50, 200, 500)
AUDITS, QUICK_AUDITS = 1_000, 4
A_POPULATION: Final = 20
"""So many audits are of the same wrong labels."""
COPIES: Final = 4
TASKS: Final = 50
LOST: Final = 0.4
LOOKS: Final = 25
"""Draws between two looks."""
MOST_DRAWS: Final = 3_000
WISHED: Final = 0.01
COVERED: Final = 0.94
HALF_AUDITED: Final = 0.6
"""In %."""
SEEDS: Final = range(1, 21)
"""Of the audits without a difference."""


@dataclass(frozen=True, slots=True)
class Material:
    """The steps of labelled trajectories: which `record` they are of, their `truth`, and what three judges
    say of them (3, steps)."""

    record: IntArray
    truth: npt.NDArray[np.int64]
    said: npt.NDArray[np.int64]

    @classmethod
    def here(cls) -> Material:
        """The published labels and predictions, or simulated ones where there are none."""
        if PUBLISHED.is_file():
            folder = PUBLISHED.parents[1]
            released = released_labels(folder)
            labels = np.stack([predictions(folder, model).steps for model in MODELS])
            return cls(released.record, released.value.astype(np.int64), labels.astype(np.int64))
        rng = np.random.default_rng(TASKS)
        study = Study.drawn(rng, 1, TASKS)
        record, _position = np.nonzero(study.inside)
        said = np.stack([study.read(rng)[study.inside] for _ in MODELS])
        return cls(record, study.truth[study.inside], said)


@dataclass(frozen=True, slots=True)
class Population:
    """Trajectories with labels of which some are wrong: `steps`, `wrong` ones among them, and how many judges
    expect to be wrong, by trajectory."""

    steps: IntArray
    wrong: IntArray
    expected: FloatArray

    @classmethod
    def drawn(cls, rng: np.random.Generator, material: Material, error: float) -> Population:
        """Labels of which this share is wrong."""
        truth, record = material.truth, material.record
        labels = np.tile(truth, (COPIES, 1))
        left = round(error * labels.size)
        trajectories = int(record.max()) + 1
        for one in rng.permutation(COPIES * trajectories):
            copy, trajectory = divmod(int(one), trajectories)
            judge = material.said[copy % 2]
            differs = np.flatnonzero((record == trajectory) & (judge != truth))[:left]
            labels[copy, differs] = judge[differs]
            left -= len(differs)
            if not left:
                break
        wrong = labels != truth
        others = [material.said[[1 - copy % 2, 2]] for copy in range(COPIES)]
        doubt = np.stack(
            [2 * (one != row) + (other != row) for (one, other), row in zip(others, labels, strict=True)]
        )
        rate = np.bincount(doubt.ravel(), wrong.ravel(), 4) / np.maximum(
            1, np.bincount(doubt.ravel(), minlength=4)
        )
        return cls(
            np.tile(np.bincount(record), COPIES),
            np.concatenate([np.bincount(record, row, trajectories) for row in wrong]).astype(np.int64),
            np.concatenate([np.bincount(record, rate[row], trajectories) for row in doubt]),
        )

    @property
    def error(self) -> float:
        """The share of wrong steps."""
        return float(self.wrong.sum() / self.steps.sum())


@dataclass(frozen=True, slots=True)
class Audit:
    """The chances and the draws of one audit of a population."""

    population: Population
    chances: dict[int, float]
    heaviest: float
    drawn: Sequence[int]

    @classmethod
    def of(cls, population: Population, mixed: bool, number: int, seed: int) -> Audit:
        """So many draws by a seed."""
        steps = dict(enumerate(population.steps.tolist()))
        expected = dict(enumerate(population.expected.tolist())) if mixed else None
        by_trajectory = chances(steps, expected)
        drawn = draw(seed, by_trajectory, number)
        return cls(population, by_trajectory, heaviest(steps, by_trajectory), drawn)

    def certificate(self, number: int | None = None, lost: frozenset[int] = frozenset()) -> Certificate:
        """After so many of its draws; the audits of `lost` trajectories have not come back."""
        of = self.population
        drawn = self.drawn[:number]
        back = list(set(drawn) - lost)
        draws = [
            Draw(one, "", self.chances[one], int(of.steps[one]), None if one in lost else int(of.wrong[one]))
            for one in drawn
        ]
        return certificate(
            draws,
            steps=int(of.steps.sum()),
            corrected=int(of.wrong[back].sum()),
            audited_steps=int(of.steps[back].sum()),
            heaviest=self.heaviest,
        )

    def lost(self) -> frozenset[int]:
        """Two fifths of its trajectories, those with the most wrong steps first."""
        trajectories = sorted(set(self.drawn), key=lambda one: -int(self.population.wrong[one]))
        return frozenset(trajectories[: int(LOST * len(trajectories))])

    def least_fixed(self, kept: Sequence[int], looks: int) -> float:
        """The least bound of a fixed number of draws, when one looks after each `looks` of those kept."""
        of, steps = self.population, int(self.population.steps.sum())
        z = np.array([of.wrong[one] / (steps * self.chances[one]) / self.heaviest for one in kept])
        ends = range(looks, len(z) + 1, looks)
        return min((self.heaviest * fixed_bound(z[:end], 1 - CONFIDENCE) for end in ends), default=1.0)

    def draws_until(self, most: float) -> int:
        """The draws after which it is proved that no more is wrong after correction: what is proved never
        rises as draws come."""
        low, high = 1, len(self.drawn)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.certificate(middle).proves(most) else (middle + 1, high)
        return low


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Simulate, print, compare with what is promised. No database takes part."""
    material, audits = Material.here(), QUICK_AUDITS if quick else AUDITS
    _coverage(material, audits, report, say)
    _draws(material, max(2, audits // 10), report, say)
    _without_a_difference(material, report)


def _coverage(material: Material, audits: int, report: Report, say: Say) -> None:
    rows, held, lossy = [], [], []
    for mixed in (False, True):
        for error in ERRORS:
            for number in DRAWS:
                found = covered(material, mixed, error, number, audits)
                report.line("audits", mixed=mixed, error=error, draws=number, **found)
                held.append(found["held"])
                lossy.append(found["lossy"])
                rows.append(
                    (
                        f"{_how(mixed)}, {error:.1%} wrong, {number} draws",
                        *(f"{found[name]:.1%}" for name in ("held", "fixed", "looked", "lossy", "ignored")),
                        *(f"{found[name]:.2%}" for name in ("bound", "fixed_bound", "after", "left")),
                    )
                )
            say(f"audits: {_how(mixed)}, {error:.1%} wrong, simulated")
    heads = ("holds", "fixed n", "looked at", "40 % lost", "ignored", "bound", "fixed n", "after", "left")
    table(f"95 % bounds of {audits} audits", ("", *heads), rows)
    report.limit(Limit("certificates that hold, at least", min(held), COVERED, at_least=True))
    report.limit(Limit("the same with 40 % lost, the worst ones", min(lossy), CONFIDENCE, at_least=True))


def covered(material: Material, mixed: bool, error: float, number: int, audits: int) -> dict[str, float]:
    """Shares of audits whose bound holds: at every look at once; of a fixed number of draws, at its end, and
    when one looks at it; with losses counted as wrong, and ignored. Then means: of both bounds, of the bound
    after correction and of what is left wrong then."""
    rng = np.random.default_rng([mixed, round(error * 1_000), number])
    sums = dict.fromkeys(
        ("held", "fixed", "looked", "lossy", "ignored", "bound", "fixed_bound", "after", "left"), 0.0
    )
    for turn in range(audits):
        if turn % A_POPULATION == 0:
            population = Population.drawn(rng, material, error)
            true = population.error - 1e-12
        audit = Audit.of(population, mixed, number, int(rng.integers(2**62)))
        lost = audit.lost()
        kept = [one for one in audit.drawn if one not in lost]
        found, missing = audit.certificate(), audit.certificate(lost=lost)
        left = population.error - int(population.wrong[list(set(audit.drawn))].sum()) / population.steps.sum()
        sums["held"] += found.bound >= true and found.after >= left - 1e-12
        sums["fixed"] += found.fixed >= true
        sums["looked"] += audit.least_fixed(audit.drawn, LOOKS) >= true
        sums["lossy"] += missing.bound >= true
        sums["ignored"] += audit.least_fixed(kept, len(kept)) >= true
        sums["bound"] += found.bound
        sums["fixed_bound"] += found.fixed
        sums["after"] += found.after
        sums["left"] += left
    return {name: float(total) / audits for name, total in sums.items()}


def _draws(material: Material, audits: int, report: Report, say: Say) -> None:
    rows = []
    for mixed in (False, True):
        for error in (0.0, 0.001, 0.003, 0.005):
            needed = draws_until(material, mixed, error, audits)
            half, most = (float(np.quantile(needed, share)) for share in (0.5, 0.8))
            report.line("audits until proved", mixed=mixed, error=error, half=half, most=most)
            rows.append((f"{_how(mixed)}, {error:.1%} wrong", f"{half:.0f}", f"{most:.0f}"))
    say("audits: draws until a proof simulated")
    table(f"Draws until at most {WISHED:.0%} is proved, corrected", ("", "half", "four of five"), rows)


def draws_until(material: Material, mixed: bool, error: float, audits: int) -> list[int]:
    """The draws of audits until they prove the wished bound."""
    rng = np.random.default_rng([mixed, round(error * 1_000)])
    needed = []
    for _ in range(audits):
        population = Population.drawn(rng, material, error)
        audit = Audit.of(population, mixed, MOST_DRAWS, int(rng.integers(2**62)))
        needed.append(audit.draws_until(WISHED))
    return needed


def _without_a_difference(material: Material, report: Report) -> None:
    rows = []
    for mixed in (False, True):
        halves, whole = zip(*(without_a_difference(material, mixed, seed) for seed in SEEDS), strict=True)
        rows.append((_how(mixed), f"{np.mean(halves):.2%}", f"{max(halves):.2%}", f"{max(whole):.2%}"))
        report.line("audits without a difference", mixed=mixed, half=halves, whole=whole)
        what = f"% wrong at most, {{}} the steps audited {_how(mixed)}"
        report.limit(Limit(what.format("all"), 100 * max(whole), 0.0))
        report.limit(Limit(what.format("half"), 100 * float(np.mean(halves)), HALF_AUDITED))
    table("Bounds without a difference, of the steps audited", ("", "half", "the widest", "all"), rows)


def without_a_difference(material: Material, mixed: bool, seed: int) -> tuple[float, float]:
    """The bounds once half the steps are audited and once all are, and nothing differed. Judges expect what
    they do of labels of which 1 % is wrong."""
    expected = Population.drawn(np.random.default_rng(seed), material, 0.01)
    right = Population(expected.steps, np.zeros_like(expected.wrong), expected.expected)
    audit = Audit.of(right, mixed, 10 * len(right.steps), seed)
    seen, audited, number = set[int](), 0, 0
    for one in audit.drawn:
        number += 1
        audited += 0 if one in seen else int(right.steps[one])
        seen.add(one)
        if 2 * audited >= right.steps.sum():
            break
    every = Audit(right, audit.chances, audit.heaviest, range(len(right.steps)))
    return audit.certificate(number).after, every.certificate().after


def _how(mixed: bool) -> str:
    return "by steps and judges" if mixed else "by steps"
