"""Assignments, labels, their history, and exposures."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.sharing.unused_claims import expires_at
from annotation.core.vocabulary import (
    VALUES,
    AssignmentState,
    Closes,
    ExpiryReason,
    ExposureKind,
    LabelSource,
)

from .data import Step, Trajectory
from .projects import Project
from .rechecks import Recheck

BY_PERSON = ("state", "submitted_at")
"""The order of somebody's assignments in a project in the index `assignment_mine`."""
ACTIVE_STATES = (AssignmentState.OPEN.value, AssignmentState.SUBMITTED.value)


class AssignmentsInSlots(models.Manager["Assignment"]):
    """The turns of the N annotators of each trajectory, and nobody else's: without rechecks."""

    def get_queryset(self) -> models.QuerySet["Assignment"]:
        return super().get_queryset().filter(recheck__isnull=True)


class LabelsInSlots(models.Manager[Any]):
    """Labels of the N annotators of each trajectory, and nobody else's: without rechecks."""

    def get_queryset(self) -> models.QuerySet[Any]:
        return super().get_queryset().filter(assignment__recheck__isnull=True)


class Assignment(models.Model):
    """One annotator's turn at one trajectory, in slot 0 … N−1.

    `slot` is null while the assignment is returned or expired: it keeps its draft and has lost its place.
    `recheck` is set when it is none of the N, but asked for once more; then it never has a slot. `objects`
    knows the N alone, here and in everything that hangs on an assignment; `stored` knows all, and is for
    what an annotator does with their own work.
    `needs_discussion` and `broken` are the annotator's flags on the whole trajectory; `active_ms` is how long
    they were at work on it, in milliseconds, idle time left out.
    `claim_key` is made by the page that claims: a double click sends the same one and gets the same
    assignment. `last_used_at` is the last report of work on it (labels saved since then count too), and
    `warned_at` when it was found unused for so long that it will expire; `expiry_reason` says why it did.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="assignments")
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="assignments")
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments"
    )
    slot = models.PositiveSmallIntegerField(null=True, blank=True)
    recheck = models.ForeignKey(
        Recheck, on_delete=models.CASCADE, null=True, blank=True, related_name="assignments", db_index=False
    )
    state = models.CharField(max_length=12, default=AssignmentState.OPEN.value)
    guideline_version = models.PositiveIntegerField(default=0)
    claim_key = models.CharField(max_length=64, null=True, blank=True)
    return_reason = models.TextField(blank=True)
    needs_discussion = models.BooleanField(default=False)
    broken = models.BooleanField(default=False)
    active_ms = models.PositiveBigIntegerField(default=0)
    imported = models.BooleanField(default=False)
    claimed_at = models.DateTimeField()
    last_used_at = models.DateTimeField()
    warned_at = models.DateTimeField(null=True, blank=True)
    expiry_reason = models.CharField(max_length=12, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    returned_at = models.DateTimeField(null=True, blank=True)

    objects = AssignmentsInSlots()
    stored = models.Manager["Assignment"]()

    class Meta:
        ordering = ("-claimed_at", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("trajectory", "slot"),
                condition=Q(state__in=ACTIVE_STATES),
                name="assignment_slot_once",
            ),
            models.UniqueConstraint(
                fields=("trajectory", "annotator"),
                condition=Q(recheck__isnull=True),
                name="assignment_annotator_once",
            ),
            # Of rechecks alone: hardly a row is one, and SQLite would else take these indexes to find those
            # that are none, and read every assignment there is.
            models.UniqueConstraint(
                fields=("recheck", "annotator"),
                condition=Q(recheck__isnull=False),
                name="assignment_recheck_annotator_once",
            ),
            models.UniqueConstraint(
                fields=("recheck",),
                condition=Q(recheck__isnull=False, state__in=ACTIVE_STATES),
                name="assignment_recheck_once",
            ),
            models.UniqueConstraint(fields=("annotator", "claim_key"), name="assignment_claim_key_once"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in AssignmentState]),
                name="assignment_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state__in=ACTIVE_STATES, recheck__isnull=True, slot__isnull=False)
                | Q(recheck__isnull=False, slot__isnull=True)
                | (~Q(state__in=ACTIVE_STATES) & Q(slot__isnull=True)),
                name="assignment_slot_while_active",
            ),
            models.CheckConstraint(
                condition=~Q(state=AssignmentState.SUBMITTED.value) | Q(submitted_at__isnull=False),
                name="assignment_submitted_has_time",
            ),
            models.CheckConstraint(
                condition=Q(
                    state=AssignmentState.EXPIRED.value,
                    expiry_reason__in=[reason.value for reason in ExpiryReason],
                )
                | (~Q(state=AssignmentState.EXPIRED.value) & Q(expiry_reason="")),
                name="assignment_expired_has_reason",
            ),
        )
        indexes = (
            # what somebody has, counted by state; and the list of what they submitted, the newest first
            models.Index(fields=("annotator", "project", "state", "submitted_at"), name="assignment_mine"),
            # Without it SQLite looks for a person’s assignment of a trajectory among all that they have, for
            # each of them anew.
            models.Index(fields=("trajectory", "annotator"), name="assignment_of_trajectory"),
            # the next and the previous one on the page one labels on, and whether somebody has any
            models.Index(fields=("annotator", "project", "id", "state", "recheck"), name="assignment_beside"),
            # what somebody was asked besides, of which there is little
            models.Index(
                fields=("annotator", "project", "state", "trajectory", "recheck"),
                name="assignment_rechecks",
                condition=Q(recheck__isnull=False),
            ),
            # with what the board counts of each person by day, and without the rows themselves
            models.Index(
                fields=("project", "state", "annotator", "imported", "submitted_at", "recheck"),
                name="assignment_by_state",
            ),
            models.Index(
                fields=("last_used_at",),
                name="assignment_unused",
                condition=Q(state=AssignmentState.OPEN.value),
            ),
        )

    def __str__(self) -> str:
        return f"assignment {self.pk}"

    @property
    def expires_at(self) -> datetime | None:
        """The time at which it ends unless it is used; None before its annotator has been warned. Asks for
        the project."""
        if self.state != AssignmentState.OPEN:
            return None
        return expires_at(self.project.claim_days, self.last_used_at, self.warned_at)


class ActiveTime(models.Model):
    """The time that somebody was at work in a project in one quarter of an hour, idle time left out.

    Quarters, because every time zone's days begin at one. `active_ms` is that of all their assignments, of
    whatever purpose, as they were reported in the quarter, and stays when one is returned or replaced.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    begins_at = models.DateTimeField()
    active_ms = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("project", "annotator", "begins_at"), name="active_time_once"),
        )
        # sums without the rows themselves, which stand in the order of time
        indexes = (
            models.Index(
                fields=("project", "annotator", "begins_at", "active_ms"), name="active_time_summed"
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator_id} in {self.project_id} from {self.begins_at}"


class LabelColumns(models.Model):
    """The columns of labels and outcome labels: `core.label_fields.OutcomeFields`, and the blind value.

    `blind_value` is the value at the first exposure: with `exposed_at` null there was none, and the value
    itself is blind; null with `exposed_at` set: there was no label yet, and none made since is blind.
    """

    value = models.SmallIntegerField(null=True, blank=True)
    unsure = models.BooleanField(default=False)
    flagged = models.BooleanField(default=False)
    note = models.TextField(blank=True)
    reason = models.CharField(max_length=40, blank=True)
    version = models.PositiveIntegerField(default=1)
    blind_value = models.SmallIntegerField(null=True, blank=True)
    exposed_at = models.DateTimeField(null=True, blank=True)
    updated_at = models.DateTimeField()

    class Meta:
        abstract = True


class Label(LabelColumns):
    """An annotator's label of one step: the columns of `core.label_fields.LabelFields`."""

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="labels", db_index=False
    )
    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="labels")
    source = models.CharField(max_length=12, blank=True)
    root = models.ForeignKey(Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    root_pinned = models.BooleanField(default=False)
    closes = models.CharField(max_length=12, blank=True)

    objects = LabelsInSlots()
    stored = models.Manager["Label"]()

    class Meta:
        # the columns, not the relations: those would bring their own orders, and two joins, along
        ordering = ("assignment_id", "step_id")
        # what was given or seen after something that tells of it
        indexes = (
            models.Index(fields=("assignment",), name="label_exposed", condition=Q(exposed_at__isnull=False)),
        )
        constraints = (
            models.UniqueConstraint(fields=("assignment", "step"), name="label_once"),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(value__in=VALUES), name="label_value_known"
            ),
            models.CheckConstraint(
                condition=Q(value__isnull=True, source="")
                | Q(value__isnull=False, source__in=[source.value for source in LabelSource]),
                name="label_source_with_value",
            ),
            models.CheckConstraint(
                condition=Q(value=-1, root__isnull=False)
                | (~Q(value=-1) & Q(root__isnull=True))
                | Q(value__isnull=True, root__isnull=True),
                name="label_root_of_errors_only",
            ),
            models.CheckConstraint(
                condition=Q(closes__in=[closes.value for closes in Closes]), name="label_closes_known"
            ),
        )

    def __str__(self) -> str:
        return f"label {self.pk}"


