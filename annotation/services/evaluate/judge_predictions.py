"""Score a judge of the project on a release: what it has suggested becomes a prediction set."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
from django.db.models import Exists, Max, OuterRef, Sum
from django.utils import timezone

from annotation.core.errors import Conflict, Invalid, TristepError
from annotation.core.i18n import translatable
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.judging.kinds import KINDS
from annotation.core.label_files import FAILED_PREFIX
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.text import unescape
from annotation.core.vocabulary import SuggestionItemState, SuggestionRunState
from annotation.models import (
    Judge,
    JudgeAnswer,
    PredictionSet,
    Release,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)
from annotation.policies import OPERATOR, Actor, require
from annotation.reports.evaluation.powered import both_parts
from annotation.reports.shared.frozen_trajectories import FrozenTrajectories, frozen_trajectories, of_release
from annotation.reports.shared.release_labels import released_labels

from .asked_judge import model_of, score_asked
from .fitting import keep_labels
from .import_file import PredictionImport
from .store import NO_REASONS, REASONS_AT_ONCE, Reasons, model_name, packed_reasons, store

log = logging.getLogger(__name__)

FORGOTTEN: Final = timedelta(hours=1)
"""A run that ended longer ago is taken up by nobody but people."""
CENTS: Final = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class ScoredJudge:
    """The result of scoring a judge, in records of the release. `created`: new in the set; `unchanged`: there
    already. `failed`: the judge was asked in vain. `absent`: it has said nothing of them; `changed`: their
    trajectory has other content now; `gone`: they have none. `missing`: steps without a label."""

    prediction_set: PredictionSet
    created: int
    unchanged: int
    failed: int
    absent: int
    changed: int
    gone: int
    missing: int


@dataclass(slots=True)
class _Said:
    """A judge's predictions for a release, and its reasons by ordinal, as canonical JSON."""

    predictions: Predictions
    reasons: dict[int, bytes]


def score_judge(*, actor: Actor, release: Release, judge: Judge) -> ScoredJudge:
    """Make the judge's suggestions for the trajectories of a release its predictions of that release, or add
    those to the set that have come since; the same again changes nothing, and nothing changes the release.

    A trajectory counts when its content is still that of the record; otherwise the record is without a
    prediction, as are those that the judge was never asked about. The set has the judge's name, its prompt
    version, the day of its last answer and what its answers have cost.

    Raises Invalid for a judge of another project or one without a suggestion; Conflict when the set says
    something else of a record already, or is being changed by somebody else.
    """
    require(actor, "predictions.change", release)
    if judge.project_id != release.project_id:
        raise Invalid(translatable("This judge belongs to another project."), code="other_project")
    frozen = frozen_trajectories(release)
    released = released_labels(release)
    parts = both_parts(release, released)
    both, own = parts.joined, np.arange(parts.joined.n_records) < released.n_records
    answers = _said(judge, both, parts.place or frozen.place)
    predictions = answers.predictions.only(both, own)
    if not predictions.there.any():
        raise Invalid(
            translatable("This judge has no suggestion for any trajectory of this release yet."),
            code="nothing_suggested",
        )
    name = model_name(judge.name)
    before = PredictionSet.objects.filter(release=release, model=name).first()
    fresh = _fresh(released, predictions, before, name)
    more = answers.predictions.only(both, ~own)
    keep_labels(release, released)
    row = store(
        actor=actor,
        release=release,
        name=name,
        released=released,
        predictions=predictions,
        unlabelled=more if more.there.any() else None,
        fresh=fresh,
        reasons=_reasons(answers, fresh),
        details=_about(judge, release, frozen),
        before=before,
    )
    return ScoredJudge(
        prediction_set=row,
        created=len(fresh),
        unchanged=int(predictions.there.sum()) - len(fresh),
        failed=int(predictions.failed.sum()),
        absent=int((~predictions.there).sum()),
        changed=len(frozen.changed),
        gone=len(frozen.gone),
        missing=predictions.missing(released),
    )


def score_run(*, run_id: int) -> ScoredJudge | PredictionImport | None:
    """Take what a run has brought that was started for a release or over its prompts, in the name of who
    started it; None for any other run. Raises what `score_judge` and `score_asked` raise."""
    runs = SuggestionRun.objects.select_related("judge", "created_by", "prompts__release__project")
    run = runs.filter(pk=run_id).first()
    if run is None or run.state != SuggestionRunState.FINISHED:
        return None
    if run.prompts is not None:
        return score_asked(run)
    version = run.selection.get("release")
    rows = Release.objects.select_related("project").filter(project=run.project_id, version=version)
    release = rows.first() if version else None
    if release is None:
        return None
    actor: Actor = run.created_by if run.created_by is not None else OPERATOR
    return score_judge(actor=actor, release=release, judge=run.judge)


def sweep_runs(*, now: datetime | None = None) -> int:
    """Take what runs for a release have brought lately and nobody has scored, because the job was not sent or
    its worker died; how many runs."""
    done = PredictionSet.objects.filter(
        judge=OuterRef("judge"), release__project=OuterRef("project"), updated_at__gte=OuterRef("finished_at")
    )
    rows = SuggestionRun.objects.filter(
        ~Exists(done),
        state=SuggestionRunState.FINISHED,
        finished_at__gte=(now or timezone.now()) - FORGOTTEN,
        selection__has_key="release",
    )
    asked = SuggestionRun.objects.select_related("judge", "prompts").filter(
        prompts__isnull=False,
        state=SuggestionRunState.FINISHED,
        finished_at__gte=(now or timezone.now()) - FORGOTTEN,
    )
    waiting = [
        run.pk
        for run in asked.order_by("pk")
        if run.prompts is not None
        and not PredictionSet.objects.filter(
            release=run.prompts.release_id, model=model_of(run), updated_at__gte=run.finished_at
        ).exists()
    ]
    count = 0
    for pk in [*rows.order_by("pk").values_list("pk", flat=True), *waiting]:
        try:
            count += score_run(run_id=pk) is not None
        except TristepError as refused:
            log.info("run %s is not scored: %s", pk, refused.message)
    return count


