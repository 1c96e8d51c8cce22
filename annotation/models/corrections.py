"""Corrections: what would have been right in the place of a first error, and who says so."""

from __future__ import annotations

import json
from functools import reduce
from operator import or_
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.core.decisions.corrections import CorrectionAnswer, CorrectionOrigin, ErrorClass
from annotation.core.vocabulary import CorrectionState

from .data import Step, Trajectory
from .judging.judges import Judge
from .projects import Project

ACTIVE_CORRECTIONS = (CorrectionState.OPEN, CorrectionState.SAVED)
"""A person has the step; nobody else can take it."""


def _one_of(name: str, values: type[Any], *, blank: bool = False) -> Q:
    return Q(**{f"{name}__in": [*([""] if blank else []), *(value.value for value in values)]})


_PERSON = Q(author__isnull=False, judge__isnull=True) & ~Q(state=CorrectionState.PROPOSED.value)
_PROPOSAL = Q(
    author__isnull=True,
    judge__isnull=False,
    state=CorrectionState.PROPOSED.value,
)
_ACTION = Q(answer=CorrectionAnswer.ACTION.value) & ~Q(message="") & ~Q(origin="")
_NO_ACTION = Q(message="", origin="") & ~Q(answer=CorrectionAnswer.ACTION.value)


class Correction(models.Model):
    """A person's correction of one step, or (`judge`) a judge's proposal for it, which is sealed until a
    person has saved theirs.

    `message` is the right action as canonical JSON (core.decisions.corrections.action), empty without one;
    `sibling` the step of another run that did it. `reason` is escaped (core.text). `version` counts what was
    saved. `proposals_seen_at` is when its author was first shown what judges propose.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="corrections", db_index=False)
    trajectory = models.ForeignKey(Trajectory, on_delete=models.CASCADE, related_name="corrections")
    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="corrections")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
    )
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    state = models.CharField(max_length=12, default=CorrectionState.OPEN.value)
    answer = models.CharField(max_length=16, blank=True)
    origin = models.CharField(max_length=12, blank=True)
    sibling = models.ForeignKey(
        Step, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", db_index=False
    )
    message = models.TextField(blank=True)
    error_class = models.CharField(max_length=24, blank=True)
    reason = models.TextField(blank=True)
    version = models.PositiveIntegerField(default=0)
    proposals_seen_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    saved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("step",),
                condition=Q(state__in=[state.value for state in ACTIVE_CORRECTIONS]),
                name="correction_active_once",
            ),
            models.UniqueConstraint(
                fields=("step", "judge"), condition=Q(judge__isnull=False), name="correction_proposed_once"
            ),
            models.UniqueConstraint(
                fields=("author", "project"),
                condition=Q(state=CorrectionState.OPEN.value),
                name="correction_open_once_a_person",
            ),
            models.CheckConstraint(condition=_PERSON | _PROPOSAL, name="correction_of_a_person_or_judge"),
            models.CheckConstraint(condition=_ACTION | _NO_ACTION, name="correction_action_has_a_message"),
            models.CheckConstraint(
                condition=Q(sibling__isnull=True) | Q(origin=CorrectionOrigin.SIBLING.value),
                name="correction_sibling_fits",
            ),
            models.CheckConstraint(
                condition=reduce(
                    or_,
                    (
                        Q(answer="", saved_at__isnull=True, state=CorrectionState.OPEN.value),
                        Q(answer="", saved_at__isnull=True, state=CorrectionState.WITHDRAWN.value),
                        ~Q(answer="") & Q(saved_at__isnull=False),
                    ),
                ),
                name="correction_saved_has_an_answer",
            ),
            models.CheckConstraint(
                condition=_one_of("state", CorrectionState)
                & _one_of("answer", CorrectionAnswer, blank=True)
                & _one_of("origin", CorrectionOrigin, blank=True)
                & _one_of("error_class", ErrorClass, blank=True),
                name="correction_words_known",
            ),
        )
        indexes = (models.Index(fields=("project", "state", "-id"), name="correction_by_state"),)

    def __str__(self) -> str:
        return f"correction {self.pk}"

    @property
    def action(self) -> dict[str, Any] | None:
        """The right action, as it would stand in a record; None without one."""
        message: dict[str, Any] | None = json.loads(self.message) if self.message else None
        return message