class OutcomeLabel(LabelColumns):
    """An annotator's label of the final result."""

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="outcome")

    objects = LabelsInSlots()
    stored = models.Manager["OutcomeLabel"]()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(value__in=VALUES), name="outcome_value_known"
            ),
        )

    def __str__(self) -> str:
        return f"outcome {self.pk}"


class LabelEvent(models.Model):
    """The history of an assignment, append-only: every change as it was made. `step` null means the
    outcome."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="events")
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    op_id = models.CharField(max_length=64, blank=True)
    kind = models.CharField(max_length=16)
    value = models.SmallIntegerField(null=True, blank=True)
    source = models.CharField(max_length=12, blank=True)
    version = models.PositiveIntegerField(default=0)
    detail = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField()

    objects = LabelsInSlots()
    stored = models.Manager["LabelEvent"]()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class SaveOperation(models.Model):
    """A batch of changes that has been applied, by its client-made `op_id`: repeating it changes nothing."""

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="operations", db_index=False
    )
    op_id = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    results = models.JSONField(default=list)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("assignment", "op_id"), name="operation_once"),)

    def __str__(self) -> str:
        return self.op_id


class Exposure(models.Model):
    """The moment a person first sees a suggestion, a consensus or another's label of a trajectory.

    `step` null means the whole trajectory; of suggestions, which are revealed step by step, the outcome.
    Whoever has been exposed to others' labels of a trajectory can no longer claim it.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="exposures", db_index=False
    )
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="exposures")
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=12)
    created_at = models.DateTimeField()

    class Meta:
        constraints = (
            # Two partial constraints, because SQLite has no NULLS NOT DISTINCT.
            models.UniqueConstraint(
                fields=("user", "trajectory", "step", "kind"),
                condition=Q(step__isnull=False),
                name="exposure_of_step_once",
            ),
            models.UniqueConstraint(
                fields=("user", "trajectory", "kind"), condition=Q(step__isnull=True), name="exposure_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in ExposureKind]), name="exposure_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} saw {self.kind} of {self.trajectory_id}"
