"""Disputes and the cases that resolve them."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.vocabulary import AdjudicationState
from annotation.services.adjudicate import MAX_NOTE

from .base import Input, Output, StoredText, Value, Whole, words
from .people import Person
from .trajectories import LabelledItem, Side, Trajectory

STATES = words(AdjudicationState)


class Dispute(Output):
    """A disputed trajectory that nobody has taken."""

    trajectory = serializers.IntegerField(source="pk")
    record_id = StoredText()
    subset = serializers.CharField(source="subset.name")
    step_count = serializers.IntegerField()


class NewCase(Input):
    """Which disputed trajectory to take."""

    trajectory = Whole(min_value=1, max_value=2**63 - 1)


class CaseRow(Output):
    """One adjudicator's case in a list, which shows nothing that was said in it."""

    id = serializers.IntegerField()
    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    adjudicator = Person()
    state = serializers.ChoiceField(choices=STATES)
    opened_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)


class Case(CaseRow):
    """One's own case."""

    note = StoredText()


class Decision(Output):
    """What was decided for a step, or with `message_index` null for the outcome."""

    message_index = serializers.IntegerField(allow_null=True)
    value = Value()
    note = StoredText()
    version = serializers.IntegerField()
    updated_at = serializers.DateTimeField()


class CaseItem(LabelledItem):
    """One step or the outcome, with the labels and the decision."""

    decision = Decision(allow_null=True)


class CaseDetail(Output):
    """A case with A and B side by side. A case that was handed back shows no labels any more."""

    case = Case()
    annotators = Side(many=True)
    steps = CaseItem(many=True)
    outcome = CaseItem(allow_null=True)
    trajectory = Trajectory(allow_null=True)


class NewDecision(Input):
    """A decision on a disputed step, or with `message_index` null on the outcome."""

    message_index = Whole(allow_null=True, min_value=0, max_value=MAX_INT)
    value = Value()
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)
    version = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_INT,
        help_text="The version this is based on; 0 for none.",
    )


class Close(Input):
    """A note on the whole case."""

    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)
