"""Fit on a release what its leaderboard shows beside the models: recalibrated judges, the judge that is made
of all of them, and the trained baseline.

It takes from a second to minutes, so it is done once, in the background, when predictions have come or gone
(docs/scoring.md, "Recalibrated judges"). Everything is cross-fitted by task with fixed seeds: whoever does it
again writes the same bytes, and two who do it at once are no harm. What is written is worked out of rows that
are audited themselves.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from threading import Lock

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation import dispatch
from annotation.core.baseline.features import step_features
from annotation.core.baseline.training import TrainingExample, task_of, unseen_labels
from annotation.core.judging import JudgeInput
from annotation.core.kinds import Feature
from annotation.core.scoring import Predictions, ReleasedLabels
from annotation.core.scoring.blind import packed_blind
from annotation.core.scoring.fitted import kept
from annotation.core.scoring.recalibration import recalibrated, stacked
from annotation.core.seed import SEED
from annotation.models import PredictionSet, Release, ReleaseOutline
from annotation.reports.evaluation.powered import both_parts, soft_sums
from annotation.reports.shared import release_labels as report
from annotation.reports.shared.release_labels import METHOD

from ..job_lease import passed
from ..release.outline import outline as keep_outline

PATIENCE = timedelta(minutes=10)
"""So long is waited for a worker to have fitted, before another is asked."""
FEWEST_TASKS = 2

_lock = Lock()
_running: dict[uuid.UUID, bool] = {}
"""The releases that this process is fitting, and whether to begin once more: files that come in one after the
other send as many jobs, and the baseline must not be trained by all of them at once."""


def ask_to_fit(*, release: Release, changed: PredictionSet | None = None, put_off: bool = False) -> None:
    """Forget what was fitted with the predictions that are changed (or gone), and send the job that fits it
    anew. Part of the transaction that changes them. When `put_off`, the caller fits after the last of several
    changes; should it not, the sweep does."""
    if changed is not None:
        PredictionSet.objects.filter(pk=changed.pk).update(recalibrated=None, powered=None)
    until = timezone.now() + PATIENCE
    ReleaseOutline.objects.filter(release=release).update(stacked=None, fit_again_at=until)
    if not put_off:
        dispatch.send("fit_release", str(release.pk))


def is_fitted(release: Release) -> bool:
    """Whether everything that is fitted on a release is there, by today's method."""
    return not _unfitted().filter(release=release).exists()


def _unfitted() -> QuerySet[ReleaseOutline]:
    of_release = PredictionSet.objects.filter(release=OuterRef("pk"))
    pending = of_release.filter(Q(recalibrated=None) | Q(powered=None))
    return ReleaseOutline.objects.filter(
        Q(baseline=None)
        | Q(stacked=None)
        | Q(blind=None)
        | Q(unlabelled=None)
        | ~Q(method=METHOD)
        | Exists(pending)
    )


def sweep_unfitted(*, now: datetime | None = None) -> int:
    """Send the job again for releases that nobody has fitted (a lost job, or a newer method); how many."""
    now = now or timezone.now()
    unfitted = _unfitted().filter(passed("fit_again_at", now))
    sent = 0
    for pk in list(unfitted.order_by("pk").values_list("pk", flat=True)):
        if unfitted.filter(pk=pk).update(fit_again_at=now + PATIENCE):
            dispatch.send("fit_release", str(pk))
            sent += 1
    return sent


def fit_release(*, release_id: uuid.UUID) -> None:
    """Fit what is not fitted yet for a release, and make its outline if it is not there. When another thread
    of this process is at it, that one begins once more at its end.

    Raises Conflict on a damaged record."""
    with _lock:
        waited = release_id in _running
        _running[release_id] = waited
    if waited:
        return
    while True:
        try:
            _fit(release_id)
        except BaseException:
            with _lock:
                del _running[release_id]
            raise
        with _lock:
            if not _running[release_id]:
                del _running[release_id]
                return
            _running[release_id] = False


