"""Score a judge by what it answered to the prompts of a release: its texts become predictions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Final

from django.db.models import QuerySet

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.text import unescape
from annotation.models import JudgeAnswer, ReleaseRecord, SuggestionRun
from annotation.policies import OPERATOR, Actor
from annotation.providers import FailureKind
from annotation.reports.releases.prompts import records_of

from .import_file import PredictionImport, import_predictions
from .store import MAX_MODEL, PredictionSetDetails

ANSWERS_AT_ONCE: Final = 500


def model_of(run: SuggestionRun) -> str:
    """The name of the judge of a run over prompts among the models of the release."""
    assert run.prompts is not None
    ending = f" ({run.prompts.name})"
    return run.judge.name[: MAX_MODEL - len(ending)] + ending


def score_asked(run: SuggestionRun) -> PredictionImport:
    """Take the texts that a run over prompts has brought as what a model predicts of the release, in the name
    of who started it; an answer without a text is an empty output. `run` comes with its judge and prompts.

    Raises what `import_predictions` raises, and Invalid when there is no answer."""
    assert run.prompts is not None
    lines = b"".join(_lines(run))
    if not lines:
        raise Invalid(translatable("This run has brought no answer."), code="nothing_answered")
    actor: Actor = run.created_by if run.created_by is not None else OPERATOR
    about = PredictionSetDetails(
        prompt_version=run.prompts.name,
        judged_on=run.finished_at.date() if run.finished_at is not None else None,
        cost=run.cost,
    )
    return import_predictions(
        actor=actor,
        release=run.prompts.release,
        model=model_of(run),
        stream=BytesIO(lines),
        filename=f"run {run.pk}",
        about=about,
    )


def _lines(run: SuggestionRun) -> Iterator[bytes]:
    """A line of a prediction file for each prompt that was answered, by its record."""
    assert run.prompts is not None
    answers: QuerySet[JudgeAnswer] = JudgeAnswer.objects.filter(run=run).order_by("created_at", "pk")
    outputs: dict[int, str] = {}
    for trajectory, failure, notes in answers.values_list("trajectory", "failure", "notes").iterator():
        if not failure:
            outputs[trajectory] = unescape(notes.get("output", ""))
        elif failure == FailureKind.NO_ANSWER:
            outputs.setdefault(trajectory, "")
    pks = list(outputs)
    for start in range(0, len(pks), ANSWERS_AT_ONCE):
        places = records_of(run.prompts, pks[start : start + ANSWERS_AT_ONCE])
        rows = ReleaseRecord.objects.filter(release=run.prompts.release, ordinal__in=places.values())
        names = {
            ordinal: (subset, unescape(record_id))
            for ordinal, subset, record_id in rows.values_list("ordinal", "subset", "record_id")
        }
        for pk, ordinal in places.items():
            subset, record_id = names[ordinal]
            line = {"subset": subset, "record_id": record_id, "output": outputs[pk]}
            yield json.dumps(line).encode() + b"\n"
