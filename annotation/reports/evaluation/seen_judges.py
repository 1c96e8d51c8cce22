"""Judges whose suggestions annotators of a release had seen before they submitted."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet

from annotation.core.vocabulary import AssignmentState, ExposureKind
from annotation.models import Assignment, Exposure, Judge, PredictionSet, Release, Suggestion

from ..shared.frozen_trajectories import frozen_trajectories, of_release


def seen_sets(release: Release, rows: Iterable[PredictionSet]) -> frozenset[int]:
    """Prediction sets of judges whose suggestions an annotator had seen, of a trajectory of the release,
    before submitting their own labels of it: the release then leans towards that judge. A set that came as a
    file is a judge's by its name, or by its model's.

    Three queries; one when nobody saw anything, and none when the release itself says so.
    """
    known = list(rows)
    shown = None if not known else _shown(release)
    if shown is None:
        return frozenset()
    judges = Judge.objects.filter(
        Exists(shown.filter(judge=OuterRef("pk"))), project=release.project_id
    ).values_list("pk", "name", "model")
    listed = list(judges)
    pks = {pk for pk, _name, _model in listed}
    names = {name for _pk, *both in listed for name in both if name}
    return frozenset(row.pk for row in known if row.judge_id in pks or row.model in names)


def seen_records(release: Release, rows: Iterable[PredictionSet]) -> dict[int, frozenset[int]]:
    """By the pk of such a set the ordinals of the records for which an annotator had seen its suggestions.
    Without any, as many queries as `seen_sets`; else two more and those of `frozen_trajectories`."""
    known = list(rows)
    seen = seen_sets(release, known)
    shown = _shown(release) if seen else None
    if shown is None:
        return {}
    place = frozen_trajectories(release).place
    exposed: dict[int, set[int]] = defaultdict(set)
    names: dict[str, set[int]] = defaultdict(set)
    for judge, name, model, trajectory in shown.values_list(
        "judge", "judge__name", "judge__model", "trajectory"
    ):
        if trajectory in place:
            for records in (exposed[judge], *(names[one] for one in {name, model} if one)):
                records.add(place[trajectory])
    return {
        row.pk: frozenset(exposed.get(row.judge_id or 0, set()) | names.get(row.model, set()))
        for row in known
        if row.pk in seen
    }


def _shown(release: Release) -> QuerySet[Suggestion] | None:
    """The suggestions for trajectories of a release that an annotator had seen before submitting; None when
    nobody saw anything."""
    if _all_blind(release):
        return None
    submitted = Assignment.objects.filter(
        trajectory=OuterRef("trajectory"),
        annotator=OuterRef("user"),
        state=AssignmentState.SUBMITTED,
        submitted_at__gt=OuterRef("created_at"),
    )
    exposures = Exposure.objects.filter(
        Exists(submitted), kind=ExposureKind.SUGGESTION, trajectory__project=release.project_id
    )
    if not exposures.exists():
        return None
    return Suggestion.objects.filter(
        Exists(exposures.filter(trajectory=OuterRef("trajectory"), created_at__gte=OuterRef("created_at"))),
        trajectory__in=of_release(release),
    ).order_by()


def _all_blind(release: Release) -> bool:
    """Whether everybody labelled every trajectory blind, by the manifest from format 4 on."""
    exposure = json.loads(release.manifest).get("exposure") or {}
    return "trajectories" in exposure and exposure["trajectories"] == exposure.get("blind_trajectories")
