"""Stored counts of agreement, so that figures need not read labels."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .data import Task, Trajectory
from .projects import Project, Subset


class PairedLabels(models.Model):
    """The blind labels of two annotators of one settled trajectory, side by side (services.pairing).

    Written in the transaction that settles the trajectory; from then on none of it can change. `first` has
    the smaller id. `steps` holds a byte for each step in order (core.agreement.label_pair_codec), `n` says
    how many of
    them have a label of both, and `outcome` is the same byte of the outcome. `first_guideline` and
    `second_guideline` are the versions in force when they submitted, `week` the Monday of the week of the
    later submission, as a proleptic Gregorian ordinal. What is repeated from the trajectory never changes
    there.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="+", db_index=False)
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="+", db_index=False)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="+", db_index=False)
    policy_model = models.CharField(max_length=120, blank=True)
    first = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    second = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    first_guideline = models.PositiveIntegerField()
    second_guideline = models.PositiveIntegerField()
    week = models.PositiveIntegerField()
    n = models.PositiveIntegerField()
    outcome = models.PositiveSmallIntegerField()
    steps = models.BinaryField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("trajectory", "first", "second"), name="paired_labels_once"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="paired_labels_in_order"),
        )
        indexes = (models.Index(fields=("project", "id"), name="paired_labels_by_project"),)

    def __str__(self) -> str:
        return f"labels of {self.first_id} and {self.second_id} of {self.trajectory_id}"
