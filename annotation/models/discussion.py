"""Discussions of disputed trajectories: comments, changes of mind, and what each has read of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.vocabulary import VALUES, Voice

from .data import Step, Trajectory
from .labels import Assignment
from .projects import Project


class Discussion(models.Model):
    """The discussion of one disputed trajectory: a thread for each step and one for the whole, with the
    outcome.

    `letter_seed` decides who is "A" (reports.shared.pseudonyms): that of the case, so that the letters are
    the same
    there. `changed_at` is when something was last said.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="discussions")
    trajectory = models.OneToOneField(Trajectory, on_delete=models.CASCADE, related_name="discussion")
    letter_seed = models.PositiveBigIntegerField()
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )
    opened_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ("-changed_at", "-pk")
        indexes = (models.Index(fields=("project", "-changed_at"), name="discussion_newest"),)

    def __str__(self) -> str:
        return f"discussion {self.pk}"


class Comment(models.Model):
    """One remark in a thread; `step` null: the thread of the whole trajectory and its outcome.

    Append-only: nothing is edited. `retracted_at` is set when the author takes it back: then only that is
    shown. The text is escaped (core.text). `voice` says as whom the author spoke.
    """

    discussion = models.ForeignKey(
        Discussion, on_delete=models.CASCADE, related_name="comments", db_index=False
    )
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="comments")
    voice = models.CharField(max_length=12)
    text = models.TextField()
    created_at = models.DateTimeField()
    retracted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(
                condition=Q(voice__in=[voice.value for voice in Voice]), name="comment_voice_known"
            ),
        )
        indexes = (models.Index(fields=("discussion", "id"), name="comment_in_order"),)

    def __str__(self) -> str:
        return f"comment {self.pk}"


class Revision(models.Model):
    """A label that an annotator gives a step (`step` null: the outcome) after discussion, and why.

    Append-only, beside the labels and never in their place: the newest is what they say now. `previous` is
    the value they held before. `root` and `reason` are those of the error graph; `note` is why (escaped).
    """

    assignment = models.ForeignKey(
        Assignment, on_delete=models.CASCADE, related_name="revisions", db_index=False
    )
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    previous = models.SmallIntegerField(null=True)
    value = models.SmallIntegerField()
    root = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    reason = models.CharField(max_length=40, blank=True)
    note = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.CheckConstraint(condition=Q(value__in=VALUES), name="revision_value_known"),
            models.CheckConstraint(
                condition=Q(value=-1) | Q(root__isnull=True), name="revision_root_of_errors_only"
            ),
        )
        indexes = (models.Index(fields=("assignment", "step", "id"), name="revision_in_order"),)

    def __str__(self) -> str:
        return f"revision {self.pk}"


class ThreadRead(models.Model):
    """A person's place in a thread: `last_read` is the id of a comment."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    discussion = models.ForeignKey(Discussion, on_delete=models.CASCADE, related_name="read_marks")
    step = models.ForeignKey(
        Step, on_delete=models.CASCADE, null=True, blank=True, related_name="+", db_index=False
    )
    last_read = models.PositiveBigIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("user", "discussion", "step"),
                condition=Q(step__isnull=False),
                name="thread_read_of_step_once",
            ),
            models.UniqueConstraint(
                fields=("user", "discussion"), condition=Q(step__isnull=True), name="thread_read_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} read to {self.last_read}"
