"""Frozen releases. Rows of Release, ReleaseRecord and ReleaseLabel can be neither changed nor deleted, and
nothing can be added to a release that exists: triggers see to it on SQLite and on PostgreSQL
(annotation/models/frozen.py).

A release copies values. It is written records first, under an id chosen beforehand, and its own row last: the
row is what freezes it, so that no update is ever needed.
"""

import json
import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.releases.record_format import refuse_older_format
from annotation.core.vocabulary import VALUES

from .projects import Project


class Release(models.Model):
    """A frozen, numbered, checksummed copy of a project's consensus labels.

    `digest` is the sha256 of the canonical JSONL (all records in order, one line each); `manifest` is
    canonical JSON with the counts, the label distribution, the agreement figures, the versions, and the
    digest of the release before; `signature` is the JSON of services.release.signatures.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()
    version = models.CharField(max_length=40)
    note = models.TextField(blank=True)
    digest = models.CharField(max_length=64)
    record_count = models.PositiveIntegerField()
    label_count = models.PositiveIntegerField()
    manifest = models.TextField()
    signature = models.TextField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("project", "-number")
        constraints = (
            models.UniqueConstraint(fields=("project", "number"), name="release_number_once"),
            models.UniqueConstraint(fields=("project", "version"), name="release_version_once"),
        )

    def __str__(self) -> str:
        return self.version

    def parsed_manifest(self) -> dict[str, Any]:
        """The manifest. Raises Conflict for one of a format that is read no more."""
        manifest: dict[str, Any] = json.loads(self.manifest)
        refuse_older_format(manifest)
        return manifest


class ReleaseRecord(models.Model):
    """One trajectory of a release: `body` is its canonical JSON line, messages included (zlib-compressed)."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="records", db_index=False)
    ordinal = models.PositiveIntegerField()
    subset = models.CharField(max_length=64)
    record_id = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    body = models.BinaryField()

    class Meta:
        ordering = ("release", "ordinal")
        constraints = (
            models.UniqueConstraint(fields=("release", "ordinal"), name="release_ordinal_once"),
            models.UniqueConstraint(fields=("release", "subset", "record_id"), name="release_record_once"),
        )

    def __str__(self) -> str:
        return self.record_id


class ReleaseLabel(models.Model):
    """One label of a release; `message_index` null means the outcome."""

    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="labels", db_index=False)
    record = models.ForeignKey(ReleaseRecord, on_delete=models.PROTECT, related_name="labels", db_index=False)
    message_index = models.PositiveIntegerField(null=True, blank=True)
    value = models.SmallIntegerField()
    kind = models.CharField(max_length=12)

    class Meta:
        ordering = ("record", "message_index")
        constraints = (
            models.UniqueConstraint(
                fields=("record", "message_index"),
                condition=Q(message_index__isnull=False),
                name="release_label_once",
            ),
            models.UniqueConstraint(
                fields=("record",), condition=Q(message_index__isnull=True), name="release_outcome_once"
            ),
            models.CheckConstraint(condition=Q(value__in=VALUES), name="release_label_value_known"),
        )
        indexes = (models.Index(fields=("release", "value"), name="release_label_by_value"),)

    def __str__(self) -> str:
        return f"label {self.pk}"


class ReleaseWithdrawal(models.Model):
    """Says that a release is faulty; the release itself is never edited."""

    release = models.OneToOneField(Release, on_delete=models.PROTECT, related_name="withdrawal")
    reason = models.TextField()
    signature = models.TextField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"withdrawal of {self.release_id}"


class PublicRelease(models.Model):
    """The public address of a release, /public/<project>/<version>/. A row of its own, since the release's
    never changes; without one, as with `is_open` off, nobody outside the project may.

    `shows_leaderboard` adds how models score on it; `may_be_indexed` lets search engines list the address.
    """

    release = models.OneToOneField(
        Release, on_delete=models.PROTECT, primary_key=True, related_name="public_release"
    )
    is_open = models.BooleanField(default=False)
    shows_leaderboard = models.BooleanField(default=False)
    may_be_indexed = models.BooleanField(default=False)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    changed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"public address of {self.release_id}"
