"""Coverage of a release's trajectories by suggestions of the project's judges."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import BooleanField, ExpressionWrapper

from annotation.core.judging.kinds import KINDS
from annotation.core.vocabulary import SuggestionItemState
from annotation.models import Judge, PredictionSet, Release, Suggestion, SuggestionItem, SuggestionRun
from annotation.policies import Actor, require

from ..shared.frozen_trajectories import FrozenTrajectories, frozen_trajectories, of_release
from .run_selection import INCOMPLETE


@dataclass(frozen=True, slots=True)
class JudgeCoverage:
    """A judge on a release, in records of it: `suggested`, and of the others `failed` (it was asked, in vain)
    and `pending` (it can be asked still; those that failed included). `prediction_set`: what was scored of it
    so far. `run`: its run that has not ended."""

    judge: Judge
    suggested: int
    failed: int
    pending: int
    prediction_set: PredictionSet | None
    run: SuggestionRun | None

    @property
    def may_run(self) -> bool:
        """Whether a run could bring what is missing."""
        return (
            self.pending > 0
            and self.run is None
            and KINDS[self.judge.kind].runnable
            and self.judge.retired_at is None
        )

    @property
    def fresh(self) -> int:
        """The number of records that scoring would add to those scored so far."""
        return max(0, self.suggested - (self.prediction_set.record_count if self.prediction_set else 0))


def judge_coverage(
    *, actor: Actor, release: Release, frozen: FrozenTrajectories | None = None
) -> list[JudgeCoverage]:
    """The judges of the release's project by name. Five queries beside those of `frozen_trajectories` (or
    `frozen`, when they are known), and those of the permission."""
    require(actor, "predictions.change", release)
    frozen = frozen or frozen_trajectories(release)
    suggested: dict[int, set[int]] = {}
    complete: dict[int, set[int]] = {}
    rest = ExpressionWrapper(INCOMPLETE, output_field=BooleanField())
    rows = Suggestion.objects.filter(trajectory__in=of_release(release)).annotate(rest=rest).order_by()
    for judge, trajectory, lacks in rows.values_list("judge", "trajectory", "rest"):
        if trajectory in frozen.place:
            suggested.setdefault(judge, set()).add(frozen.place[trajectory])
            if not lacks:
                complete.setdefault(judge, set()).add(frozen.place[trajectory])
    failed: dict[int, set[int]] = {}
    items = SuggestionItem.objects.filter(
        trajectory__in=of_release(release),
        state=SuggestionItemState.FAILED,
        run__project=release.project_id,
        run__options=None,
    )
    for judge, trajectory in items.order_by().values_list("run__judge", "trajectory"):
        if trajectory in frozen.place:
            failed.setdefault(judge, set()).add(frozen.place[trajectory])
    sets = {row.judge_id: row for row in _sets(release)}
    runs = SuggestionRun.objects.filter(
        project=release.project_id, finished_at__isnull=True, options__isnull=True
    )
    active = {run.judge_id: run for run in runs}
    possible = {frozen.place[pk] for pk in frozen.live}
    none: set[int] = set()
    return [
        JudgeCoverage(
            judge=judge,
            suggested=len(suggested.get(judge.pk, none)),
            failed=len(failed.get(judge.pk, none) - suggested.get(judge.pk, none)),
            pending=len(possible - complete.get(judge.pk, none)),
            prediction_set=sets.get(judge.pk),
            run=active.get(judge.pk),
        )
        for judge in Judge.objects.filter(project=release.project_id).order_by("name")
    ]


def _sets(release: Release) -> list[PredictionSet]:
    rows = PredictionSet.objects.filter(release=release, judge__isnull=False)
    return list(rows.only("judge", "model", "record_count", "release").order_by("pk"))
