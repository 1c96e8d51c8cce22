"""A judge as it is configured, samples for its prompts, and what judges make of trajectories before people
are asked."""

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.decisions.judges_first import JudgesFirst
from annotation.core.judging.kinds import KINDS
from annotation.core.judging.setting_kinds import PRICE_DIGITS, PRICE_PLACES
from annotation.core.judging.settings import NAME, SETTINGS, JudgeSettings, named

from ..data import Trajectory
from ..projects import Project
from ..versioned import Versioned

MAX_CONCURRENCY = named("concurrency").maximum


class JudgesInUse(models.Manager["Judge"]):
    """The judges of projects, without the trials of workshops."""

    def get_queryset(self) -> models.QuerySet["Judge"]:
        return super().get_queryset().filter(sample__isnull=True)


class Judge(Versioned, models.Model):
    """An LLM, a trained baseline or a file whose suggestions a project has.

    What its settings mean and may be is said in core.judging.settings; the columns have their names, and
    `sampling` holds those that are sent with each request, and nothing for what the server shall decide.
    `next_call_at` is when the rate limit lets the next call begin; it lies in the database, so that a worker
    that takes over does not begin with a burst. `details` is what a baseline or an imported judge says of
    itself (its figures, its file). With `recalibrate`, its labels are shown beside what the project's
    resolved labels make of them; `recalibration` says of how many, and `recalibrated_at` when that was
    (services.suggest.recalibration). `sample` is set of a workshop's trial: a judge's settings with another
    prompt, asked about that sample alone, whose suggestions are never live; `objects` does not know it.
    """

    EDITED = ("name", *(setting.name for setting in SETTINGS if not setting.sampling), "sampling")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(_("name"), max_length=NAME.max_length)
    kind = models.CharField(_("kind"), max_length=40, choices=[(kind, kind) for kind in KINDS])
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
    recalibrate = models.BooleanField(default=False)
    recalibration = models.JSONField(default=dict, blank=True)
    recalibrated_at = models.DateTimeField(null=True, blank=True)
    next_call_at = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)

    sample = models.ForeignKey(
        "WorkshopSample", on_delete=models.CASCADE, null=True, blank=True, related_name="trials"
    )

    objects = JudgesInUse()
    stored = models.Manager["Judge"]()

    class Meta:
        ordering = ("project", "name")
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="judge_name_once"),
            models.CheckConstraint(condition=Q(kind__in=list(KINDS)), name="judge_kind_known"),
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
        columns = {setting.name: getattr(self, setting.name) for setting in SETTINGS if not setting.sampling}
        return {**columns, **self.sampling}

    @property
    def settings(self) -> JudgeSettings:
        """Its settings as providers and estimates take them."""
        return JudgeSettings.of(self.setting_values())


class WorkshopSample(models.Model):
    """Resolved trajectories on which prompts of one judge are compared; never changed after it is drawn."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="samples")
    seed = models.PositiveIntegerField()
    trajectories = models.ManyToManyField(Trajectory, related_name="samples")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"sample {self.pk}"


class JudgesFirstVerdict(models.Model):
    """The verdict of judges on a trajectory before people were asked; each is considered once.

    `place` is a place of chance among all of its project: the first judged ones are `drawn`, so that people
    label them as well, in the queue like anything else. What an admin has sent back to people is of `people`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, related_name="judges_first")
    verdict = models.CharField(max_length=8)
    place = models.FloatField()
    drawn = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(verdict__in=[verdict.value for verdict in JudgesFirst]),
                name="judges_first_verdict_known",
            ),
            models.CheckConstraint(
                condition=Q(drawn=False) | Q(verdict=JudgesFirst.JUDGED.value), name="judges_first_drawn"
            ),
        )
        indexes = (models.Index(fields=("project", "verdict", "place"), name="judges_first_by_place"),)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.trajectory_id}"


def given_to_people() -> Q:
    """The condition on trajectories that people are asked about: their project does not ask judges first, or
    judges have left them to people."""
    left = JudgesFirstVerdict.objects.filter(
        Q(verdict=JudgesFirst.PEOPLE.value) | Q(drawn=True), trajectory=models.OuterRef("pk")
    )
    return Q(project__judges_first=False) | Q(models.Exists(left))