def _said(judge: Judge, released: ReleasedLabels, record_of: Mapping[int, int]) -> _Said:
    """The suggestions of a judge for records, each of which is that of one or several trajectories (pks)."""
    made, starts = Predictions.none(released), released.starts()
    reasons: dict[int, dict[str, Any]] = {}
    chosen: dict[int, int] = {}
    # of a trajectory that was replaced by an equal one, what is said of the live one counts
    rows = Suggestion.objects.filter(judge=judge).order_by("trajectory__live", "pk")
    for pk, trajectory, outcome, reason, comment in rows.values_list(
        "pk", "trajectory", "outcome", "reason", "comment"
    ).iterator():
        at_record = record_of.get(trajectory)
        if at_record is not None:
            chosen[at_record] = pk
            made.there[at_record] = True
            made.outcome[at_record] = MISSING if outcome is None else outcome
            reasons[at_record] = {"steps": {}, "final": unescape(reason), "comment": unescape(comment)}
    places = {pk: place for place, pk in chosen.items()}
    indexes = {
        place: {index: at for at, index in enumerate(_indexes(released, starts, place), int(starts[place]))}
        for place in chosen
    }
    labels = SuggestedLabel.objects.filter(suggestion__judge=judge)
    for pk, index, value, reason in labels.values_list(
        "suggestion", "step__message_index", "value", "reason"
    ).iterator():
        of = places.get(pk)
        if of is None or (at := indexes[of].get(index)) is None:
            continue
        made.steps[at] = MISSING if value is None else value
        if reason:
            reasons[of]["steps"][str(index)] = unescape(reason)
    _mark_failures(judge, record_of, released, made, reasons)
    kept = {
        place: canonical_json({key: value for key, value in why.items() if value})
        for place, why in reasons.items()
    }
    return _Said(made, kept)


def _indexes(released: ReleasedLabels, starts: Any, place: int) -> list[int]:
    indexes: list[int] = released.message_index[starts[place] : starts[place + 1]].tolist()
    return indexes


def _mark_failures(
    judge: Judge,
    record_of: Mapping[int, int],
    released: ReleasedLabels,
    made: Predictions,
    reasons: dict[int, dict[str, Any]],
) -> None:
    """A suggestion that says of itself that it failed, and a trajectory that a run failed at."""
    labelled = np.zeros(released.n_records, dtype=bool)
    labelled[released.record[made.steps != MISSING]] = True
    for place, why in reasons.items():
        if why["comment"].startswith(FAILED_PREFIX) and not labelled[place]:
            made.failed[place], made.outcome[place] = True, MISSING
    items = SuggestionItem.objects.filter(
        run__judge=judge, run__options=None, state=SuggestionItemState.FAILED
    )
    for trajectory in items.order_by().values_list("trajectory", flat=True):
        failed = record_of.get(trajectory)
        if failed is not None and not made.there[failed]:
            made.there[failed] = made.failed[failed] = True


def _fresh(
    released: ReleasedLabels, predictions: Predictions, before: PredictionSet | None, name: str
) -> list[int]:
    """The records that the set lacks, those of which it only has that the judgement failed, and those whose
    missing labels the judge has given since. Raises Conflict when it says something else of one already."""
    if before is None:
        fresh: list[int] = np.flatnonzero(predictions.there).tolist()
        return fresh
    stored = Predictions.unpacked(bytes(before.labels), released)
    again = stored.failed & ~predictions.failed
    differ = (stored.outcome != MISSING) & (stored.outcome != predictions.outcome)
    differ[released.record[(stored.steps != MISSING) & (stored.steps != predictions.steps)]] = True
    more = (stored.outcome == MISSING) & (predictions.outcome != MISSING)
    more[released.record[(stored.steps == MISSING) & (predictions.steps != MISSING)]] = True
    if (differ & stored.there & predictions.there & ~again & ~predictions.failed).any():
        raise Conflict(
            translatable(
                "There are other predictions of “{name}” on this release already; delete these first.",
                name=name,
            ),
            code="predicted_otherwise",
        )
    fresh = np.flatnonzero(predictions.there & (~stored.there | again | more)).tolist()
    return fresh


def _reasons(answers: _Said, fresh: list[int]) -> list[Reasons]:
    parts = (fresh[at : at + REASONS_AT_ONCE] for at in range(0, len(fresh), REASONS_AT_ONCE))
    return [
        chunk
        for part in parts
        for chunk in packed_reasons({at: answers.reasons.get(at, NO_REASONS) for at in part})
    ]


def _about(judge: Judge, release: Release, frozen: FrozenTrajectories) -> dict[str, Any]:
    """Facts of the set besides its labels: prompt, day and cost from the judge's own answers."""
    answers = JudgeAnswer.objects.filter(judge=judge, trajectory__in=of_release(release))
    figures = answers.aggregate(cost=Sum("cost"), last=Max("created_at"))
    about: dict[str, Any] = {"judge": judge, "prompt_version": judge.prompt_version}
    if figures["last"] is not None:
        about["judged_on"] = timezone.localdate(figures["last"])
        if not KINDS[judge.kind].priced or judge.price_input or judge.price_output:
            about["cost"] = (figures["cost"] or Decimal(0)).quantize(CENTS)
    return about
