"""Imported data: import files, tasks, trajectories with their raw bytes and their tags, and steps."""

import json
import re
import zlib
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.core.label_files import LABEL_FORMAT
from annotation.core.trajectories.trajectory import SourceLabel
from annotation.core.vocabulary import RESOLVED, ImportState, TrajectoryState

from .jobs import JobFields
from .projects import Project, Subset

MAX_TAG = 40
BEGINNING = 2_048
"""So many bytes of a content hold what it asks for, unless its source has a very long name."""
_STRING = rb'"(?:[^"\\]|\\.)*+"'
_HEAD = rb'\{"answer_text":(?:null|' + _STRING + rb'),"data_source":' + _STRING + rb","
_ASKED = re.compile(_HEAD + rb'"decision":(\{[^{}]*\})')
_ASKED_NOTHING = re.compile(_HEAD + rb'"hints"')
DERIVED = "derived"
"""The option of an import that names the release that it is derived from."""
EDITED_FORMAT = "edited"
"""The format of what no file has brought: a record that somebody has edited here."""


class ImportFile(JobFields):
    """One file on its way into a subset, and for ever after the source of what it brought.

    The bytes as they came lie under `stored_as` in the data directory until the import has ended; every
    record's own bytes are kept with its trajectory. `progress_*` count bytes read of the file. `errors` lists
    the first 1,000 as {"line", "field", "reason"}; `error_count` counts all. `options` says how the file is
    read beside its format (services.ingest.options). Of a published import, `notes` counts what was met
    (English words: how many) and `left_out` names what the file has and the trajectories have not;
    `standalone_turns_count` are the new records whose user turns are tasks of their own
    (core.trajectories.conversation_turns).

    A file of a person's labels (`format` is `LABEL_FORMAT`) has in `options` whose they are, and in `subset`
    where its records are looked for: empty for everywhere. `created_count` is its labelled trajectories.

    One that is derived from a release (`derived_from`) has no bytes under `stored_as`: its `sha256` is the
    digest of the release, and its size that of the release's files. Nor has one whose `format` is
    EDITED_FORMAT: it brought one record, which was edited here, and lists of imports leave it out.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="imports", null=True)
    filename = models.CharField(max_length=255)
    stored_as = models.CharField(max_length=255, blank=True)
    format = models.CharField(max_length=40, blank=True)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    replace = models.BooleanField(default=False)
    policy_models = models.JSONField(default=dict, blank=True)
    options = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=12, default=ImportState.UPLOADED.value)
    created_count = models.PositiveIntegerField(default=0)
    unchanged_count = models.PositiveIntegerField(default=0)
    replaced_count = models.PositiveIntegerField(default=0)
    step_count = models.PositiveIntegerField(default=0)
    standalone_turns_count = models.PositiveIntegerField(default=0)
    error_count = models.PositiveIntegerField(default=0)
    errors = models.JSONField(default=list, blank=True)
    notes = models.JSONField(default=dict, blank=True)
    left_out = models.JSONField(default=list, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes = (
            models.Index(fields=("project", "-created_at"), name="import_by_project"),
            models.Index(
                fields=("lease_until",),
                name="import_unfinished",
                condition=Q(
                    state__in=[
                        ImportState.UPLOADED.value,
                        ImportState.QUEUED.value,
                        ImportState.RUNNING.value,
                    ]
                ),
            ),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in ImportState]), name="import_state_known"
            ),
            models.CheckConstraint(
                condition=Q(subset__isnull=False) | Q(format=LABEL_FORMAT), name="import_of_runs_has_a_subset"
            ),
        )

    def __str__(self) -> str:
        return self.filename

    @property
    def target(self) -> Subset:
        """The subset that a file of trajectories comes into."""
        assert self.subset is not None
        return self.subset

    @property
    def derived_from(self) -> dict[str, Any]:
        """The release that it is derived from, and how (services.derive); empty for a file."""
        derived: dict[str, Any] = self.options.get(DERIVED, {})
        return derived

    @property
    def offers_suspension(self) -> bool:
        """Whether to suggest suspension of error runs at user messages, which its subset does not have yet:
        most of what it brought are tasks in turns that stand alone."""
        if self.format == LABEL_FORMAT:
            return False
        brought = self.created_count + self.replaced_count
        return self.standalone_turns_count * 2 > brought and not self.target.suspend_on_user_turn


class Task(models.Model):
    """The problem an agent was given. Texts are escaped (core.text); `key` is the task's identity in its
    subset."""

    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="tasks")
    key = models.CharField(max_length=255)
    question = models.TextField(_("question"), blank=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("subset", "key"), name="task_key_once"),)

    def __str__(self) -> str:
        return self.key


class Trajectory(models.Model):
    """One run of one policy model on a task.

    `live` is what everybody sees: an import's rows turn live together when it is published; a replaced row
    stops being live. `training`, never live, has a key to learn from or be checked with (docs/training.md),
    is in no queue, figure or release, and `copy_of` another where its content is that of one. `free_slots`
    is N minus the open and submitted assignments, kept by guarded updates, and `reserved` how many of the
    free ones are kept for the people of its reservations. `position` orders the queue. `step_count` is
    denormalised from the steps because lists show it, and so are
    `agreement` and `doubt`, which lists sort by: the share of steps that all annotators gave the same value
    (0 … 1; null before all labels are in, and with one annotator), and how far the judges disagree
    (core.influence.triage.contested; null with fewer than two judges). `stratum` is
    where it was considered for rechecks; null: not yet.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trajectories")
    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="trajectories")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="trajectories")
    source = models.ForeignKey(ImportFile, on_delete=models.CASCADE, related_name="trajectories")
    record_id = models.CharField(max_length=255)
    data_source = models.CharField(max_length=255, blank=True)
    query_index = models.BigIntegerField(null=True, blank=True)
    sample_index = models.BigIntegerField(null=True, blank=True)
    policy_model = models.CharField(max_length=120, blank=True)
    content_digest = models.CharField(max_length=64)
    message_count = models.PositiveIntegerField()
    step_count = models.PositiveIntegerField()
    line = models.PositiveIntegerField(default=0)
    live = models.BooleanField(default=False)
    training = models.BooleanField(default=False)
    copy_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="copies", db_index=False
    )
    position = models.BigIntegerField()
    free_slots = models.SmallIntegerField()
    # with a default of the database: imports write rows by themselves
    reserved = models.SmallIntegerField(default=0, db_default=0)
    state = models.CharField(max_length=12, default=TrajectoryState.LABELLING.value)
    stratum = models.ForeignKey(
        "Stratum", on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    agreement = models.FloatField(null=True, blank=True)
    doubt = models.FloatField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "trajectories"
        ordering = ("position", "pk")
        constraints = (
            models.UniqueConstraint(
                fields=("subset", "record_id"), condition=Q(live=True), name="trajectory_record_live_once"
            ),
            models.UniqueConstraint(
                fields=("source", "record_id"),
                condition=Q(copy_of__isnull=True),
                name="trajectory_record_once_per_import",
            ),
            models.UniqueConstraint(
                fields=("subset", "record_id"),
                condition=Q(training=True),
                name="trajectory_record_training_once",
            ),
            models.CheckConstraint(
                condition=Q(live=False) | Q(training=False, copy_of__isnull=True),
                name="trajectory_live_or_training",
            ),
            models.CheckConstraint(condition=Q(free_slots__gte=0), name="trajectory_free_slots_not_negative"),
            models.CheckConstraint(
                condition=Q(reserved__gte=0, reserved__lte=F("free_slots")), name="trajectory_reserved_fits"
            ),
            models.CheckConstraint(condition=Q(step_count__gte=1), name="trajectory_has_a_step"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in TrajectoryState]),
                name="trajectory_state_known",
            ),
        )
        indexes = (
            models.Index(
                fields=("project", "position"),
                name="trajectory_claimable",
                condition=Q(live=True, free_slots__gt=F("reserved")),
            ),
            models.Index(
                fields=("project", "state", "position"), name="trajectory_by_state", condition=Q(live=True)
            ),
            models.Index(fields=("subset", "position"), name="trajectory_by_subset", condition=Q(live=True)),
            # all that is counted of them by state, without the rows themselves
            models.Index(
                fields=("project", "state", "subset", "free_slots", "step_count"),
                name="trajectory_counted",
                condition=Q(live=True),
            ),
            models.Index(
                fields=("project", "id"),
                name="trajectory_unconsidered",
                condition=Q(live=True, stratum__isnull=True, state__in=[state.value for state in RESOLVED]),
            ),
            models.Index(
                fields=("stratum",), name="trajectory_by_stratum", condition=Q(stratum__isnull=False)
            ),
            models.Index(
                fields=("project", "subset", "position"),
                name="trajectory_training",
                condition=Q(training=True),
            ),
            models.Index(fields=("copy_of",), name="trajectory_copies", condition=Q(copy_of__isnull=False)),
            # The orders of the list; doubt has none, for few projects have judges enough.
            models.Index(fields=("project", "position"), name="trajectory_by_queue", condition=Q(live=True)),
            models.Index(
                fields=("project", "record_id"), name="trajectory_by_record", condition=Q(live=True)
            ),
            models.Index(
                fields=("project", "policy_model"), name="trajectory_by_model", condition=Q(live=True)
            ),
            models.Index(
                fields=("project", "step_count"), name="trajectory_by_steps", condition=Q(live=True)
            ),
            models.Index(
                fields=("project", "free_slots"), name="trajectory_by_slots", condition=Q(live=True)
            ),
            models.Index(
                fields=("project", "agreement", "id"), name="trajectory_by_agreement", condition=Q(live=True)
            ),
        )

    def __str__(self) -> str:
        return self.record_id

    @property
    def in_use(self) -> bool:
        """Whether somebody can be at work on it: `in_use` as a condition."""
        return self.live or self.training

    @property
    def keyed_by(self) -> int:
        """The trajectory (pk) that has its key, if it has none of its own: its original, else itself."""
        return self.copy_of_id or self.pk


