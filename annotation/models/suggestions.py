"""Judges, their runs and what they propose. Sealed from annotators by policies.access; filled by
services.suggest."""

import uuid
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.judging.settings import (
    NAME,
    PRICE_DIGITS,
    PRICE_PLACES,
    SETTINGS,
    JudgeSettings,
    named,
)
from annotation.core.vocabulary import VALUES, JudgeKind, SuggestionItemState, SuggestionRunState

from .data import Step, Trajectory
from .jobs import JobFields
from .projects import Project

MAX_CONCURRENCY = named("concurrency").maximum
# A judge has one run in these states at most: that is what makes its rate limit one for all workers.
UNFINISHED_RUNS = (
    SuggestionRunState.QUEUED.value,
    SuggestionRunState.RUNNING.value,
    SuggestionRunState.PAUSED.value,
)


class Judge(models.Model):
    """An LLM, a trained baseline or a file whose suggestions a project has.

    What its settings mean and may be is said in core.judging.settings; the columns have their names, and
    `sampling` holds those that are sent with each request, and nothing for what the server shall decide.
    `next_call_at` is when the rate limit lets the next call begin; it lies in the database, so that a worker
    that takes over does not begin with a burst. `details` is what a baseline or an imported judge says of
    itself (its figures, its file).
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(_("name"), max_length=NAME.max_length)
    kind = models.CharField(
        _("kind"), max_length=40, choices=[(kind.value, kind.value) for kind in JudgeKind]
    )
    model = models.CharField(_("model"), max_length=named("model").max_length, blank=True)
    base_url = models.CharField(_("address"), max_length=named("base_url").max_length, blank=True)
    key_name = models.CharField(
        _("environment variable of the key"), max_length=named("key_name").max_length, blank=True
    )
    sampling = models.JSONField(_("sampling parameters"), default=dict, blank=True)
    structured_output = models.CharField(
        _("structured output"), max_length=16, default=named("structured_output").default
    )
    with_reference = models.BooleanField(_("sees the reference answer"), default=False)
    context_tokens = models.PositiveIntegerField(
        _("context window in tokens"),
        default=named("context_tokens").default,
        validators=[MinValueValidator(named("context_tokens").minimum)],
    )
    price_input = models.DecimalField(
        _("price of input"),
        max_digits=PRICE_DIGITS,
        decimal_places=PRICE_PLACES,
        default=Decimal(0),
        validators=[MinValueValidator(0)],
    )
    price_output = models.DecimalField(
        _("price of output"),
        max_digits=PRICE_DIGITS,
        decimal_places=PRICE_PLACES,
        default=Decimal(0),
        validators=[MinValueValidator(0)],
    )
    price_cached = models.DecimalField(
        _("price of cached input"),
        max_digits=PRICE_DIGITS,
        decimal_places=PRICE_PLACES,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )
    rate_per_minute = models.PositiveIntegerField(
        _("calls per minute"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    concurrency = models.PositiveSmallIntegerField(
        _("calls at once"),
        default=named("concurrency").default,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_CONCURRENCY)],
    )
    timeout_seconds = models.PositiveIntegerField(
        _("longest call in seconds"),
        default=named("timeout_seconds").default,
        validators=[MinValueValidator(1), MaxValueValidator(named("timeout_seconds").maximum)],
    )
    prompt_version = models.CharField(_("prompt version"), max_length=40, blank=True)
    details = models.JSONField(default=dict, blank=True)
    next_call_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("project", "name")
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="judge_name_once"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in JudgeKind]), name="judge_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(concurrency__gte=1, concurrency__lte=MAX_CONCURRENCY),
                name="judge_concurrency_in_range",
            ),
            models.CheckConstraint(
                condition=Q(price_input__gte=0, price_output__gte=0), name="judge_prices_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(rate_per_minute__isnull=True) | Q(rate_per_minute__gte=1),
                name="judge_rate_positive",
            ),
        )

    def __str__(self) -> str:
        return self.name

    def setting_values(self) -> dict[str, Any]:
        """Name of a setting → its value; sampling parameters that are not there are left out."""
        columns = {one.name: getattr(self, one.name) for one in SETTINGS if not one.sampling}
        return {**columns, **self.sampling}

    @property
    def settings(self) -> JudgeSettings:
        """Its settings as providers and estimates take them."""
        return JudgeSettings.of(self.setting_values())


class SuggestionRun(JobFields):
    """One judge over many trajectories, which are its items.

    `selection` says how they were chosen and `estimate` what that was thought to cost. `lease_until` belongs
    to the worker that holds the run, also while it waits for calls in flight after a pause; `resend_at` is
    until when a queued run's job need not be sent again, `not_before` when the judge's server wants to be
    asked again. `deaths` counts workers that died one after the other without storing an answer.
    `stop_reason` is one sentence for people. `progress_*` count items; costs are US dollars.
    """

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="runs")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="suggestion_runs")
    selection = models.JSONField(default=dict, blank=True)
    estimate = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=12, default=SuggestionRunState.QUEUED.value)
    budget = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    cost = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))
    cost_estimated = models.BooleanField(default=False)
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    calls = models.BigIntegerField(default=0)
    clipped = models.BigIntegerField(default=0)
    labels_missing = models.BigIntegerField(default=0)
    labels_invalid = models.BigIntegerField(default=0)
    labels_extra = models.BigIntegerField(default=0)
    guideline_version = models.PositiveIntegerField(null=True, blank=True)
    deaths = models.PositiveSmallIntegerField(default=0)
    stop_reason = models.TextField(blank=True)
    resend_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("judge",), condition=Q(state__in=UNFINISHED_RUNS), name="suggestion_run_one_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in SuggestionRunState]),
                name="suggestion_run_state_known",
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gt=0), name="suggestion_run_budget_positive"
            ),
        )
        indexes = (models.Index(fields=("project", "-created_at"), name="suggestion_run_by_project"),)

    def __str__(self) -> str:
        return f"run {self.pk}"


class SuggestionItem(models.Model):
    """One trajectory of a run. `failure` is the kind of what went wrong, `message` a sentence about it."""

    run = models.ForeignKey(SuggestionRun, on_delete=models.CASCADE, related_name="items", db_index=False)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=8, default=SuggestionItemState.DUE.value)
    failure = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True)

    class Meta:
        ordering = ("run_id", "pk")
        constraints = (
            models.UniqueConstraint(fields=("run", "trajectory"), name="suggestion_item_once"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in SuggestionItemState]),
                name="suggestion_item_state_known",
            ),
        )
        indexes = (
            models.Index(
                fields=("run", "id"),
                name="suggestion_item_due",
                condition=Q(state=SuggestionItemState.DUE.value),
            ),
            models.Index(
                fields=("run", "failure"),
                name="suggestion_item_failed",
                condition=Q(state=SuggestionItemState.FAILED.value),
            ),
        )

    def __str__(self) -> str:
        return f"item {self.pk}"


class JudgeAnswer(models.Model):
    """One call of a judge as it went over the wire, kept for audit, answered or not.

    The id is made before the call, so that storing twice is storing once. `request` and `response` are
    zlib-compressed bytes without any key; a response is cut at 1 MB, and `response_size` says how long it
    was. `failure` is empty when the answer became a suggestion. `estimated`: the server did not count tokens,
    we did. `tries`: requests sent until then. `notes`: what was clipped, what was wrong with single labels,
    which model the server says it was.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(SuggestionRun, on_delete=models.CASCADE, related_name="answers", db_index=False)
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="answers")
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="+")
    attempt = models.PositiveIntegerField(default=1)
    request = models.BinaryField()
    response = models.BinaryField()
    response_size = models.BigIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    failure = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    estimated = models.BooleanField(default=False)
    cost = models.DecimalField(max_digits=18, decimal_places=10, default=Decimal(0))
    latency_ms = models.PositiveIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=1)
    notes = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("run_id", "created_at")
        indexes = (models.Index(fields=("run", "trajectory"), name="answer_by_run"),)

    def __str__(self) -> str:
        return f"answer {self.pk}"


