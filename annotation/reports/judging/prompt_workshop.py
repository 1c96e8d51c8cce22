"""The prompt workshop: how prompts of a judge compare with resolved labels on one sample, and which labels
differ from the judge's own."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from django.db.models import OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.judging.prompts import check_version
from annotation.core.scoring.judges import JudgedSteps, JudgeScores, judge_scores
from annotation.core.scoring.labels import MISSING
from annotation.core.vocabulary import RESOLVED
from annotation.policies import Actor, require

from ..shared.integer_rows import Integers, integer_rows
from .estimates import RunEstimate, estimate_for
from .run_selection import ALL, pending_trajectories


@dataclass(frozen=True, slots=True)
class TriedPrompt:
    """A prompt on a sample. `trial` None: the judge's own suggestions, with the prompt it has. `scores`: of
    the steps of the sample that are resolved at present; `run`: the newest of the trial, `cost` of all."""

    trial: m.Judge | None
    prompt_version: str
    scores: JudgeScores
    cost: Decimal | None
    run: m.SuggestionRun | None


@dataclass(frozen=True, slots=True)
class TrialDifference:
    """A step whose label differs between the judge's own prompt (`old`) and a trial's (`new`); None: no
    label."""

    trajectory: int
    step: int
    record_id: str
    message_index: int
    consensus: int
    old: int | None
    new: int | None

    @property
    def better(self) -> bool | None:
        """Whether the change made it right, or wrong; None where neither is."""
        return None if self.consensus not in (self.old, self.new) else self.new == self.consensus


def samples(*, viewer: Actor, judge: m.Judge) -> QuerySet[m.WorkshopSample]:
    """The samples of a judge, the newest first. Raises Denied."""
    require(viewer, "suggest", judge)
    return m.WorkshopSample.objects.filter(judge=judge)


def tried(*, viewer: Actor, sample: m.WorkshopSample) -> list[TriedPrompt]:
    """The judge as it is, then each prompt that was tried, oldest first. One query, and three a prompt.
    Raises Denied."""
    require(viewer, "suggest", sample.judge)
    trials = m.Judge.stored.filter(sample=sample).order_by("created_at", "pk")
    return [
        TriedPrompt(
            trial=None,
            prompt_version=sample.judge.prompt_version,
            scores=judge_scores(
                _judged(sample, sample.judge)[1], intervals=True, kind=sample.judge.project.of_kind
            ),
            cost=None,
            run=None,
        ),
        *(_tried(sample, trial) for trial in trials),
    ]


def _tried(sample: m.WorkshopSample, trial: m.Judge) -> TriedPrompt:
    runs = m.SuggestionRun.objects.filter(judge=trial)
    return TriedPrompt(
        trial=trial,
        prompt_version=trial.prompt_version,
        scores=judge_scores(_judged(sample, trial)[1], intervals=True, kind=sample.judge.project.of_kind),
        cost=runs.aggregate(cost=Sum("cost"))["cost"] or Decimal(0),
        run=runs.order_by("-created_at", "-pk").first(),
    )


def estimate(*, viewer: Actor, sample: m.WorkshopSample, prompt_version: str) -> RunEstimate:
    """The estimate of trying a prompt, on the part of the sample it has not been asked about yet.

    Raises Invalid for a prompt that judges of the project do not have, Denied.
    """
    require(viewer, "suggest", sample.judge)
    trial = m.Judge.stored.filter(sample=sample, prompt_version=prompt_version).first()
    trajectories = (
        sample.trajectories.filter(live=True) if trial is None else pending_trajectories(trial, ALL)
    )
    wanted = list(trajectories.values_list("pk", flat=True))
    return estimate_for(_with_prompt(sample.judge, prompt_version, trial), wanted)


def estimate_on(*, viewer: Actor, judge: m.Judge, wanted: Sequence[int], prompt_version: str) -> RunEstimate:
    """The estimate of trying a prompt of a judge on the trajectories `wanted`, by their pks. Raises as
    `estimate`."""
    require(viewer, "suggest", judge)
    return estimate_for(_with_prompt(judge, prompt_version, None), wanted)


def _with_prompt(judge: m.Judge, prompt_version: str, trial: m.Judge | None) -> m.Judge:
    """The judge, at its present prices, with another prompt; `trial`: what it has answered counts."""
    check_version(judge.project.of_kind, prompt_version)
    made = copy.copy(judge)
    made.pk, made.prompt_version = None if trial is None else trial.pk, prompt_version
    return made


def changes(*, viewer: Actor, sample: m.WorkshopSample, trial: m.Judge) -> list[TrialDifference]:
    """Every label of resolved steps that is another with the trial's prompt, of trajectories that it has
    been asked about, in their order. Four queries.

    What it tells is for `services.noted_reads` to note. Raises Denied.
    """
    require(viewer, "suggest", sample.judge)
    step, old = _judged(sample, sample.judge)
    _, new = _judged(sample, trial)
    differ = np.isin(old.trajectory, list(_asked(trial))) & (old.judge != new.judge)
    steps = m.Step.objects.filter(pk__in=step[differ].tolist())
    names = {
        pk: (record_id, index)
        for pk, record_id, index in steps.values_list("pk", "trajectory__record_id", "message_index")
    }
    columns = (old.trajectory, step, old.people, old.judge, new.judge)
    return [
        TrialDifference(trajectory, pk, *names[pk], consensus, _value(before), _value(after))
        for trajectory, pk, consensus, before, after in zip(
            *(column[differ].tolist() for column in columns), strict=True
        )
    ]


def _asked(trial: m.Judge) -> Sequence[int]:
    return list(m.Suggestion.stored.filter(judge=trial).values_list("trajectory", flat=True))


def _value(value: int) -> int | None:
    return None if value == MISSING else value


def _judged(sample: m.WorkshopSample, judge: m.Judge) -> tuple[Integers, JudgedSteps]:
    """The steps of the sample that are resolved, by pk, with the resolved labels and the judge's."""
    label = m.SuggestedLabel.stored.filter(suggestion__judge=judge, step=OuterRef("step")).order_by()
    rows = (
        m.Consensus.objects.filter(
            trajectory__samples=sample, trajectory__live=True, trajectory__state__in=RESOLVED
        )
        .annotate(suggested=Coalesce(Subquery(label.values("value")[:1]), Value(MISSING)))
        .order_by("trajectory", "step__ordinal")
    )
    columns = ("step", "trajectory__subset", "trajectory__task", "trajectory", "value", "suggested")
    step, *judged = integer_rows(rows.values_list(*columns), len(columns)).T
    return step, JudgedSteps(*judged)


def as_json(tried: Sequence[TriedPrompt]) -> list[dict[str, Any]]:
    """The prompts as JSON: unrounded numbers, null with a reason where undefined."""
    return [
        {
            "prompt_version": one.prompt_version,
            "own": one.trial is None,
            "cost": None if one.cost is None else str(one.cost),
            "run": None if one.run is None else one.run.pk,
            "state": None if one.run is None else one.run.state,
            **one.scores.as_json(),
        }
        for one in tried
    ]
