"""The prompt workshop: another prompt of a judge, tried on a fixed sample of resolved trajectories.

A trial is a judge of its own with the same settings but the prompt, which the normal runs ask; what it
suggests is never live, so that no page, figure, list or reveal but the workshop's knows of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.judging import settings
from annotation.core.judging.kinds import KINDS
from annotation.core.judging.prompts import check_version
from annotation.core.seed import SEED
from annotation.core.vocabulary import RESOLVED
from annotation.models import Judge, SuggestionRun, Trajectory, WorkshopSample
from annotation.policies import Actor, recorded, require

from .. import audit
from .runs import start_run

MOST: Final = 1_000


def trajectories_to_draw(*, actor: Actor, judge: Judge, size: int, seed: int = SEED) -> list[int]:
    """The sample that `draw_sample` would draw now, by primary keys; nothing is written. Raises as it
    does."""
    require(actor, "suggest", judge)
    if not KINDS[judge.kind].prompted:
        raise Invalid(translatable("Only a judge on a server has a prompt."), code="no_prompt")
    if not 1 <= size <= MOST:
        problem = translatable("From 1 to {most} trajectories.", most=MOST)
        raise Invalid(problem, fields={"size": problem})
    rows = Trajectory.objects.filter(
        project=judge.project_id,
        live=True,
        state__in=RESOLVED,
        suggestions__judge=judge,
        suggestions__live=True,
    )
    pks = list(rows.order_by("pk").values_list("pk", flat=True))
    if not pks:
        problem = translatable("This judge has suggestions for no resolved trajectory yet.")
        raise Invalid(problem, code="nothing_resolved")
    chosen = np.random.default_rng(seed).choice(pks, size=min(size, len(pks)), replace=False)
    return sorted(int(pk) for pk in chosen)


@transaction.atomic
def draw_sample(*, actor: Actor, judge: Judge, size: int, seed: int = SEED) -> WorkshopSample:
    """Draw so many of the resolved trajectories that the judge has suggestions for, or all of them.

    The same seed draws the same from the same. Raises Invalid for a judge without a prompt, a size out of
    bounds, and when there is nothing to draw from.
    """
    chosen = trajectories_to_draw(actor=actor, judge=judge, size=size, seed=seed)
    sample = WorkshopSample.objects.create(
        judge=judge, seed=seed, created_by=recorded(actor), created_at=timezone.now()
    )
    sample.trajectories.set(chosen)
    audit.record(
        actor=actor,
        verb="workshop.draw",
        project=judge.project,
        obj=judge,
        trajectories=len(chosen),
        seed=seed,
    )
    return sample


@transaction.atomic
def try_prompt(
    *,
    actor: Actor,
    sample: WorkshopSample,
    prompt_version: str,
    budget: Decimal | None = None,
    estimate: Mapping[str, Any] | None = None,
    enqueue: bool = True,
) -> SuggestionRun:
    """Run a prompt on what of a sample it has not been asked about yet, with the judge's present prices, pace
    and key; `estimate` is kept with the run.

    Raises as `start_run`, and Invalid for a prompt that judges of the project do not have.
    """
    # two who try the same prompt at once make one trial
    held = Judge.objects.select_for_update(of=("self",), no_key=True)
    judge = held.select_related("project").get(pk=sample.judge_id)
    require(actor, "suggest", judge)
    check_version(judge.project.of_kind, prompt_version)
    trial = Judge.stored.filter(sample=sample, prompt_version=prompt_version).first()
    if trial is None:
        trial = Judge.stored.get(pk=judge.pk)
        trial.pk, trial.sample, trial.prompt_version = None, sample, prompt_version
        ending = f" · {prompt_version} · {sample.pk}"
        trial.name = judge.name[: (settings.NAME.max_length or 0) - len(ending)] + ending
        trial.details, trial.recalibrate, trial.recalibration = {}, False, {}
        trial.recalibrated_at, trial.next_call_at = None, None
        trial.created_by, trial.created_at = recorded(actor), timezone.now()
        trial._state.adding = True
        trial.save(force_insert=True)
    else:
        may_change = settings.columns() - settings.columns(defining=True)
        Judge.stored.filter(pk=trial.pk).update(
            retired_at=judge.retired_at, **{name: getattr(judge, name) for name in may_change}
        )
    return start_run(actor=actor, judge=trial, budget=budget, estimate=estimate, enqueue=enqueue)
