"""Stored differences that the queue of disputes is filtered and sorted by."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from annotation.core.disputes import DisputeKind

from .data import Trajectory
from .projects import Project, Subset

OF_KIND = {
    DisputeKind.SIGN_FLIP: Q(sign_flips__gt=0),
    DisputeKind.NEUTRAL_BOUNDARY: Q(neutral_boundaries__gt=0),
    DisputeKind.FIRST_ERROR: Q(first_error=True),
    DisputeKind.OUTCOME_ONLY: Q(disputed_steps=0),
}


class Dispute(models.Model):
    """The differences between a trajectory's annotators (core.disputes), worked out when the last labels came
    in.

    Blind labels do not change afterwards, so neither does this; it stays when the case is decided, which may
    be opened again. `disputed_steps` is the sum of sign flips and neutral boundaries.
    """

    trajectory = models.OneToOneField(
        Trajectory, on_delete=models.CASCADE, primary_key=True, related_name="dispute"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="+", db_index=False)
    disputed_steps = models.PositiveIntegerField()
    sign_flips = models.PositiveIntegerField()
    neutral_boundaries = models.PositiveIntegerField()
    first_error = models.BooleanField()
    outcome = models.BooleanField()
    arisen_at = models.DateTimeField()

    class Meta:
        ordering = ("arisen_at", "trajectory_id")
        indexes = (
            models.Index(fields=("project", "arisen_at", "trajectory"), name="dispute_by_age"),
            models.Index(fields=("subset", "arisen_at", "trajectory"), name="dispute_of_subset"),
            models.Index(fields=("project", "disputed_steps", "arisen_at"), name="dispute_by_size"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(disputed_steps=models.F("sign_flips") + models.F("neutral_boundaries")),
                name="dispute_steps_add_up",
            ),
            models.CheckConstraint(
                condition=Q(disputed_steps__gt=0) | Q(outcome=True), name="dispute_about_something"
            ),
        )

    def __str__(self) -> str:
        return f"dispute on {self.trajectory_id}"

    @property
    def kinds(self) -> tuple[DisputeKind, ...]:
        """Every kind of dispute that it is, the gravest first."""
        holds = {
            DisputeKind.SIGN_FLIP: self.sign_flips > 0,
            DisputeKind.NEUTRAL_BOUNDARY: self.neutral_boundaries > 0,
            DisputeKind.FIRST_ERROR: self.first_error,
            DisputeKind.OUTCOME_ONLY: self.disputed_steps == 0,
        }
        return tuple(kind for kind in DisputeKind if holds[kind])
