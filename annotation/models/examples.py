"""Examples: resolved cases that teach, shown anonymously with the guidelines."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import VALUES

from .consensus import Adjudication
from .data import Step, Trajectory
from .projects import Project


class Example(models.Model):
    """A resolved case, or (`step` not null) one step of it, that shows how labels are meant.

    `value` is the consensus of then: when it is another one now, annotators are not shown the example.
    `title` and `text` are written for them, `excerpt` is the beginning of what the step says (all escaped).
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="examples")
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="+")
    adjudication = models.ForeignKey(Adjudication, on_delete=models.CASCADE, related_name="+")
    step = models.ForeignKey(Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    title = models.CharField(max_length=720)
    text = models.TextField()
    excerpt = models.TextField(blank=True)
    value = models.SmallIntegerField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("trajectory", "step"), condition=Q(step__isnull=False), name="example_of_step_once"
            ),
            models.UniqueConstraint(
                fields=("trajectory",), condition=Q(step__isnull=True), name="example_of_case_once"
            ),
            models.CheckConstraint(condition=Q(value__in=VALUES), name="example_value_known"),
        )

    def __str__(self) -> str:
        return f"example {self.pk}"