class Suggestion(models.Model):
    """What one judge proposes for one trajectory; a missing outcome stays null.

    `missing` counts steps without a label, `invalid` entries that are not a label, `extra` labels of messages
    that are not steps. `run` and `answer` say where it comes from, `source` the file of an imported one.
    `comment` is the judge's own remark, or why it failed.
    """

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="suggestions")
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="suggestions")
    run = models.ForeignKey(
        SuggestionRun, on_delete=models.SET_NULL, null=True, blank=True, related_name="suggestions"
    )
    answer = models.OneToOneField(
        JudgeAnswer, on_delete=models.SET_NULL, null=True, blank=True, related_name="suggestion"
    )
    outcome = models.SmallIntegerField(null=True, blank=True)
    reason = models.TextField(blank=True)
    comment = models.TextField(blank=True)
    source = models.CharField(max_length=255, blank=True)
    missing = models.PositiveIntegerField(default=0)
    invalid = models.PositiveIntegerField(default=0)
    extra = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("judge", "trajectory"), name="suggestion_once"),
            models.CheckConstraint(
                condition=Q(outcome__isnull=True) | Q(outcome__in=VALUES), name="suggestion_outcome_known"
            ),
        )

    def __str__(self) -> str:
        return f"suggestion {self.pk}"


class SuggestedLabel(models.Model):
    """A judge's proposal for one step, with its reason; a missing label has no row or a null value.

    `probability` is the judge's own for this value, where it gives one (the baseline does).
    """

    suggestion = models.ForeignKey(
        Suggestion, on_delete=models.CASCADE, related_name="labels", db_index=False
    )
    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="+")
    value = models.SmallIntegerField(null=True, blank=True)
    reason = models.TextField(blank=True)
    probability = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("suggestion", "step"), name="suggested_label_once"),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(value__in=VALUES), name="suggested_label_value_known"
            ),
            models.CheckConstraint(
                condition=Q(probability__isnull=True) | Q(probability__gte=0, probability__lte=1),
                name="suggested_label_probability_in_range",
            ),
        )

    def __str__(self) -> str:
        return f"suggested label {self.pk}"
