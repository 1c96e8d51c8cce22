"""Rechecks: labels of resolved trajectories that are asked for once more; and audits of labels, which draw
them by chance and decide on them (docs/agreement.md, "Audits")."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.core.vocabulary import (
    OF_TRAINING,
    VALUES,
    AuditedState,
    JudgeDoubt,
    LabelAuditState,
    Origin,
    RecheckKind,
    RecheckState,
)

from .consensus import new_letter_seed
from .data import Step, Trajectory
from .projects import Project, Subset, new_recheck_seed

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


class LabelAudit(models.Model):
    """An audit of a project's labels; at most one is running.

    `wished` is the share of wrong steps below which it is to prove that the labels are. `seed` was drawn
    before the first trajectory and is secret: all draws follow from it, those that are added later too.
    `mixed`: the chance of a trajectory is not in proportion to its steps alone.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="label_audits")
    state = models.CharField(max_length=8, default=LabelAuditState.RUNNING.value)
    wished = models.FloatField()
    seed = models.PositiveBigIntegerField(default=new_recheck_seed, editable=False)
    mixed = models.BooleanField(default=False)
    begun_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("project",),
                condition=Q(state=LabelAuditState.RUNNING.value),
                name="label_audit_running_once",
            ),
            models.CheckConstraint(
                condition=Q(state=LabelAuditState.RUNNING.value, ended_at__isnull=True)
                | Q(state=LabelAuditState.ENDED.value, ended_at__isnull=False),
                name="label_audit_state_known",
            ),
            models.CheckConstraint(
                condition=Q(wished__gt=0, wished__lt=1), name="label_audit_wished_in_range"
            ),
        )

    def __str__(self) -> str:
        return f"label audit {self.pk}"


class AuditedTrajectory(models.Model):
    """A trajectory that an audit could draw, with its chance; and, once drawn, what became of it.

    `chance` is that of one draw, over all of the audit 1; `steps` and `origin` are those when it began.
    `wrong` counts the steps on which the consensus was wrong, and is set when it is done. `adjudicator` has
    the case, since `taken_at`, while it is decided, and has decided it afterwards; `letter_seed` draws in
    which order they see the three labels.
    """

    audit = models.ForeignKey(
        LabelAudit, on_delete=models.CASCADE, related_name="trajectories", db_index=False
    )
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="audited")
    steps = models.PositiveIntegerField()
    chance = models.FloatField()
    origin = models.CharField(max_length=12)
    state = models.CharField(max_length=8, default=AuditedState.LISTED.value)
    wrong = models.PositiveIntegerField(null=True, blank=True)
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    taken_at = models.DateTimeField(null=True, blank=True)
    letter_seed = models.PositiveBigIntegerField(default=new_letter_seed, editable=False)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("audit", "trajectory"), name="audited_once"),
            models.CheckConstraint(
                condition=Q(state__in=[state.value for state in AuditedState]), name="audited_state_known"
            ),
            models.CheckConstraint(
                condition=Q(state=AuditedState.DONE.value, wrong__isnull=False, done_at__isnull=False)
                | (~Q(state=AuditedState.DONE.value) & Q(wrong__isnull=True, done_at__isnull=True)),
                name="audited_wrong_when_done",
            ),
            models.CheckConstraint(
                condition=Q(wrong__isnull=True) | Q(wrong__lte=models.F("steps")),
                name="audited_wrong_at_most_steps",
            ),
            models.CheckConstraint(
                condition=Q(origin__in=[origin.value for origin in Origin]), name="audited_origin_known"
            ),
            models.CheckConstraint(condition=Q(chance__gt=0, chance__lte=1), name="audited_chance_in_range"),
        )
        indexes = (
            models.Index(
                fields=("audit", "state"),
                name="audited_unfinished",
                condition=Q(state__in=[AuditedState.READING.value, AuditedState.DECIDING.value]),
            ),
            models.Index(
                fields=("adjudicator",),
                name="audited_mine",
                condition=Q(state=AuditedState.DECIDING.value, adjudicator__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.trajectory_id} in label audit {self.audit_id}"


class AuditDraw(models.Model):
    """The `number`-th draw of an audit (from 0): with replacement, so a trajectory may have several."""

    audit = models.ForeignKey(LabelAudit, on_delete=models.CASCADE, related_name="draws", db_index=False)
    number = models.PositiveIntegerField()
    audited = models.ForeignKey(AuditedTrajectory, on_delete=models.CASCADE, related_name="draws")

    class Meta:
        ordering = ("audit", "number")
        constraints = (models.UniqueConstraint(fields=("audit", "number"), name="audit_draw_once"),)

    def __str__(self) -> str:
        return f"draw {self.number} of label audit {self.audit_id}"


class AuditRuling(models.Model):
    """The decision of an audit's adjudicator on a step, or (`step` null) on the outcome, where a reader and
    the consensus differed. `before` is what the consensus was: where it is another value, it was wrong, and
    is corrected. While its case is decided, one that was made since the case was taken is a draft."""

    audited = models.ForeignKey(
        AuditedTrajectory, on_delete=models.CASCADE, related_name="rulings", db_index=False
    )
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    before = models.SmallIntegerField()
    value = models.SmallIntegerField()
    note = models.TextField(blank=True)
    ruled_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    ruled_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("audited", "step"), condition=Q(step__isnull=False), name="audit_ruling_once"
            ),
            models.UniqueConstraint(
                fields=("audited",), condition=Q(step__isnull=True), name="audit_ruling_of_outcome_once"
            ),
            models.CheckConstraint(
                condition=Q(value__in=VALUES, before__in=VALUES), name="audit_ruling_value_known"
            ),
        )

    def __str__(self) -> str:
        return f"ruling {self.pk}"


