"""The verdicts of judges that are asked before people (docs/judges.md, "Judges first")."""

from django.db import models
from django.db.models import Q

from annotation.core.decisions.judges_first import JudgesFirst

from .data import Trajectory
from .projects import Project


class JudgesFirstVerdict(models.Model):
    """What judges made of a trajectory before people were asked; each is considered once.

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
