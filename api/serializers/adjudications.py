"""Disputes and the cases that resolve them."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.disputes import DisputeKind
from annotation.core.vocabulary import RULINGS, AdjudicationState
from annotation.reports.cases.disputes import AGES, DISPUTE_SIZES, SORTS
from annotation.services.judged_steps import MAX_NOTE

from .base import Chosen, Input, Output, Query, Refusal, StoredText, Value, Whole, words
from .people import Person
from .trajectories import LabelledItem, Side, Trajectory

ADJUDICATION_STATES = words(AdjudicationState)
DISPUTE_KINDS = words(DisputeKind)


class DisputeFilter(Query):
    """A filter of the queue; filters combine. A filter or a value that does not exist is refused."""

    kind = serializers.ChoiceField(choices=DISPUTE_KINDS, required=False)
    subset = serializers.CharField(required=False)
    age = serializers.ChoiceField(
        choices=list(AGES), required=False, help_text="At least how long ago the last labels came in."
    )
    size = serializers.ChoiceField(
        choices=list(DISPUTE_SIZES), required=False, help_text="How many steps are disputed."
    )
    sort = serializers.ChoiceField(choices=list(SORTS), required=False, default="oldest")


class Dispute(Output):
    """A disputed trajectory that nobody has taken, and how its annotators differ: in how many steps they give
    +1 and −1 (`sign_flips`), or 0 and something else (`neutral_boundaries`); in where the first error is; in
    the outcome."""

    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="subset.name")
    step_count = serializers.IntegerField(source="trajectory.step_count")
    kinds = serializers.ListField(child=serializers.ChoiceField(choices=DISPUTE_KINDS))
    disputed_steps = serializers.IntegerField()
    sign_flips = serializers.IntegerField()
    neutral_boundaries = serializers.IntegerField()
    first_error = serializers.BooleanField()
    outcome = serializers.BooleanField()
    arisen_at = serializers.DateTimeField()


class NewCase(Input):
    """A disputed trajectory to take."""

    trajectory = Whole(min_value=1, max_value=2**63 - 1)


class NewAssignment(Input):
    """Disputed trajectories to assign, and their adjudicator."""

    trajectories = Chosen()
    adjudicator = serializers.CharField(
        required=False,
        max_length=150,
        help_text="A user name; without one they are shared evenly among all who have not labelled them.",
    )


class CasesTakenBack(Input):
    """Open cases to hand back in their adjudicators' place."""

    adjudications = Chosen()


class CaseRow(Output):
    """One adjudicator's case in a list, which shows nothing that was said in it."""

    id = serializers.IntegerField()
    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    adjudicator = Person()
    state = serializers.ChoiceField(choices=ADJUDICATION_STATES)
    opened_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)


class AssignedCases(Output):
    """The cases that adjudicators have now, and the trajectories (by `id`) of which nobody got the case."""

    cases = CaseRow(many=True)
    refused = Refusal(many=True)


class ReleasedCases(Output):
    """The cases that were handed back, and those of which nothing was done."""

    released = serializers.ListField(child=serializers.IntegerField())
    refused = Refusal(many=True)


class Case(CaseRow):
    """One's own case."""

    note = StoredText()


class Decision(Output):
    """The decision on a step, or with `message_index` null on the outcome."""

    message_index = serializers.IntegerField(allow_null=True)
    value = Value()
    kind = serializers.ChoiceField(choices=words(RULINGS))
    root = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]
    reason = serializers.CharField()
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


class NewMajority(Input):
    """A disputed step (null: the outcome) left to the majority, and the reason."""

    message_index = Whole(allow_null=True, min_value=0, max_value=MAX_INT)
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)
    version = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_INT,
        help_text="The version this is based on; 0 for none.",
    )
    root = Whole(  # type: ignore[assignment]
        required=False,
        allow_null=True,
        min_value=0,
        max_value=MAX_INT,
        help_text="For a −1: the message of the step at which the error began.",
    )
    reason = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=40, help_text="A reason code of the scheme."
    )


class NewDecision(NewMajority):
    """A decision on a disputed step, or with `message_index` null on the outcome. On a step that the
    annotators agree is −1 it can name the root and the reason alone."""

    value = Value()


class Withdrawal(Input):
    """A decision to take back, and the version it has."""

    message_index = Whole(allow_null=True, min_value=0, max_value=MAX_INT)
    version = Whole(min_value=1, max_value=MAX_INT)


class Close(Input):
    """A note on the whole case."""

    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)
