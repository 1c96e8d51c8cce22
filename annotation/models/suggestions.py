"""Judges and what they propose. Sealed from annotators by policies.sight; filled by services.suggest."""

from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import VALUES

from .data import Step, Trajectory
from .projects import Project


class Judge(models.Model):
    """An LLM, a trained baseline or a file whose suggestions a project has."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=40)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="judge_name_once"),)

    def __str__(self) -> str:
        return self.name


class Suggestion(models.Model):
    """What one judge proposes for one trajectory; a missing outcome stays null."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="suggestions")
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="suggestions")
    outcome = models.SmallIntegerField(null=True, blank=True)
    reason = models.TextField(blank=True)
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
    """A judge's proposal for one step, with its reason; a missing label has no row or a null value."""

    suggestion = models.ForeignKey(
        Suggestion, on_delete=models.CASCADE, related_name="labels", db_index=False
    )
    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="+")
    value = models.SmallIntegerField(null=True, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("suggestion", "step"), name="suggested_label_once"),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(value__in=VALUES), name="suggested_label_value_known"
            ),
        )

    def __str__(self) -> str:
        return f"suggested label {self.pk}"
