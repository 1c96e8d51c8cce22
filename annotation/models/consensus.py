"""The resolved labels, the disputes in their way, and the cases that resolve these."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.core.disputes import DisputeKind
from annotation.core.resolution import Ruling
from annotation.core.vocabulary import (
    RULINGS,
    VALUES,
    AdjudicationState,
    CaseEventKind,
    ConsensusKind,
    SecondPersonState,
)

from .data import Step, Trajectory
from .projects import Project, Subset

CONSENSUS_KINDS = [kind.value for kind in ConsensusKind]
OF_KIND = {
    DisputeKind.SIGN_FLIP: Q(sign_flips__gt=0),
    DisputeKind.NEUTRAL_BOUNDARY: Q(neutral_boundaries__gt=0),
    DisputeKind.FIRST_ERROR: Q(first_error=True),
    DisputeKind.OUTCOME_ONLY: Q(disputed_steps=0),
}


class ConsensusFields(models.Model):
    """Fields that the consensus of a step and that of an outcome have in common.

    `reason` is the code of the scheme that the resolved value has. `resolved_by` is the adjudicator where one
    decided, `resolved_at` when the annotators came to agree or the adjudicator decided, `note` why (escaped);
    `created_at` is when the case was closed and the consensus written.
    """

    value = models.SmallIntegerField()
    kind = models.CharField(max_length=12)
    reason = models.CharField(max_length=40, blank=True)
    note = models.TextField(blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        abstract = True


class Consensus(ConsensusFields):
    """The resolved label of one step; `root` is the step at which the error began, where that is agreed."""

    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="consensus")
    step = models.OneToOneField(Step, on_delete=models.CASCADE, related_name="consensus")
    root = models.ForeignKey(Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+")

    class Meta:
        constraints = (
            models.CheckConstraint(condition=Q(value__in=VALUES), name="consensus_value_known"),
            models.CheckConstraint(condition=Q(kind__in=CONSENSUS_KINDS), name="consensus_kind_known"),
            models.CheckConstraint(
                condition=Q(value=-1) | Q(root__isnull=True), name="consensus_root_of_errors_only"
            ),
        )

    def __str__(self) -> str:
        return f"consensus of step {self.step_id}"


class OutcomeConsensus(ConsensusFields):
    """The resolved outcome of one trajectory."""

    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, related_name="outcome_consensus")

    class Meta:
        indexes = (models.Index(fields=("created_at", "trajectory"), name="outcome_consensus_by_time"),)
        constraints = (
            models.CheckConstraint(condition=Q(value__in=VALUES), name="outcome_consensus_value_known"),
            models.CheckConstraint(
                condition=Q(kind__in=CONSENSUS_KINDS), name="outcome_consensus_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"outcome of {self.trajectory_id}"


class SecondPersonFit(models.Model):
    """The rule for a second person as it was made (core.scoring.second_person): from the trajectories whose
    pks are `taught`, and these `judges`. The one with the largest `number` is in force."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="second_person_fits", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    taught = models.JSONField()
    judges = models.JSONField()
    rule = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("project", "-number")
        constraints = (models.UniqueConstraint(fields=("project", "number"), name="second_person_fit_once"),)

    def __str__(self) -> str:
        return f"{self.number} trajectories of {self.project_id}"


class SecondPerson(models.Model):
    """Whether a trajectory that one person labels needs a second one. While it waits, it has one place
    instead of N; `doubt` is that about the person's labels (null: not known, which asks for a second)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, related_name="second_person")
    state = models.CharField(max_length=8, default=SecondPersonState.WAITING.value)
    doubt = models.FloatField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in SecondPersonState]),
                name="second_person_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state=SecondPersonState.WAITING.value, decided_at__isnull=True)
                | (~Q(state=SecondPersonState.WAITING.value) & Q(decided_at__isnull=False)),
                name="second_person_decided_has_time",
            ),
        )
        indexes = (models.Index(fields=("project", "state"), name="second_person_by_state"),)

    def __str__(self) -> str:
        return f"{self.state} for {self.trajectory_id}"


def all_places_free() -> Q:
    """The condition on trajectories that nobody holds or has submitted: as many places are free as they
    have."""
    return Q(free_slots=F("project__annotators_per_trajectory")) | Q(
        free_slots=1, second_person__state=SecondPersonState.WAITING.value
    )


class Dispute(models.Model):
    """The differences between a trajectory's annotators (core.disputes), worked out when the last labels came
    in.

    Blind labels do not change afterwards, so neither does this; it stays when the case is decided, which may
    be opened again. `disputed_steps` is the sum of sign flips and neutral boundaries.
    """

    trajectory = models.OneToOneField(
        Trajectory, on_delete=models.CASCADE, primary_key=True, related_name="dispute"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="+", db_index=False)
    disputed_steps = models.PositiveIntegerField()
    sign_flips = models.PositiveIntegerField()
    neutral_boundaries = models.PositiveIntegerField()
    first_error = models.BooleanField()
    outcome = models.BooleanField()
    arisen_at = models.DateTimeField()

    class Meta:
        ordering = ("arisen_at", "trajectory_id")
        indexes = (
            models.Index(fields=("project", "arisen_at", "trajectory"), name="dispute_by_age"),
            models.Index(fields=("subset", "arisen_at", "trajectory"), name="dispute_of_subset"),
            models.Index(fields=("project", "disputed_steps", "arisen_at"), name="dispute_by_size"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(disputed_steps=F("sign_flips") + F("neutral_boundaries")),
                name="dispute_steps_add_up",
            ),
            models.CheckConstraint(
                condition=Q(disputed_steps__gt=0) | Q(outcome=True), name="dispute_about_something"
            ),
        )

    def __str__(self) -> str:
        return f"dispute on {self.trajectory_id}"

    @property
    def kinds(self) -> tuple[DisputeKind, ...]:
        """Every kind of dispute that it is, the gravest first."""
        holds = {
            DisputeKind.SIGN_FLIP: self.sign_flips > 0,
            DisputeKind.NEUTRAL_BOUNDARY: self.neutral_boundaries > 0,
            DisputeKind.FIRST_ERROR: self.first_error,
            DisputeKind.OUTCOME_ONLY: self.disputed_steps == 0,
        }
        return tuple(kind for kind in DisputeKind if holds[kind])


def new_letter_seed() -> int:
    """A secret seed of a case's letters: nobody can guess it, and it fits a column."""
    return secrets.randbits(62)