def ruling_drafts() -> Q:
    """The condition on rulings that decide nothing yet: their case is open, and they are of who has it."""
    return Q(audited__state=AuditedState.DECIDING.value, ruled_at__gte=F("audited__taken_at"))


class Recheck(models.Model):
    """Somebody's turn at a trajectory that is none of the N: a resolved one labelled once more, blind, by one
    of the two readers of an audit or by one of its annotators again (docs/sealing.md, "Rechecks"); or a
    training trajectory, in the tutorial, a test, a pilot, or as gold (docs/training.md).

    `audited` is what an audit has drawn, of which this is one reading; `attempt` that at a test, of which
    this is one item.
    `annotator` is who is to be asked; null: there is nobody (yet) who has not had to do with it. `due_at`:
    not before then; `dealt_at`: since when it has been waiting for this person. The assignment that comes of
    it has no slot, and belongs to nothing that is made of the N annotators' labels. Of gold that has been
    held against its key, `agreed` of the key's `keyed` labels were as in it, when it was submitted at
    `answered_at`; what becomes of them when it is looked at again changes none of these.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="+")
    audited = models.ForeignKey(
        AuditedTrajectory, on_delete=models.CASCADE, null=True, blank=True, related_name="readings"
    )
    attempt = models.ForeignKey(
        "TestAttempt", on_delete=models.CASCADE, null=True, blank=True, related_name="turns"
    )
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
    keyed = models.PositiveIntegerField(null=True, blank=True)
    agreed = models.PositiveIntegerField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(keyed__isnull=True, agreed__isnull=True, answered_at__isnull=True)
                | Q(
                    kind=RecheckKind.GOLD.value,
                    keyed__gte=1,
                    agreed__lte=F("keyed"),
                    answered_at__isnull=False,
                ),
                name="recheck_marks_of_gold",
            ),
            models.UniqueConstraint(
                fields=("trajectory", "annotator"),
                condition=Q(kind=RecheckKind.RETEST.value),
                name="recheck_retest_once",
            ),
            models.CheckConstraint(condition=Q(kind__in=RECHECK_KINDS), name="recheck_kind_known"),
            models.CheckConstraint(condition=Q(state__in=RECHECK_STATES), name="recheck_state_known"),
            models.CheckConstraint(
                condition=~Q(kind=RecheckKind.RETEST.value) | Q(annotator__isnull=False),
                name="recheck_retest_has_annotator",
            ),
            models.CheckConstraint(
                condition=Q(kind=RecheckKind.AUDIT.value) | Q(audited__isnull=True),
                name="recheck_of_an_audit",
            ),
            models.CheckConstraint(
                condition=Q(kind=RecheckKind.TEST.value, attempt__isnull=False)
                | (~Q(kind=RecheckKind.TEST.value) & Q(attempt__isnull=True)),
                name="recheck_of_an_attempt",
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=[kind.value for kind in OF_TRAINING]) | Q(annotator__isnull=False),
                name="recheck_of_training_has_annotator",
            ),
            # once in the tutorial, in a pilot and as gold; in tests, once in each attempt
            models.UniqueConstraint(
                fields=("trajectory", "annotator", "kind"),
                condition=Q(kind__in=[kind.value for kind in OF_TRAINING], attempt__isnull=True),
                name="recheck_of_training_once",
            ),
            models.UniqueConstraint(
                fields=("attempt", "trajectory"),
                condition=Q(attempt__isnull=False),
                name="recheck_of_attempt_once",
            ),
            models.UniqueConstraint(
                fields=("audited", "annotator"),
                condition=Q(audited__isnull=False, annotator__isnull=False),
                name="recheck_reader_once",
            ),
        )
        indexes = (
            models.Index(
                fields=("annotator", "project", "due_at"),
                name="recheck_waiting",
                condition=Q(state=RecheckState.WAITING.value),
            ),
            models.Index(
                fields=("project", "annotator"),
                name="recheck_gold",
                condition=Q(kind__in=(RecheckKind.GOLD.value, RecheckKind.PILOT.value)),
            ),
            models.Index(
                fields=("project",),
                name="recheck_unmarked_gold",
                condition=Q(kind=RecheckKind.GOLD.value, state=RecheckState.DONE.value, agreed__isnull=True),
            ),
            models.Index(
                fields=("dealt_at",),
                name="recheck_dealt",
                condition=Q(kind=RecheckKind.AUDIT.value, state=RecheckState.WAITING.value),
            ),
            models.Index(fields=("project", "kind", "state"), name="recheck_by_project"),
        )

    def __str__(self) -> str:
        return f"recheck {self.pk}"
