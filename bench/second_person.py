"""The topic `second_person`: what a judge as the second reader saves, and how often labels are wrong then.

Projects of 1,000 trajectories are simulated: the published HotpotQA labels four times over, what three models
published of them as the judges, and two people who err on a known share of labels, either anywhere or three
times as often where two judges err too. Who differs is decided rightly. The first trajectories are labelled
by two people, the others as `core.scoring.second_person` says (docs/agreement.md, "One person beside judges",
has the table). An audit of 300 draws then proves what it can. Without the published labels they are made.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np

from annotation.core.audits import drawing
from annotation.core.audits.certificate import Draw, certificate
from annotation.core.figures.measure import FloatArray, IntArray
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring import second_person as core
from annotation.core.scoring.labels import BoolArray, Labels
from annotation.core.scoring.stack import JudgeLabels, stack
from bench.installations import Stock
from bench.intervals import Study
from bench.records import PUBLISHED
from bench.report import Limit, Report, Say, table
from tests.fixtures.published_labels import MODELS, predictions, released_labels

PROJECTS, QUICK_PROJECTS = 10, 1
COPIES: Final = 4
REFITTED_COPIES: Final = 8
"""A project of 1,000 has fewer than 200 trajectories to make the second rule from."""
ERRORS: Final = (0.028, 0.056)
"""The share of labels on which a person errs: 5.6 % is what an agreement of 89.1 % makes of two."""
HARDER: Final = (1, 3)
DRAWS: Final = 300
MOST_LABELS, MOST_WRONG = 1.7, 0.5
UNTIL, AFTER = "100, until 200", "200, after 100"


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one project, or of a part of it, after its first trajectories: labels a trajectory
    (`by_doubt`: without the tenth that chance gives to two people), shares of wrong steps and outcomes, the
    steps' of `two` people everywhere, and what the audit of the whole project proves."""

    labels: float
    by_doubt: float
    wrong: float
    outcomes: float
    two: float
    proved: float


def run(stock: Stock, folder: Path, quick: bool, report: Report, say: Say) -> None:
    """Simulate, print, compare with what is promised. No database takes part."""
    known, judges = material(COPIES)
    more, judges_of_more = material(REFITTED_COPIES)
    seeds = range(QUICK_PROJECTS if quick else PROJECTS)
    rows = []
    for error, harder in product(ERRORS, HARDER):
        found: dict[str, list[Found]] = defaultdict(list)
        for seed in seeds:
            for first in core.FITTED_AT:
                found[f"{first}"].append(project(known, judges, first, error, harder, seed))
            until, after = refitted(more, judges_of_more, error, harder, seed)
            found[UNTIL].append(until)
            found[AFTER].append(after)
        rows += [_row(report, what, error, harder, each) for what, each in found.items()]
        say(f"second_person: people err on {error:.1%} × {harder} simulated")
    table(
        "One person beside judges",
        (
            *("first", "people err", "where judges err", "labels a trajectory", "by doubt alone"),
            *("wrong steps", "wrong outcomes", "of two people", "proved"),
        ),
        rows,
    )


def _row(report: Report, first: str, error: float, harder: int, each: list[Found]) -> tuple[str, ...]:
    mean = {name: float(np.mean([getattr(one, name) for one in each])) for name in Found.__slots__}
    what = f"{first} first, people err on {error:.1%} × {harder}"
    report.line("second_person", first=first, error=error, harder=harder, **mean)
    report.limit(Limit(f"labels a trajectory, {what}", mean["labels"], MOST_LABELS))
    report.limit(Limit(f"percent of wrong steps, {what}", 100 * mean["wrong"], MOST_WRONG))
    shares = (f"{mean[name]:.2%}" for name in ("wrong", "outcomes", "two", "proved"))
    where = "three times" if harder > 1 else "as often"
    return (first, f"{error:.1%}", where, f"{mean['labels']:.2f}", f"{mean['by_doubt']:.2f}", *shares)


def material(copies: int) -> tuple[ReleasedLabels, list[JudgeLabels]]:
    """True labels and judges, so many times over: the published ones, else made ones of that shape."""
    if PUBLISHED.is_file():
        folder = PUBLISHED.parents[1]
        known, said = released_labels(folder), [predictions(folder, model) for model in MODELS]
    else:
        rng = np.random.default_rng(1)
        study = Study.drawn(rng, 1, 50)
        record, _position = np.nonzero(study.inside)
        known = ReleasedLabels.of_steps(
            study.subset[record], study.task[record], record, study.truth[study.inside]
        )
        last = known.starts()[1:] - 1
        known = replace(known, outcome=known.value[last])
        read = [study.read(rng)[study.inside] for _ in MODELS]
        said = [Predictions.constant(steps, steps[last]) for steps in read]
    return _copied(known, copies), [JudgeLabels(reduce(Predictions.joined, [one] * copies)) for one in said]


def _copied(known: ReleasedLabels, copies: int) -> ReleasedLabels:
    """The same tasks several times over."""
    record = np.concatenate([known.record + turn * known.n_records for turn in range(copies)])
    subset, task = (np.tile(of[known.record], copies) for of in (known.subset, known.task))
    found = ReleasedLabels.of_steps(subset, task, record, np.tile(known.value, copies))
    return replace(found, outcome=np.tile(known.outcome, copies))


