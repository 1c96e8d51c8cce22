"""Means to teach and to check annotators: keyed trajectories, the tutorial, tests, pilots (docs/training.md).

A keyed trajectory is `training` and never live, so that it is in no queue, figure or release. What somebody
labels of it is a `Recheck` of the kind tutorial, test, gold or pilot, and never one of the N.
"""

from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.training.choosing import FEWEST
from annotation.core.vocabulary import VALUES, AttemptState, KeyOrigin, PilotState

from ..data import Step, Trajectory
from ..projects import Project, Subset

MAX_ATTEMPTS = 20
MAX_WAIT_HOURS = 24 * 90


def _share(name: Any) -> models.FloatField:
    """A share from 0 to 1 that a test asks for; null: it is not asked."""
    return models.FloatField(
        name, null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)]
    )


def _in_range(*names: str) -> Q:
    condition = Q()
    for name in names:
        condition &= Q(**{f"{name}__isnull": True}) | Q(**{f"{name}__gte": 0, f"{name}__lte": 1})
    return condition


class KeyLabel(models.Model):
    """The label of a step, or (`step` null) of the outcome, in the key of a training trajectory: what an
    expert says, or the consensus that it was made of.

    `note` says why, in Markdown, and `reason` is a code of the label scheme; both are shown in the tutorial,
    and in a test's result. A copy (`Trajectory.copy_of`) has none: its key is that of its original.
    """

    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="key_labels", db_index=False
    )
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    value = models.SmallIntegerField()
    reason = models.CharField(max_length=40, blank=True)
    note = models.TextField(blank=True)
    origin = models.CharField(max_length=10)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("trajectory", "step"), condition=Q(step__isnull=False), name="key_label_once"
            ),
            models.UniqueConstraint(
                fields=("trajectory",), condition=Q(step__isnull=True), name="key_label_of_outcome_once"
            ),
            models.CheckConstraint(condition=Q(value__in=VALUES), name="key_label_value_known"),
            models.CheckConstraint(
                condition=Q(origin__in=[origin.value for origin in KeyOrigin]),
                name="key_label_origin_known",
            ),
        )

    def __str__(self) -> str:
        return f"key label {self.pk}"


class TutorialItem(models.Model):
    """A trajectory of a project's tutorial, at its place in it (from 0)."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="tutorial_items", db_index=False
    )
    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, related_name="tutorial_item")
    place = models.PositiveIntegerField()

    class Meta:
        ordering = ("project", "place")
        constraints = (models.UniqueConstraint(fields=("project", "place"), name="tutorial_place_once"),)

    def __str__(self) -> str:
        return f"{self.trajectory_id} in the tutorial of {self.project_id}"


class ProficiencyTest(models.Model):
    """A test of a project, by number (from 1): whoever passes it may label the subsets that ask for it
    (`Subset.required_test`).

    `agreement`, `error_recall` and `first_error` are the shares (0 … 1) to reach: of steps labelled as in the
    key, of the key's errors found, and of trajectories with an error whose first one was found; null: not
    asked. `attempts`: so many may fail; `wait_hours`: so long before the next. `each_guideline`: a new
    version of the guidelines asks for it again. `per_attempt`: of its items so many are drawn for an attempt;
    null: all. Items, marks and `per_attempt` are fixed by its first attempt.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tests", db_index=False)
    number = models.PositiveIntegerField()
    agreement = _share(_("agreement to reach"))
    error_recall = _share(_("share of errors to find"))
    first_error = _share(_("share of first errors to find"))
    attempts = models.PositiveSmallIntegerField(
        _("attempts"), default=3, validators=[MinValueValidator(1), MaxValueValidator(MAX_ATTEMPTS)]
    )
    wait_hours = models.PositiveIntegerField(
        _("hours before the next attempt"), default=24, validators=[MaxValueValidator(MAX_WAIT_HOURS)]
    )
    each_guideline = models.BooleanField(_("asked again for new guidelines"), default=False)
    per_attempt = models.PositiveSmallIntegerField(
        _("items of an attempt"), null=True, blank=True, validators=[MinValueValidator(FEWEST)]
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("project", "number")
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="test_number_once"),
            models.CheckConstraint(
                condition=_in_range("agreement", "error_recall", "first_error"), name="test_marks_in_range"
            ),
            models.CheckConstraint(
                condition=Q(agreement__isnull=False)
                | Q(error_recall__isnull=False)
                | Q(first_error__isnull=False),
                name="test_asks_something",
            ),
            models.CheckConstraint(
                condition=Q(attempts__gte=1, attempts__lte=MAX_ATTEMPTS, wait_hours__lte=MAX_WAIT_HOURS),
                name="test_attempts_in_range",
            ),
            models.CheckConstraint(
                condition=Q(per_attempt__isnull=True) | Q(per_attempt__gte=FEWEST),
                name="test_items_in_range",
            ),
        )

    def __str__(self) -> str:
        return f"test {self.number} of {self.project_id}"


