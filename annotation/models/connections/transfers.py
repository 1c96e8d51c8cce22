"""Connections of projects to servers where runs lie, and what is pulled from there and pushed there."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.core.vocabulary import UNFINISHED_TRANSFERS, Direction, TransferState

from ..data import ImportFile
from ..jobs import JobFields
from ..projects import Project
from ..releases import Release


def new_uid() -> str:
    """An id that own labels carry on the server: no other connection has it."""
    return secrets.token_hex(8)


class Connection(models.Model):
    """A place on an outside server: `base_url` within the operator's list, the variable of the key by its
    name, the experiment or project there (`source`) and what of it is wanted (`filter`).

    Of a store, `source` is a pattern of files, `format` the importer that reads them (empty: recognised file
    by file), and `export_format` what releases are pushed as.

    What is pulled comes into `subset`. Pushed is the consensus; with `push_reasons` also the notes that
    adjudicators left. `uid` marks own labels on the server and is never changed.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="connections")
    name = models.CharField(_("name"), max_length=80)
    kind = models.CharField(_("kind"), max_length=20)
    base_url = models.CharField(_("address"), max_length=500)
    key_name = models.CharField(_("environment variable of the key"), max_length=120, blank=True)
    source = models.CharField(max_length=200)
    filter = models.CharField(_("filter"), max_length=1000, blank=True)
    format = models.CharField(_("format"), max_length=40, blank=True)
    export_format = models.CharField(_("format of releases"), max_length=40, blank=True)
    subset = models.SlugField(_("subset"), max_length=64)
    push_reasons = models.BooleanField(_("push notes of adjudicators"), default=False)
    uid = models.CharField(max_length=16, default=new_uid, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("name", "pk")
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="connection_name_once"),)

    def __str__(self) -> str:
        return self.name


class Transfer(JobFields):
    """One pull or push of a connection, or what it would bring (`dry`).

    `subset` is where a pull brings what it takes; with `versions` that are traces that have changed since
    they were labelled here, and nothing else. `counts` are numbers by name (services.connections); of what
    was left out the first 1,000 stand in `left_out` as {"id", "reason"}. `imported` is the import that takes
    a pull's traces over. `progress_*` count traces.

    Of a store, `release` is what is pushed, and `files` the first 1,000 files with what became of them:
    {"name", "what"}, and of a pull {"records", "imports"} besides.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="transfers")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    direction = models.CharField(max_length=4)
    dry = models.BooleanField(default=False)
    versions = models.BooleanField(default=False)
    subset = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=12, default=TransferState.QUEUED.value)
    counts = models.JSONField(default=dict, blank=True)
    left_out = models.JSONField(default=list, blank=True)
    files = models.JSONField(default=list, blank=True)
    imported = models.ForeignKey(
        ImportFile, on_delete=models.SET_NULL, null=True, blank=True, related_name="transfers"
    )
    release = models.ForeignKey(Release, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in TransferState]), name="transfer_state_known"
            ),
            models.CheckConstraint(
                condition=Q(direction__in=[direction.value for direction in Direction]),
                name="transfer_direction_known",
            ),
            models.UniqueConstraint(
                fields=("connection",),
                condition=Q(state__in=[state.value for state in UNFINISHED_TRANSFERS]),
                name="transfer_one_at_a_time",
            ),
        )
        indexes = (
            models.Index(
                fields=("lease_until",),
                name="transfer_unfinished",
                condition=Q(state__in=[state.value for state in UNFINISHED_TRANSFERS]),
            ),
        )

    def __str__(self) -> str:
        return f"{self.direction} {self.pk}"

    @property
    def is_pull(self) -> bool:
        """Whether it brings traces here."""
        return self.direction == Direction.PULL


class PushedRecord(models.Model):
    """The labels of a record that lie on the server. `digest` is that of what was pushed, empty while that is
    not known: before a push begins with it, and where something was left out. `spans` may have labels.

    In a store that is a release: its version, its folder and its files."""

    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="pushed", db_index=False
    )
    record_id = models.CharField(max_length=255)
    trace_id = models.CharField(max_length=255)
    digest = models.CharField(max_length=64, blank=True)
    spans = models.JSONField(default=list)
    pushed_at = models.DateTimeField()

    class Meta:
        ordering = ("connection", "record_id")
        constraints = (
            models.UniqueConstraint(fields=("connection", "record_id"), name="pushed_record_once"),
        )

    def __str__(self) -> str:
        return self.record_id


class PulledFile(models.Model):
    """A file of a store that was pulled: `mark` is what the store said of its content. With `held_back` it
    has records that changed after somebody began them, which only a pull of new versions brings."""

    connection = models.ForeignKey(
        Connection, on_delete=models.CASCADE, related_name="pulled", db_index=False
    )
    path = models.CharField(max_length=1000)
    mark = models.CharField(max_length=250)
    held_back = models.BooleanField(default=False)
    imports = models.ManyToManyField(ImportFile, related_name="pulled_files")
    pulled_at = models.DateTimeField()

    class Meta:
        ordering = ("connection", "path")
        constraints = (models.UniqueConstraint(fields=("connection", "path"), name="pulled_file_once"),)

    def __str__(self) -> str:
        return self.path
