"""Runs of judges and what they propose. Sealed from annotators by policies.access; filled by
services.suggest."""

import uuid
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import VALUES, SuggestionItemState, SuggestionRunState

from ..data import Step, Trajectory
from ..jobs import JobFields
from ..projects import Project
from .judges import Judge
from .predictions import PromptSet

# A judge has one run in these states at most: that is what makes its rate limit one for all workers.
UNFINISHED_RUNS = (
    SuggestionRunState.QUEUED.value,
    SuggestionRunState.RUNNING.value,
    SuggestionRunState.PAUSED.value,
)


class SuggestionRun(JobFields):
    """One judge over many trajectories, which are its items.

    `selection` says how they were chosen and `estimate` what that was thought to cost. `lease_until` belongs
    to the worker that holds the run, also while it waits for calls in flight after a pause; `resend_at` is
    until when a queued run's job need not be sent again, `not_before` when the judge's server wants to be
    asked again. `deaths` counts workers that died one after the other without storing an answer.
    `stop_reason` is one sentence for people. `progress_*` count items; costs are US dollars.

    A run with `options` asks for no labels but for distractors, until each question has so many options;
    `distractors` counts what came of it (services.suggest.distractors). Two of these in a project would pay
    for the same questions, so that there is one at a time. A run over `prompts` asks those that are for
    testing, and keeps the answers as text (services.evaluate.asked_judge).
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
    labels_order_dependent = models.BigIntegerField(default=0)
    options = models.PositiveSmallIntegerField(null=True, blank=True)
    distractors = models.JSONField(default=dict, blank=True)
    prompts = models.ForeignKey(
        PromptSet, on_delete=models.PROTECT, null=True, blank=True, related_name="runs"
    )
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
            models.UniqueConstraint(
                fields=("project",),
                condition=Q(state__in=UNFINISHED_RUNS, options__isnull=False),
                name="suggestion_run_writes_one_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(options__isnull=True) | Q(options__gte=2), name="suggestion_run_options_several"
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
    was. Of a trajectory that was asked about in parts they hold all calls, one after the other. `failure` is
    empty when the whole answer became a suggestion. `estimated`: the server did not count tokens, we did.
    `tries`: requests sent until then. `notes`: what was clipped, what was wrong with single labels, which
    model the server says it was.
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


class LiveSuggestions(models.Manager["Suggestion"]):
    """Without what a file brings that is not whole yet."""

    def get_queryset(self) -> models.QuerySet["Suggestion"]:
        return super().get_queryset().filter(live=True)


class LiveSuggestedLabels(models.Manager["SuggestedLabel"]):
    """The labels of live suggestions."""

    def get_queryset(self) -> models.QuerySet["SuggestedLabel"]:
        return super().get_queryset().filter(suggestion__live=True)


class Suggestion(models.Model):
    """The suggestion of one judge for one trajectory; a missing outcome stays null.

    `missing` counts steps without a label, `invalid` entries that are not a label, `extra` labels of messages
    that are not steps, `order_dependent` options whose label differed between two orders. `run` and `answer`
    say where it comes from, `source` the file of an imported one.
    `comment` is the judge's own remark, or why it failed. `live` is False while a file is being imported:
    `objects` begins to know its suggestions when all of them are there.
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
    order_dependent = models.PositiveIntegerField(default=0)
    live = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    objects = LiveSuggestions()
    stored = models.Manager["Suggestion"]()

    class Meta:
        indexes = (
            models.Index(fields=("judge", "created_at"), condition=Q(live=False), name="suggestion_not_live"),
        )
        constraints = (
            models.UniqueConstraint(fields=("judge", "trajectory"), name="suggestion_once"),
            models.CheckConstraint(
                condition=Q(outcome__isnull=True) | Q(outcome__in=VALUES), name="suggestion_outcome_known"
            ),
        )

    def __str__(self) -> str:
        return f"suggestion {self.pk}"


class SuggestedLabel(models.Model):
    """A judge's proposal for one step, with its reason; a missing label has no row or a null value,
    and then a reason if something is known of why.

    `probability` is the judge's own for this value, where it gives one (the baseline does). `recalibrated`:
    what the resolved labels of other tasks make of it, while that is switched on for the judge.
    """

    suggestion = models.ForeignKey(
        Suggestion, on_delete=models.CASCADE, related_name="labels", db_index=False
    )
    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="+")
    value = models.SmallIntegerField(null=True, blank=True)
    reason = models.TextField(blank=True)
    probability = models.FloatField(null=True, blank=True)
    recalibrated = models.SmallIntegerField(null=True, blank=True)

    objects = LiveSuggestedLabels()
    stored = models.Manager["SuggestedLabel"]()

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
            models.CheckConstraint(
                condition=Q(recalibrated__isnull=True) | Q(recalibrated__in=VALUES),
                name="suggested_label_recalibrated_known",
            ),
        )

    def __str__(self) -> str:
        return f"suggested label {self.pk}"
