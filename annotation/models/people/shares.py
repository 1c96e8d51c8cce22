"""How the work is shared out: who is to label what."""

from django.conf import settings
from django.db import models

from ..data import Trajectory
from ..projects import Project


class Reservation(models.Model):
    """A place of a trajectory that is kept for one person, until they claim it, or may no longer.

    Others cannot take the places that a trajectory's reservations need: `Trajectory.reserved` counts them.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="reservations", db_index=False
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reservations", db_index=False
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("trajectory", "annotator"), name="reservation_once"),)
        indexes = (models.Index(fields=("annotator", "project"), name="reservation_of_person"),)

    def __str__(self) -> str:
        return f"{self.trajectory_id} for {self.annotator_id}"


class Meeting(models.Model):
    """How many trajectories two people have in common, open and submitted ones. `first` has the lower key."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    first = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    second = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    number = models.PositiveIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "first", "second"), name="meeting_once"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="meeting_in_order"),
        )
        indexes = (models.Index(fields=("project", "second"), name="meeting_of_second"),)

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id} in {self.project_id}"
