"""The steps behind a number of agreement, with their labels."""

from __future__ import annotations

from rest_framework import serializers

from .base import Output, StoredText, Value


class LabelInList(Output):
    """The label of one annotator: the blind value, and the present one after discussion where they changed
    it."""

    annotator = serializers.CharField()
    value = Value()
    after_discussion = Value(source="now", allow_null=True)
    reason = serializers.CharField()
    note = StoredText()


class LabelsOfStep(Output):
    """One step with the labels that a figure compares; `message_index` is null for an outcome."""

    trajectory = serializers.IntegerField(source="trajectory.pk")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    message_index = serializers.IntegerField(allow_null=True)
    text = StoredText(help_text="How the step begins; of an outcome, the final answer.")
    labels = LabelInList(many=True)
