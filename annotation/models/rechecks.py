"""Rechecks: labels of resolved trajectories that are asked for once more, to learn how right they are."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import JudgeDoubt, Origin, RecheckKind, RecheckState

from .data import Trajectory
from .projects import Project, Subset

RECHECK_KINDS = [kind.value for kind in RecheckKind]
RECHECK_STATES = [state.value for state in RecheckState]
ORIGINS = [origin.value for origin in Origin]
DOUBTS = [doubt.value for doubt in JudgeDoubt]


class Stratum(models.Model):
    """Resolved trajectories that rechecks are drawn from together: of one subset, resolved in one way, about
    which judges agree or not.

    `considered` counts those that the draw has looked at, whether it chose them or not: each was the next
    number of its stratum (core.rechecks.sampling).
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="+", db_index=False)
    origin = models.CharField(max_length=12)
    doubt = models.CharField(max_length=12)
    considered = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "subset", "origin", "doubt"), name="stratum_once"),
            models.CheckConstraint(condition=Q(origin__in=ORIGINS), name="stratum_origin_known"),
            models.CheckConstraint(condition=Q(doubt__in=DOUBTS), name="stratum_doubt_known"),
        )

    def __str__(self) -> str:
        return f"{self.origin}, {self.doubt} in {self.subset_id}"


class Recheck(models.Model):
    """A resolved trajectory that somebody is asked to label once more, blind: a third person, or one of its
    annotators again (docs/sealing.md, "Rechecks").

    `annotator` is who is to be asked; null: there is nobody (yet) who has not had to do with it. `due_at`:
    not before then; `dealt_at`: since when it has been waiting for this person. The assignment that comes of
    it has no slot, and belongs to nothing that is made of the N annotators' labels.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8)
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    state = models.CharField(max_length=8, default=RecheckState.WAITING.value)
    due_at = models.DateTimeField()
    dealt_at = models.DateTimeField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("trajectory",), condition=Q(kind=RecheckKind.THIRD.value), name="recheck_third_once"
            ),
            models.UniqueConstraint(
                fields=("trajectory", "annotator"),
                condition=Q(kind=RecheckKind.RETEST.value),
                name="recheck_retest_once",
            ),
            models.CheckConstraint(condition=Q(kind__in=RECHECK_KINDS), name="recheck_kind_known"),
            models.CheckConstraint(condition=Q(state__in=RECHECK_STATES), name="recheck_state_known"),
            models.CheckConstraint(
                condition=Q(kind=RecheckKind.THIRD.value) | Q(annotator__isnull=False),
                name="recheck_retest_has_annotator",
            ),
        )
        indexes = (
            models.Index(
                fields=("annotator", "project", "due_at"),
                name="recheck_waiting",
                condition=Q(state=RecheckState.WAITING.value),
            ),
            models.Index(
                fields=("dealt_at",),
                name="recheck_dealt",
                condition=Q(kind=RecheckKind.THIRD.value, state=RecheckState.WAITING.value),
            ),
            models.Index(fields=("project", "kind", "state"), name="recheck_by_project"),
        )

    def __str__(self) -> str:
        return f"recheck {self.pk}"
