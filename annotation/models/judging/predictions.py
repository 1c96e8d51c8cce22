"""Prompts for models and their predictions of a release. Nothing here is part of a release, and nothing here
changes one."""

import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.asking.settings import PromptSettings
from annotation.core.vocabulary import PromptSetState

from ..jobs import JobFields
from ..releases import Release
from .judges import Judge


class ReleaseOutline(models.Model):
    """A release without its messages: worked out of its records once, so that scoring and comparing releases
    need not read them.

    `labels` is core.scoring.labels.ReleasedLabels, packed; `details`, null until somebody asks for it, is
    core.releases.details.ReleasedDetails. `baseline` and `stacked` are packed predictions that are fitted on
    the release (services.evaluate): those of the trained baseline, and of all models together. NULL: to be
    fitted; empty: cannot be. `method` is the version of what is fitted; until `fit_again_at` nobody else
    needs to begin. `blind` are the blind labellings (core.scoring.blind); NULL: not read yet. `unlabelled`
    are the trajectories of the unlabelled part that the manifest names, packed as `labels` but without a
    label; empty: there is none.
    """

    release = models.OneToOneField(
        Release, on_delete=models.PROTECT, primary_key=True, related_name="outline"
    )
    labels = models.BinaryField()
    details = models.BinaryField(null=True, blank=True)
    baseline = models.BinaryField(null=True)
    stacked = models.BinaryField(null=True)
    method = models.CharField(max_length=20, blank=True)
    fit_again_at = models.DateTimeField(null=True)
    blind = models.BinaryField(null=True)
    unlabelled = models.BinaryField(null=True)

    def __str__(self) -> str:
        return f"outline of {self.release_id}"


class PredictionSet(models.Model):
    """One model's labels for a release.

    `labels` are packed, in the order of the release (core.scoring.labels.Predictions); `recalibrated` are the
    same after recalibration, as ReleaseOutline keeps what is fitted. `prompt_version`, `judged_on` and `cost`
    (US dollars, of the whole set) are what its importer says of it. `judge` is the judge of the project whose
    suggestions these are, if they are one's. `unlabelled` are its labels for the release's unlabelled part,
    if it has any; `powered` are its sums under the stack of judges (core.scoring.prediction_powered), NULL
    and empty as with what ReleaseOutline keeps.
    """

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="prediction_sets")
    model = models.CharField(max_length=120)
    prompt_version = models.CharField(max_length=80, blank=True)
    judged_on = models.DateField(null=True, blank=True)
    cost = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    judge = models.ForeignKey(
        Judge, on_delete=models.SET_NULL, null=True, blank=True, related_name="prediction_sets"
    )
    record_count = models.PositiveIntegerField()
    labels = models.BinaryField()
    recalibrated = models.BinaryField(null=True)
    unlabelled = models.BinaryField(null=True)
    powered = models.BinaryField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ("release", "model")
        constraints = (models.UniqueConstraint(fields=("release", "model"), name="prediction_set_once"),)

    def __str__(self) -> str:
        return self.model


class PredictionReasons(models.Model):
    """A model's reasons for its labels of up to 100 records: zlib-compressed JSON, {ordinal of the record:
    {"steps": {message index: reason}, "final": reason, "comment": text}}. `first` and `last` are the smallest
    and largest ordinal; sets may have several rows over the same range."""

    prediction_set = models.ForeignKey(
        PredictionSet, on_delete=models.CASCADE, related_name="reasons", db_index=False
    )
    first = models.PositiveIntegerField()
    last = models.PositiveIntegerField()
    body = models.BinaryField()

    class Meta:
        ordering = ("prediction_set", "first")
        indexes = (models.Index(fields=("prediction_set", "first"), name="prediction_reasons_by_set"),)

    def __str__(self) -> str:
        return f"reasons {self.pk}"


class OutsideNumber(models.Model):
    """A number of a model that comes from elsewhere, such as its own score on the task: `title` says of what.
    `model` is the name of a model on the leaderboard or of a policy model of the release, or of one that is
    not there yet."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="outside_numbers")
    title = models.CharField(max_length=80)
    model = models.CharField(max_length=120)
    value = models.FloatField()
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ("release", "title", "model")
        constraints = (
            models.UniqueConstraint(fields=("release", "title", "model"), name="outside_number_once"),
        )

    def __str__(self) -> str:
        return f"{self.title}, {self.model}"


class PromptSet(JobFields):
    """The prompts of a release under one name, made in the background.

    The release and `options` (core.asking.settings) make them, so that their text is not stored. `drawn` are
    the examples, `counts` what it comes to, both canonical JSON as `options` is; `marked` are its questions
    (core.asking.making.Marked); `digest` is the SHA-256 of the file. They are empty until it is made.
    `progress_*` count records read, of which each is read twice.
    """

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="prompt_sets", db_index=False)
    name = models.CharField(max_length=64)
    options = models.TextField()
    state = models.CharField(max_length=12, default=PromptSetState.QUEUED.value)
    drawn = models.TextField(blank=True)
    counts = models.TextField(blank=True)
    marked = models.BinaryField(default=bytes)
    digest = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("release", "-created_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("release", "name"), name="prompt_set_once"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in PromptSetState]),
                name="prompt_set_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state=PromptSetState.MADE.value) | ~Q(digest=""),
                name="prompt_set_digest_when_made",
            ),
        )
        indexes = (models.Index(fields=("release", "-created_at"), name="prompt_set_by_release"),)

    def __str__(self) -> str:
        return self.name

    @property
    def parsed_settings(self) -> PromptSettings:
        """The requested settings."""
        return PromptSettings.of_json(json.loads(self.options))

    @property
    def parsed_counts(self) -> dict[str, Any] | None:
        """Its counts; None until it is made."""
        counts: dict[str, Any] | None = json.loads(self.counts or "null")
        return counts