def in_use(path: str = "") -> Q:
    """The condition on trajectories that somebody can be at work on: live ones, and those of training.
    `path`: how the rows asked for reach the trajectory, such as "trajectory__"."""
    return Q(**{f"{path}live": True}) | Q(**{f"{path}training": True})


class TrajectoryContent(models.Model):
    """The messages and the bytes they were read from, apart from the narrow rows that lists read.

    `content` is zlib-compressed canonical JSON of the parsed record (never its labels); `raw` the
    zlib-compressed bytes as they came in (or which trajectory has them: TrajectoryDraft.original_with), of
    which `raw_sha256` is the checksum before compression.
    `source_labels`: the labels, scores and verdicts that stood in a file of another program, zlib-compressed
    JSON (core.trajectories.trajectory.SourceLabel); null when there were none. For admins only.
    """

    trajectory = models.OneToOneField(
        Trajectory, on_delete=models.CASCADE, primary_key=True, related_name="content"
    )
    content = models.BinaryField()
    raw = models.BinaryField()
    raw_sha256 = models.CharField(max_length=64)
    source_labels = models.BinaryField(null=True)

    def __str__(self) -> str:
        return f"content of {self.trajectory_id}"

    def parsed(self) -> dict[str, Any]:
        """The parsed record (core.trajectories.trajectory.TrajectoryDraft.content), texts as in the file."""
        record: dict[str, Any] = json.loads(zlib.decompress(bytes(self.content)))
        return record

    def asked(self) -> dict[str, str] | None:
        """The request of a question (`decision` of `parsed`), None for what is none: read from the beginning
        of the content alone, whose keys are in order."""
        begin = zlib.decompressobj().decompress(bytes(self.content), BEGINNING)
        if matched := _ASKED.match(begin):
            asked: dict[str, str] = json.loads(matched[1])
            return asked
        return None if _ASKED_NOTHING.match(begin) else self.parsed().get("decision")

    def labels_of_source(self) -> tuple[SourceLabel, ...]:
        """The labels that stood in the file. For admins only: they tell a blind annotator what to think."""
        if self.source_labels is None:
            return ()
        rows = json.loads(zlib.decompress(bytes(self.source_labels)))
        return tuple(SourceLabel(*row) for row in rows)

    def raw_bytes(self) -> bytes:
        """The record as it came in. For those whose `field_access` has `raw` only: labels may stand in it."""
        return zlib.decompress(bytes(self.raw))


