"""Figures that are kept, for much work stands behind them."""

from django.db import models

from .projects import Project


class KeptFigures(models.Model):
    """The figures of a page of a project as they were worked out at `as_of` (services.kept_figures).

    `report` names what they are and `asked` what of it, with whoever they were made for: canonical JSON.
    `renewal_asked_at` is set while newer ones are waited for, `renewal_begun_at` while a worker makes them.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    report = models.CharField(max_length=40)
    asked = models.CharField(max_length=400)
    figures = models.TextField()
    as_of = models.DateTimeField()
    renewal_asked_at = models.DateTimeField(null=True, blank=True)
    renewal_begun_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "report", "asked"), name="kept_figures_once"),
        )

    def __str__(self) -> str:
        return f"{self.report} of {self.project_id}"
