"""Remarks to admins."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.models import AdminRemark
from annotation.services.remarks import MAX_REMARK

from .base import Input, Output, Query, StoredText, Whole

STATES = ("open", "closed", "all")


class RemarkFilter(Query):
    """Filters of the list of remarks."""

    state = serializers.ChoiceField(choices=STATES, default="open")


class Remark(Output):
    """A remark of an annotator, and its answer (empty: closed without one, or open). `message_index` is null
    where it is about the whole trajectory; `step` is the number of the step, from 1."""

    id = serializers.IntegerField(source="pk")
    assignment = serializers.IntegerField(source="assignment_id")
    trajectory = serializers.IntegerField(source="assignment.trajectory_id")
    record_id = StoredText(source="assignment.trajectory.record_id")
    annotator = serializers.CharField(source="assignment.annotator.username")
    message_index = serializers.IntegerField(source="step.message_index", default=None, allow_null=True)
    step = serializers.SerializerMethodField()
    text = StoredText()
    created_at = serializers.DateTimeField()
    answer = StoredText()
    closed_at = serializers.DateTimeField(allow_null=True)

    def get_step(self, row: AdminRemark) -> int | None:
        """The number of the step, from 1."""
        return row.step.ordinal + 1 if row.step is not None else None


class NewRemark(Input):
    """A remark on a step of one's own assignment, or without `message_index` on the whole."""

    text = serializers.CharField(max_length=MAX_REMARK)
    message_index = Whole(required=False, allow_null=True, max_value=MAX_INT)


class Answer(Input):
    """The answer to its author; without an answer the remark is only closed."""

    answer = serializers.CharField(max_length=MAX_REMARK, required=False, allow_blank=True, default="")
