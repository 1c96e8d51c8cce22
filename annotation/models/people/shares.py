"""The sharing of work: reservations, quotas, and days away."""

from django.conf import settings
from django.db import models

from ..data import Trajectory
from ..projects import Membership, Project, Subset


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
    """The number of trajectories that two people have in common, open and submitted ones. `first` has the
    lower key."""

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


class Quota(models.Model):
    """The most trajectories of a subset that a member may have, open and submitted ones; what was assigned to
    them they are given beyond it."""

    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="quotas", db_index=False
    )
    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="+", db_index=False)
    most = models.PositiveIntegerField()

    class Meta:
        ordering = ("membership", "subset__name")
        constraints = (models.UniqueConstraint(fields=("membership", "subset"), name="quota_once"),)

    def __str__(self) -> str:
        return f"at most {self.most}"


class DaysAway(models.Model):
    """Days, both ends included, on which a member is given nothing new, and none of their claims expires."""

    membership = models.ForeignKey(
        Membership, on_delete=models.CASCADE, related_name="days_away", db_index=False
    )
    first = models.DateField()
    last = models.DateField()

    class Meta:
        ordering = ("membership", "first", "pk")
        constraints = (
            models.UniqueConstraint(fields=("membership", "first", "last"), name="days_away_once"),
            models.CheckConstraint(
                condition=models.Q(last__gte=models.F("first")), name="days_away_in_order"
            ),
        )

    def __str__(self) -> str:
        return f"{self.first} – {self.last}"