def with_trajectories(subsets: QuerySet[Subset]) -> QuerySet[Subset]:
    """The subsets that hold live trajectories: one that a file was only previewed for holds none. No query by
    itself."""
    return subsets.filter(Exists(Trajectory.objects.filter(subset=OuterRef("pk"), live=True)))


class Step(models.Model):
    """One assistant message, addressed by its index in the trajectory's messages.

    `after_user_turn`: a user message stands between the previous step and this one (the propagation rule
    asks).
    """

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="steps", db_index=False)
    message_index = models.PositiveIntegerField()
    ordinal = models.PositiveIntegerField()
    after_user_turn = models.BooleanField(default=False)

    class Meta:
        # the column, not the relation: that would bring its own order, and a join, along
        ordering = ("trajectory_id", "message_index")
        constraints = (models.UniqueConstraint(fields=("trajectory", "message_index"), name="step_once"),)

    def __str__(self) -> str:
        return f"step {self.message_index} of {self.trajectory_id}"


class Tag(models.Model):
    """A tag of a project. `key` is its name in one case of letters, which only one tag has."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tags", db_index=False)
    name = models.CharField(max_length=MAX_TAG)
    # folding makes up to three letters of one
    key = models.CharField(max_length=3 * MAX_TAG)

    class Meta:
        ordering = ("key",)
        constraints = (models.UniqueConstraint(fields=("project", "key"), name="tag_once"),)

    def __str__(self) -> str:
        return self.name


class TrajectoryTag(models.Model):
    """A tag on a trajectory, and who put it there: they see it while others' tags are kept from them."""

    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="+", db_index=False)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="+")
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("tag", "trajectory", "added_by"), name="trajectory_tag_once"),
        )

    def __str__(self) -> str:
        return f"tag {self.tag_id} on {self.trajectory_id}"
