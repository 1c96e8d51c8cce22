"""Judges whose suggestions annotators of a release had seen before they submitted."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.db.models import Exists, OuterRef

from annotation.core.vocabulary import AssignmentState, ExposureKind
from annotation.models import Assignment, Exposure, Judge, PredictionSet, Release, Suggestion

from ..shared.frozen_trajectories import of_release


def seen_sets(release: Release, rows: Iterable[PredictionSet]) -> frozenset[int]:
    """Prediction sets of judges whose suggestions an annotator had seen, of a trajectory of the release,
    before submitting their own labels of it: the release then leans towards that judge. A set that came as a
    file is a judge's by its name, or by its model's.

    Three queries; one when nobody saw anything, and none when the release itself says so.
    """
    known = list(rows)
    if not known or _all_blind(release):
        return frozenset()
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
        return frozenset()
    shown = Suggestion.objects.filter(
        Exists(exposures.filter(trajectory=OuterRef("trajectory"), created_at__gte=OuterRef("created_at"))),
        trajectory__in=of_release(release),
        judge=OuterRef("pk"),
    )
    judges = Judge.objects.filter(Exists(shown), project=release.project_id).values_list(
        "pk", "name", "model"
    )
    found = list(judges)
    pks = {pk for pk, _name, _model in found}
    names = {name for _pk, *both in found for name in both if name}
    return frozenset(row.pk for row in known if row.judge_id in pks or row.model in names)


def _all_blind(release: Release) -> bool:
    """Whether everybody labelled every trajectory blind, by the manifest from format 4 on."""
    exposure = json.loads(release.manifest).get("exposure") or {}
    return "trajectories" in exposure and exposure["trajectories"] == exposure.get("blind_trajectories")
