"""Answers of a model to the questions of a release, beside the keys and the verdicts."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from django.db.models import Q

from annotation.core.kinds import Feature
from annotation.core.releases.exports.asked import AskedQuestion, asked_question
from annotation.core.scoring import MISSING, Predictions, ReleasedLabels
from annotation.core.scoring.question_figures import (
    NOT_COUNTED,
    VERDICTS,
    outputs_of,
    question_facts,
    verdicts_of,
)
from annotation.core.scoring.questions.outputs import READINGS
from annotation.core.scoring.scheme import has_questions
from annotation.models import PredictionReasons, PredictionSet, Release, ReleaseRecord
from annotation.policies import Actor, require

from ..shared.release_labels import parsed_record, predictions, released_labels


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """One question of a release, by its place: the `verdict` on what the model says of it by the strict
    reading (one of VERDICTS; "" where it is not asked), and whether it is right by the `published` one.

    With its texts (`with_texts`): the `output` (None without one), what the strict reading takes it for
    (`read`; of labels the letters labelled +1), and the `keys` with the texts of the options that they
    name."""

    ordinal: int
    record_id: str
    uuid: str
    subset: str
    verdict: str
    published: bool
    output: str | None = None
    read: str = ""
    keys: tuple[tuple[str, str], ...] = ()


def holds_questions(release: Release) -> bool:
    """Whether models are scored on a release by questions. One query where it may be so."""
    return release.project.of_kind.has(Feature.PAIRS) and has_questions(released_labels(release))


def answered_questions(
    *, actor: Actor, row: PredictionSet, verdict: str = "", subset: str = ""
) -> list[AnsweredQuestion]:
    """The questions of the subsets of which the model answers any, in the order of the release, without their
    texts. One query and those of the permission; `row` comes with its release."""
    require(actor, "release.view", row.release)
    whole = released_labels(row.release)
    (predicted,) = predictions(whole, [row])
    verdicts, facts = verdicts_of(whole, predicted), question_facts(whole)
    published = outputs_of(whole, predicted).column("published") > 0
    chosen = (verdicts != NOT_COUNTED) & np.isin(whole.subset, whole.subset[predicted.there])
    if verdict:
        chosen &= verdicts == VERDICTS.index(verdict)
    if subset:
        chosen &= np.isin(whole.subset, [at for at, name in enumerate(whole.subsets) if name == subset])
    return [
        AnsweredQuestion(
            at,
            whole.record_id[at],
            facts.uuid[at],
            whole.subsets[whole.subset[at]],
            VERDICTS[verdicts[at]],
            bool(published[at]),
        )
        for at in np.flatnonzero(chosen).tolist()
    ]


def is_asked(released: ReleasedLabels, ordinal: int) -> bool:
    """Whether models are asked the question of a record."""
    return has_questions(released) and bool(question_facts(released).asked[ordinal])


def answer_to(
    released: ReleasedLabels,
    predicted: Predictions,
    ordinal: int,
    record: Mapping[str, Any],
    reasons: Mapping[str, Any],
) -> AnsweredQuestion:
    """The answer of a model to one question that is asked, with its texts; `reasons`: what is kept of its
    line."""
    part = np.arange(released.n_records) == ordinal
    one, own = released.only(part), predicted.only(released, part)
    answered = AnsweredQuestion(
        ordinal,
        released.record_id[ordinal],
        question_facts(one).uuid[0],
        released.subsets[released.subset[ordinal]],
        VERDICTS[verdicts_of(one, own)[0]],
        bool(outputs_of(one, own).column("published")[0] > 0),
    )
    labels = dict(zip(one.message_index.tolist(), own.steps.tolist(), strict=True))
    return _with_texts(answered, record, reasons.get("output"), labels)


def with_texts(
    *, actor: Actor, row: PredictionSet, rows: Sequence[AnsweredQuestion]
) -> list[AnsweredQuestion]:
    """The same with what was said, and with the keys. Three queries and those of the permission. Raises
    Conflict on a damaged record."""
    require(actor, "release.view", row.release)
    if not rows:
        return []
    whole = released_labels(row.release)
    (predicted,) = predictions(whole, [row])
    starts, reasons = whole.starts(), _told(row, [one.ordinal for one in rows])
    bodies = ReleaseRecord.objects.filter(release=row.release, ordinal__in=reasons)
    records = {
        ordinal: parsed_record(record_id, body)
        for ordinal, record_id, body in bodies.values_list("ordinal", "record_id", "body")
    }

    def of(one: AnsweredQuestion) -> AnsweredQuestion:
        here = slice(starts[one.ordinal], starts[one.ordinal + 1])
        labels = dict(zip(whole.message_index[here].tolist(), predicted.steps[here].tolist(), strict=True))
        return _with_texts(one, records[one.ordinal], reasons[one.ordinal].get("output"), labels)

    return [of(one) for one in rows]


def _with_texts(
    one: AnsweredQuestion, record: Mapping[str, Any], output: str | None, labels: Mapping[int, int]
) -> AnsweredQuestion:
    asked = asked_question(record)
    if not isinstance(asked, AskedQuestion):
        return one
    return replace(one, output=output, read=_read(asked, output, labels), keys=_keys(asked))


def _keys(asked: AskedQuestion) -> tuple[tuple[str, str], ...]:
    """The keys of a question: of a choice the letters and what they stand for, else the accepted texts."""
    if asked.options:
        return tuple((one.letter, one.text) for one in asked.options if one.right)
    return tuple(("", key) for key in asked.keys)


def _read(asked: AskedQuestion, output: str | None, labels: Mapping[int, int]) -> str:
    if output is not None:
        return READINGS[str(asked.kind)](output).strict or ""
    given = [one for one in asked.options if labels.get(one.index, MISSING) == 1]
    return ",".join(one.letter for one in given)


def _told(row: PredictionSet, ordinals: Iterable[int]) -> dict[int, dict[str, Any]]:
    """The answers of the model about these records, by their places; those stored last count."""
    reasons: dict[int, dict[str, Any]] = {ordinal: {} for ordinal in ordinals}
    near = reduce(or_, (Q(first__lte=ordinal, last__gte=ordinal) for ordinal in reasons))
    kept = PredictionReasons.objects.filter(near, prediction_set=row).order_by("pk")
    for body in kept.values_list("body", flat=True).iterator(chunk_size=20):
        by_place = json.loads(zlib.decompress(bytes(body)))
        reasons |= {ordinal: by_place[str(ordinal)] for ordinal in reasons if str(ordinal) in by_place}
    return reasons
