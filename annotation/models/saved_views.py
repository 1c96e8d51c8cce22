"""Saved views: what a list was asked for, under a name."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .projects import Project

MAX_VIEW_NAME = 60


class SavedView(models.Model):
    """A name, and the query string of a list in a project; `owner` null: for all of its admins."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_views")
    list = models.CharField(max_length=40)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    name = models.CharField(max_length=MAX_VIEW_NAME)
    query = models.TextField()

    class Meta:
        ordering = ("name", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "list", "owner", "name"),
                condition=Q(owner__isnull=False),
                name="saved_view_once_a_person",
            ),
            models.UniqueConstraint(
                fields=("project", "list", "name"),
                condition=Q(owner__isnull=True),
                name="saved_view_once_a_project",
            ),
        )

    def __str__(self) -> str:
        return self.name