@dataclass(frozen=True, slots=True)
class Labelled:
    """A project with what both people say of it: `one` alone, or both as they were resolved; the `order` of
    its trajectories with complete judges (`complete`), and those that chance gives to two people."""

    known: ReleasedLabels
    judges: list[JudgeLabels]
    people: tuple[Predictions, Predictions]
    resolved: ReleasedLabels
    complete: BoolArray
    order: IntArray
    chance: BoolArray
    seed: int

    @classmethod
    def drawn(
        cls,
        rng: np.random.Generator,
        known: ReleasedLabels,
        judges: list[JudgeLabels],
        error: float,
        harder: int,
        seed: int,
    ) -> Labelled:
        """By chance."""
        step_chance = error * _weight([one.predicted.steps for one in judges], known.value, harder)
        outcome_chance = error * _weight([one.predicted.outcome for one in judges], known.outcome, harder)
        one, other = (
            Predictions.constant(
                _erring(rng, known.value, step_chance), _erring(rng, known.outcome, outcome_chance)
            )
            for _ in range(2)
        )
        steps = np.where(one.steps == other.steps, one.steps, known.value).astype(np.int64)
        outcome = np.where(one.outcome == other.outcome, one.outcome, known.outcome).astype(np.int64)
        complete = core.labelled_by_all(known, judges)
        order = rng.permutation(np.flatnonzero(complete))
        chance = np.array([core.drawn_for_two(seed, record) for record in range(known.n_records)])
        resolved = replace(known, value=steps, outcome=outcome)
        return cls(known, judges, (one, other), resolved, complete, order, chance, seed)

    def places(self, records: IntArray) -> BoolArray:
        """These records as a mask (R,)."""
        found = np.zeros(self.known.n_records, dtype=bool)
        found[records] = True
        return found

    def doubts(self, taught: BoolArray) -> tuple[FloatArray, BoolArray]:
        """The doubt about each trajectory by the rule from these, and whether a second person is asked."""
        told = stack(self.resolved, self.judges, taught)
        assert told is not None
        by = core.rule(self.resolved, told, self.people, taught)
        assert by is not None
        doubt = core.doubts(self.known, told, self.people[0], by)
        return doubt, core.needs_second(doubt, by) | ~self.complete

    def found(self, asked: BoolArray, two: BoolArray, doubt: FloatArray, part: BoolArray) -> Found:
        """What came of a `part` (R,), where a second person was `asked`, or two people labelled anyway."""
        known, one, second = self.known, self.people[0], asked | two
        steps = np.where(second[known.record], self.resolved.value, one.steps)
        outcome = np.where(second, self.resolved.outcome, one.outcome)
        of_part = part[known.record]
        return Found(
            labels=1 + float(second[part].mean()),
            by_doubt=1 + float(asked[part].mean()),
            wrong=float((steps != known.value)[of_part].mean()),
            outcomes=float((outcome != known.outcome)[part].mean()),
            two=float((self.resolved.value != known.value)[of_part].mean()),
            proved=_proved(known, steps != known.value, doubt, self.seed),
        )


def project(
    known: ReleasedLabels, judges: list[JudgeLabels], first: int, error: float, harder: int, seed: int
) -> Found:
    """One project with one rule, from the first trajectories."""
    rng = np.random.default_rng([seed, first, harder, round(error * 1_000)])
    labelled = Labelled.drawn(rng, known, judges, error, harder, seed)
    taught = labelled.places(labelled.order[:first])
    doubt, asked = labelled.doubts(taught)
    return labelled.found(asked, labelled.chance | taught, doubt, ~taught)


def refitted(
    known: ReleasedLabels, judges: list[JudgeLabels], error: float, harder: int, seed: int
) -> tuple[Found, Found]:
    """One project whose rule is made once more, as soon as chance has given enough trajectories to two
    people: until then, and from then on."""
    first, again = core.FITTED_AT
    rng = np.random.default_rng([seed, first, again, harder, round(error * 1_000)])
    labelled = Labelled.drawn(rng, known, judges, error, harder, seed)
    beginning, rest = labelled.order[:first], labelled.order[first:]
    until = 1 + int(np.flatnonzero(labelled.chance[rest])[again - first - 1])
    taught = labelled.places(beginning)
    before = labelled.places(rest[:until])
    doubt, asked = labelled.doubts(taught)
    doubt_after, asked_after = labelled.doubts(taught | (before & labelled.chance))
    asked, doubt = np.where(before, asked, asked_after), np.where(before, doubt, doubt_after)
    two = labelled.chance | taught
    after = ~taught & ~before
    return labelled.found(asked, two, doubt, before), labelled.found(asked, two, doubt, after)


def _weight(said: list[Labels], truth: IntArray, harder: int) -> FloatArray:
    """How much more often people err on each label, 1 on average."""
    hard = np.sum([labels != truth for labels in said], axis=0) >= 2
    weight = np.where(hard, float(harder), 1.0)
    found: FloatArray = weight / weight.mean()
    return found


def _erring(rng: np.random.Generator, truth: IntArray, chance: FloatArray) -> IntArray:
    other = (truth + 1 + rng.integers(1, 3, len(truth))) % 3 - 1
    found: IntArray = np.where(rng.random(len(truth)) < chance, other, truth)
    return found


def _proved(known: ReleasedLabels, wrong: BoolArray, doubt: FloatArray, seed: int) -> float:
    """The bound that an audit proves, once what it found is corrected."""
    lengths = known.lengths()
    steps = dict(enumerate(lengths.tolist()))
    chances = drawing.chances(steps, dict(enumerate(doubt.tolist())))
    count = np.bincount(known.record, weights=wrong, minlength=known.n_records).astype(np.int64)
    drawn = drawing.draw(seed, chances, DRAWS)
    seen = np.unique(drawn)
    return certificate(
        [Draw(at, "", chances[at], int(lengths[at]), int(count[at])) for at in drawn],
        steps=known.n_steps,
        corrected=int(count[seen].sum()),
        audited_steps=int(lengths[seen].sum()),
        heaviest=drawing.heaviest(steps, chances),
    ).after