def _fit(release_id: uuid.UUID) -> None:
    """The baseline comes last, because it takes longest."""
    release = Release.objects.get(pk=release_id)
    released = report.released_labels(release)
    outline, _made = ReleaseOutline.objects.get_or_create(
        release=release, defaults={"labels": released.packed()}
    )
    anew, by_steps = outline.method != METHOD, released.kind.has(Feature.STEP_SCORES)
    rows = list(PredictionSet.objects.filter(release=release).order_by("model"))
    predictions = report.predictions(released, rows)
    fitted = {
        row.pk: {"recalibrated": kept(recalibrated(released, prediction) if by_steps else None)}
        for row, prediction in zip(rows, predictions, strict=True)
        if anew or row.recalibrated is None
    }
    if anew or any(row.powered is None for row in rows):
        # of one stack each, whatever has become of judges since
        sums_of_rows = (
            soft_sums(release, both_parts(release, released), rows) if by_steps else [None] * len(rows)
        )
        for row, sums in zip(rows, sums_of_rows, strict=True):
            fitted.setdefault(row.pk, {})["powered"] = b"" if sums is None else sums.packed()
    together = _stacked(released, predictions) if anew or fitted or outline.stacked is None else None
    _write(release, rows, fitted, together, anew)
    if outline.unlabelled is None:
        keep_unlabelled(release, released)
    keep_outline(release)  # with the answers that best-of-N counts
    if anew or outline.blind is None:
        blind = packed_blind(released, report.records(release))
        ReleaseOutline.objects.filter(release=release).update(blind=blind)
    if anew or outline.baseline is None:
        made = kept(_baseline(release, released))
        ReleaseOutline.objects.filter(release=release, method=METHOD).update(baseline=made)


def keep_labels(release: Release, released: ReleasedLabels) -> ReleaseOutline:
    """The outline of a release, made the first time."""
    # called only when there is none
    row, _made = ReleaseOutline.objects.get_or_create(release=release, defaults={"labels": released.packed})
    return row


def keep_unlabelled(release: Release, released: ReleasedLabels) -> ReleasedLabels:
    """The unlabelled part of a release, kept beside its outline after the first time."""
    row = keep_labels(release, released)
    if row.unlabelled is not None:
        return report.unpacked_part(row.unlabelled, released)
    part = both_parts(release, released).unlabelled
    # who does so at the same time writes the same
    ReleaseOutline.objects.filter(release=release).update(unlabelled=part.packed() if part.n_records else b"")
    return part


def _stacked(released: ReleasedLabels, predictions: Sequence[Predictions]) -> bytes:
    """The stack of several models that are scored by steps; of one model alone, it would be that one
    recalibrated."""
    several = len(predictions) > 1 and released.kind.has(Feature.STEP_SCORES)
    return kept(stacked(released, predictions) if several else None)


@transaction.atomic
def _write(
    release: Release,
    rows: list[PredictionSet],
    fitted: dict[int, dict[str, bytes]],
    together: bytes | None,
    anew: bool,
) -> None:
    """Store fitted labels, as far as the predictions are still those that they were fitted with."""
    outline = ReleaseOutline.objects.select_for_update(no_key=True).get(release=release)
    for row in rows:
        if row.pk in fitted:
            same = PredictionSet.objects.filter(pk=row.pk, updated_at=row.updated_at)
            same.update(**fitted[row.pk])
    present = PredictionSet.objects.filter(release=release).values_list("pk", "updated_at")
    if anew:
        outline.method, outline.baseline = METHOD, None
    if together is not None and dict(present) == {row.pk: row.updated_at for row in rows}:
        outline.stacked = together
    outline.save(update_fields=("method", "baseline", "stacked"))


def _baseline(release: Release, released: ReleasedLabels) -> Predictions | None:
    """Predictions of the baseline for every step, trained on the records of the other tasks; None where it
    cannot be trained: on fewer than two tasks, where a record's labels are not of its steps, or where the
    kind of project has none."""
    if not released.kind.has(Feature.BASELINE):
        return None
    examples = []
    for place, record in enumerate(report.records(release)):
        material = JudgeInput.of(record)
        labels = {int(index): value for index, value in record["step_labels"].items()}
        if not labels or set(material.steps) != labels.keys():
            return None
        examples.append(
            TrainingExample(
                task=task_of(material.question, f"task {released.task[place]}"),
                features=step_features(material),
                labels=tuple(labels[index] for index in material.steps),
                outcome=record["final_label"],
            )
        )
    if len({example.task for example in examples}) < FEWEST_TASKS:
        return None
    return Predictions.constant(*unseen_labels(examples, seed=SEED))
