"""The arms of a project's experiment and its interim analyses."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.influence.experiment import Arm

from ..data import Task
from ..projects import Project


class Allocation(models.Model):
    """The arm of a person on a task, dealt when they first claim one of its runs; the order in which arms
    were dealt is that of the keys."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="allocations", db_index=False)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="allocations"
    )
    arm = models.CharField(max_length=12)
    dealt_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("task", "annotator"), name="allocation_once"),
            models.CheckConstraint(
                condition=Q(arm__in=[arm.value for arm in Arm]), name="allocation_arm_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator_id} on task {self.task_id}: {self.arm}"


class InterimAnalysis(models.Model):
    """A reading of what a running experiment shows, when `settled` of `planned` trajectories had all their
    labels; by nobody is by the operator. `percent` of the information decides how much of the level of
    significance it has spent (core.influence.interim_analysis): readings within the same hundredth are one.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="interim_analyses", db_index=False
    )
    percent = models.PositiveSmallIntegerField()
    settled = models.PositiveIntegerField()
    planned = models.PositiveIntegerField()
    looked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    looked_at = models.DateTimeField()

    class Meta:
        db_table = "annotation_interimlook"
        ordering = ("percent",)
        constraints = (
            models.UniqueConstraint(fields=("project", "percent"), name="interim_look_once"),
            models.CheckConstraint(
                condition=Q(percent__gte=1, percent__lte=100), name="interim_look_percent_in_range"
            ),
        )

    def __str__(self) -> str:
        return f"interim analysis at {self.percent} % of project {self.project_id}"