class TestItem(models.Model):
    """A trajectory of a test, at its place in it (from 0)."""

    test = models.ForeignKey(ProficiencyTest, on_delete=models.CASCADE, related_name="items", db_index=False)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.PROTECT, related_name="test_items")
    place = models.PositiveIntegerField()

    class Meta:
        ordering = ("test", "place")
        constraints = (
            models.UniqueConstraint(fields=("test", "place"), name="test_place_once"),
            models.UniqueConstraint(fields=("test", "trajectory"), name="test_item_once"),
        )

    def __str__(self) -> str:
        return f"{self.trajectory_id} in {self.test_id}"


class TestAttempt(models.Model):
    """Somebody's attempt at a test, by number (from 1); its items are rechecks of the kind test.

    When it has ended, `agreement`, `error_recall` and `first_error` are what they reached (0 … 1; null where
    the key has no error). `guideline_version` is that of its beginning. `waived`: an admin has granted
    another in its place, so that it neither counts nor makes anybody wait.
    """

    test = models.ForeignKey(
        ProficiencyTest, on_delete=models.CASCADE, related_name="sittings", db_index=False
    )
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=8, default=AttemptState.RUNNING.value)
    guideline_version = models.PositiveIntegerField(default=0)
    waived = models.BooleanField(default=False)
    agreement = models.FloatField(null=True, blank=True)
    error_recall = models.FloatField(null=True, blank=True)
    first_error = models.FloatField(null=True, blank=True)
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("test", "annotator", "number"), name="attempt_number_once"),
            models.UniqueConstraint(
                fields=("test", "annotator"),
                condition=Q(state=AttemptState.RUNNING.value),
                name="attempt_running_once",
            ),
            models.CheckConstraint(
                condition=Q(state=AttemptState.RUNNING.value, ended_at__isnull=True)
                | Q(
                    state__in=[state.value for state in AttemptState if state != AttemptState.RUNNING],
                    ended_at__isnull=False,
                ),
                name="attempt_state_known",
            ),
        )

    def __str__(self) -> str:
        return f"attempt {self.number} at {self.test_id}"


class Pilot(models.Model):
    """A round on a few trajectories that everybody labels before the queue opens; at most one is running.

    Its trajectories are those of `subset`, a training subset, which needs no key for it. The gate opens when
    Krippendorff's α of its labels is above `bound` and, where `new_guidelines` asks so, guidelines newer than
    `guideline_version`, that of its beginning, are in force; `alpha` is what was reached.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pilots", db_index=False)
    subset = models.ForeignKey(Subset, on_delete=models.PROTECT, related_name="pilots")
    state = models.CharField(max_length=8, default=PilotState.RUNNING.value)
    bound = models.FloatField(_("Krippendorff’s α to reach"))
    new_guidelines = models.BooleanField(_("revised guidelines are needed"), default=False)
    guideline_version = models.PositiveIntegerField(default=0)
    alpha = models.FloatField(null=True, blank=True)
    begun_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("project",),
                condition=Q(state=PilotState.RUNNING.value),
                name="pilot_running_once",
            ),
            models.CheckConstraint(
                condition=Q(state=PilotState.RUNNING.value, ended_at__isnull=True)
                | Q(state__in=(PilotState.PASSED.value, PilotState.STOPPED.value), ended_at__isnull=False),
                name="pilot_state_known",
            ),
            models.CheckConstraint(condition=Q(bound__gte=-1, bound__lt=1), name="pilot_bound_in_range"),
        )

    def __str__(self) -> str:
        return f"pilot {self.pk}"