class Adjudication(models.Model):
    """The case that resolves one disputed trajectory; at most one is open or decided at a time.

    `letter_seed` decides who is "A" and who "B" in it (reports.cases.side_by_side): drawn for each case and
    sent to
    nobody.
    """

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="adjudications", db_index=False
    )
    trajectory = models.ForeignKey(
        Trajectory, on_delete=models.CASCADE, related_name="adjudications", db_index=False
    )
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="adjudications"
    )
    state = models.CharField(max_length=12, default=AdjudicationState.OPEN.value)
    note = models.TextField(blank=True)
    letter_seed = models.PositiveBigIntegerField(default=new_letter_seed)
    opened_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-opened_at", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("trajectory",),
                condition=Q(state__in=[AdjudicationState.OPEN.value, AdjudicationState.DECIDED.value]),
                name="adjudication_once",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in AdjudicationState]),
                name="adjudication_state_known",
            ),
        )
        indexes = (
            models.Index(fields=("adjudicator", "project", "state"), name="adjudication_mine"),
            # the open ones of a project, of which there are few
            models.Index(fields=("project", "state", "trajectory"), name="adjudication_by_state"),
            # whether a trajectory has a case, for each trajectory of a list
            models.Index(fields=("trajectory", "adjudicator", "state"), name="adjudication_of_trajectory"),
        )

    def __str__(self) -> str:
        return f"adjudication {self.pk}"


class Decision(models.Model):
    """A decision of the adjudicator for one step, or (`step` null) for the outcome.

    `kind` "majority": the adjudicator let stand what most annotators say. `root` and `reason` are those of
    the error graph, where the adjudicator names them.
    """

    adjudication = models.ForeignKey(Adjudication, on_delete=models.CASCADE, related_name="decisions")
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    value = models.SmallIntegerField()
    kind = models.CharField(max_length=12, default=ConsensusKind.ADJUDICATED.value)
    root = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    reason = models.CharField(max_length=40, blank=True)
    note = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("adjudication", "step"), condition=Q(step__isnull=False), name="decision_once"
            ),
            models.UniqueConstraint(
                fields=("adjudication",), condition=Q(step__isnull=True), name="decision_of_outcome_once"
            ),
            models.CheckConstraint(condition=Q(value__in=VALUES), name="decision_value_known"),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in RULINGS]), name="decision_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(value=-1) | Q(root__isnull=True), name="decision_root_of_errors_only"
            ),
        )

    def __str__(self) -> str:
        return f"decision {self.pk}"

    def ruling(self) -> Ruling:
        """The decision as core.resolution reads it."""
        return Ruling(
            value=self.value,
            kind=ConsensusKind(self.kind),
            root=self.root_id,
            reason=self.reason,
            note=self.note,
            at=self.updated_at,
        )


class CaseEvent(models.Model):
    """The history of a case's decisions and of a consensus that was erased, append-only. `step` null means
    the outcome; `kind` says what happened, `detail` holds the origin, root and reason code of then."""

    adjudication = models.ForeignKey(Adjudication, on_delete=models.CASCADE, related_name="events")
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    kind = models.CharField(max_length=12)
    value = models.SmallIntegerField(null=True, blank=True)
    note = models.TextField(blank=True)
    detail = models.JSONField(default=dict, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in CaseEventKind]), name="case_event_kind_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
