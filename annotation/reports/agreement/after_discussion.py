"""Read what annotators changed in discussions, for figures of what they say after it."""

from __future__ import annotations

from django.db.models import Count, Exists, Max, OuterRef, Value
from django.db.models.functions import Coalesce

from annotation import models as m
from annotation.core.agreement.after_discussion import OUTCOME, RevisedLabels
from annotation.core.vocabulary import AssignmentState

from ..shared.integer_rows import integer_rows
from .paired_labels import KeptLabels

State = tuple[int, int]
"""The number of a project's revisions, and the newest: they are only ever added."""


def revised_labels(project: m.Project, kept: KeptLabels) -> tuple[RevisedLabels, State]:
    """Every change of mind in a project. One query, two when there are new ones."""
    # asked of each revision, of which there are few, and not of each assignment
    submitted = m.Assignment.objects.filter(
        pk=OuterRef("assignment"), project=project, state=AssignmentState.SUBMITTED
    )
    rows = m.Revision.objects.filter(Exists(submitted)).order_by()
    totals = rows.aggregate(count=Count("pk"), newest=Max("pk"))
    state = totals["count"], totals["newest"] or 0
    if not state[0]:
        return RevisedLabels.of([]), state

    def read() -> RevisedLabels:
        ordered = rows.annotate(ordinal=Coalesce("step__ordinal", Value(OUTCOME))).order_by("pk")
        columns = ("assignment__trajectory", "assignment__annotator", "value", "ordinal")
        return RevisedLabels.of(integer_rows(ordered.values_list(*columns), len(columns))[:, [0, 1, 3, 2]])

    return kept.result(("revised", state), read), state
