"""The columns that make a row the truth about a background job (docs/design.md, "Work in the background")."""

from django.db import models


class JobFields(models.Model):
    """Lease, heartbeat, progress and error of a job; the state itself is the concrete model's.

    A worker owns the row while `lease_until` lies in the future; a row that is running with a lease that ran
    out belongs to a worker that died, and the reaper queues it again.
    """

    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    progress_done = models.BigIntegerField(default=0)
    progress_failed = models.BigIntegerField(default=0)
    progress_total = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        abstract = True
