"""Predictions of models on a release."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.figures.measure import MIN_TASKS
from annotation.core.text import unescape
from annotation.reports.evaluation.size_plan import MOST_RUNS, MOST_TASKS
from annotation.services.evaluate.outside_numbers import MAX_TITLE
from annotation.services.evaluate.store import MAX_MODEL, MAX_PROMPT_VERSION

from .base import MAX_BIGINT, Input, Output, Query, StoredText, Whole


class PredictionSet(Output):
    """The predictions of one model for a release; the figures stand in the leaderboard."""

    id = serializers.IntegerField()
    version = serializers.CharField(source="release.version")
    model = StoredText()
    prompt_version = StoredText()
    judged_on = serializers.DateField(allow_null=True)
    cost = serializers.DecimalField(max_digits=12, decimal_places=4, allow_null=True)
    judge = serializers.IntegerField(
        source="judge_id", allow_null=True, help_text="The judge of the project whose suggestions these are."
    )
    records = serializers.IntegerField(source="record_count")
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class PredictionSetDetail(PredictionSet):
    """With its scores in detail."""

    scores = serializers.SerializerMethodField()

    def get_scores(self, row: Any) -> dict[str, Any]:
        """The scores as on the leaderboard, with details of one model."""
        scores: dict[str, Any] = self.context["scores"]
        return scores


class PredictionOptions(Query):
    """Beside the file in a form, or in the query of a raw upload."""

    model = serializers.CharField(max_length=MAX_MODEL, help_text="Its name; a set of this name is extended.")
    subset = serializers.SlugField(required=False, max_length=64, help_text="Only its records.")
    strict = serializers.BooleanField(
        required=False, default=False, help_text="Refuse a file with records that the release lacks."
    )
    prompt_version = serializers.CharField(
        required=False, max_length=MAX_PROMPT_VERSION, help_text="What the model was asked with."
    )
    judged_on = serializers.DateField(required=False, help_text="When it was asked.")
    cost = serializers.DecimalField(
        required=False, max_digits=12, decimal_places=4, min_value=0, help_text="Of all of it, in US dollars."
    )


class ScoredBy(Query):
    """By what models are scored on a release that holds questions and pairs of options."""

    by = serializers.ChoiceField(
        choices=("questions", "pairs"),
        required=False,
        default="questions",
        help_text="Of a release that holds questions and pairs.",
    )


class RawPredictionOptions(PredictionOptions):
    """The options of a raw upload."""

    filename = serializers.CharField(required=False, max_length=255)


class PredictionUpload(PredictionOptions):
    """A file with its options."""

    file = serializers.FileField(allow_empty_file=True)


class PredictionImport(Output):
    """The result of an import. `created` and `unchanged` count records; `missing`, `invalid` and `failed`
    count what the file holds, stored now or before; `superseded` lines that a newer one replaced; `elsewhere`
    lines about records that the release lacks, left out; `unlabelled` records of its unlabelled part, stored
    now or before."""

    prediction_set = PredictionSet()
    created = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    missing = serializers.IntegerField()
    invalid = serializers.IntegerField()
    failed = serializers.IntegerField()
    superseded = serializers.IntegerField()
    elsewhere = serializers.IntegerField()
    unlabelled = serializers.IntegerField()


class JudgeToScore(Input):
    """A judge of the project."""

    judge = Whole(min_value=1, max_value=MAX_BIGINT)


class ScoredJudge(Output):
    """The result of scoring a judge, in records. `created`: new in the set; `unchanged`: there already;
    `failed`: the judge was asked in vain; `absent`: it has said nothing of them; `changed`: their trajectory
    has other content now; `gone`: they have none. `missing` counts steps without a label."""

    prediction_set = PredictionSet()
    created = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    failed = serializers.IntegerField()
    absent = serializers.IntegerField()
    changed = serializers.IntegerField()
    gone = serializers.IntegerField()
    missing = serializers.IntegerField()


class JudgeCoverage(Output):
    """A judge on the release, in records: `suggested`; of the others `failed` and `pending`, which it can
    still be asked about (a run with this release). `prediction_set`: what has been scored of it."""

    judge = serializers.IntegerField(source="judge.pk")
    name = StoredText(source="judge.name")
    suggested = serializers.IntegerField()
    failed = serializers.IntegerField()
    pending = serializers.IntegerField()
    prediction_set = serializers.IntegerField(source="prediction_set.pk", allow_null=True, default=None)


class OutsideNumbers(Output):
    """Numbers of models that come from elsewhere, by the names of models."""

    title = StoredText()
    numbers = serializers.SerializerMethodField()

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_numbers(self, row: Any) -> dict[str, float]:
        """By name, as it was given."""
        return {unescape(name): value for name, value in row.numbers.items()}


class SetOutsideNumbers(Input):
    """Numbers under a title; null takes one away, and models that are not named keep theirs."""

    title = serializers.CharField(max_length=MAX_TITLE)
    numbers = serializers.DictField(child=serializers.FloatField(allow_null=True), allow_empty=False)


class PlannedSize(Query):
    """The size to plan for; by default the project's tasks and runs."""

    tasks = serializers.IntegerField(required=False, min_value=MIN_TASKS, max_value=MOST_TASKS)
    runs = serializers.IntegerField(required=False, min_value=1, max_value=MOST_RUNS)
