"""The freezing of a release in the background."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import UNFINISHED_FREEZES, FreezeState

from .jobs import JobFields
from .projects import Project
from .releases import Release

UNFINISHED = [state.value for state in UNFINISHED_FREEZES]


class Freeze(JobFields):
    """One release on its way: what was asked for, and how far it has come.

    `leave_out` are names of subsets, sorted; `difficulty` are the ends of the band that picks decisions, NULL
    without one. `progress_*` count records read. `release` is set in the
    transaction that freezes it. Of a project one is unfinished at a time.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="freezes", db_index=False)
    version = models.CharField(max_length=40)
    title = models.CharField(max_length=200, blank=True)
    licence = models.TextField(blank=True)
    note = models.TextField(blank=True)
    leave_out = models.JSONField(default=list, blank=True)
    difficulty = models.JSONField(null=True, blank=True)
    state = models.CharField(max_length=12, default=FreezeState.QUEUED.value)
    release = models.OneToOneField(
        Release, on_delete=models.PROTECT, null=True, blank=True, related_name="freeze"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes = (models.Index(fields=("project", "-created_at"), name="freeze_by_project"),)
        constraints = (
            models.UniqueConstraint(
                fields=("project",), condition=Q(state__in=UNFINISHED), name="freeze_unfinished_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in FreezeState]), name="freeze_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state=FreezeState.FROZEN.value, release__isnull=False)
                | (~Q(state=FreezeState.FROZEN.value) & Q(release__isnull=True)),
                name="freeze_release_when_frozen",
            ),
        )

    def __str__(self) -> str:
        return self.version
