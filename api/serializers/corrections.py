"""Corrections of first errors, and what judges propose for them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.corrections import (
    MAX_CALLS,
    MAX_CHARACTERS,
    MAX_NAME,
    CorrectionAnswer,
    CorrectionOrigin,
    ErrorClass,
    TypedCall,
)
from annotation.core.jsonio.canonical import canonical_json
from annotation.core.vocabulary import CorrectionState
from annotation.models import Correction as CorrectionRow
from annotation.services.correct import MAX_PROPOSALS
from annotation.services.judged_steps import MAX_NOTE

from .base import MAX_BIGINT, Input, Output, Query, Sentence, StoredText, Whole, words
from .trajectories import Trajectory

STATES = ("active", *words(state for state in CorrectionState if state is not CorrectionState.PROPOSED))


class CorrectionFilter(Query):
    """Filters of the list of corrections. `active`: being written, or saved."""

    state = serializers.ChoiceField(choices=STATES, default="active")


class Arguments(serializers.JSONField):
    """The arguments of a call: an object, or the text of one."""

    def to_internal_value(self, data: Any) -> str:  # type: ignore[override]
        """The text."""
        return data if isinstance(data, str) else canonical_json(data).decode()


class Call(Input):
    """A call of a tool."""

    name = serializers.CharField(max_length=MAX_NAME, trim_whitespace=False)
    arguments = Arguments()


class Action(Input):
    """An action as it is written: a text, calls, or both."""

    text = serializers.CharField(
        max_length=MAX_CHARACTERS, required=False, allow_blank=True, default="", trim_whitespace=False
    )
    calls: Any = serializers.ListSerializer(child=Call(), required=False, max_length=MAX_CALLS)

    def validate_calls(self, calls: list[dict[str, str]]) -> list[TypedCall]:
        """The calls as the domain reads them."""
        return [TypedCall(**call) for call in calls]


class NewCorrection(Input):
    """The first error to take; the next one without."""

    first_error = Whole(required=False, min_value=1, max_value=MAX_BIGINT)


class CorrectionDraft(Action):
    """The right action. Of an action: of another run (`sibling`), a judge's (`proposal`, once they are
    shown), or `text` and `calls`."""

    version = Whole(min_value=0, max_value=MAX_INT, help_text="The version that one began from.")
    answer = serializers.ChoiceField(choices=words(CorrectionAnswer))
    origin = serializers.ChoiceField(choices=words(CorrectionOrigin), required=False)
    sibling = Whole(required=False, min_value=1, max_value=MAX_BIGINT)
    proposal = Whole(required=False, min_value=1, max_value=MAX_BIGINT)
    error_class = serializers.ChoiceField(
        choices=words(ErrorClass),
        required=False,
        allow_null=True,
        allow_blank=True,
        help_text="Null or missing: what the two actions say. Empty: none of them.",
    )
    reason = serializers.CharField(max_length=MAX_NOTE, required=False, allow_blank=True)
    checked_myself = serializers.BooleanField(
        required=False, help_text="Go on with calls of tools that have no schema to be held against."
    )


class Correction(Output):
    """A correction; `message` is the right action as it would stand in a record, null without one. `step` is
    the number of the step, from 1."""

    id = serializers.IntegerField(source="pk")
    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    message_index = serializers.IntegerField(source="step.message_index")
    step = serializers.SerializerMethodField()
    author = serializers.CharField(source="author.username")
    state = serializers.ChoiceField(choices=STATES[1:])
    answer = serializers.ChoiceField(choices=words(CorrectionAnswer), allow_blank=True)
    origin = serializers.ChoiceField(choices=words(CorrectionOrigin), allow_blank=True)
    message = serializers.JSONField(source="action", allow_null=True)
    error_class = serializers.ChoiceField(choices=words(ErrorClass), allow_blank=True)
    reason = StoredText()
    version = serializers.IntegerField()
    proposals_seen_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    saved_at = serializers.DateTimeField(allow_null=True)

    def get_step(self, row: CorrectionRow) -> int:
        """The number of the step, from 1."""
        return row.step.ordinal + 1


class Sibling(Output):
    """A right action of other runs at the same history; `id` names it when it is taken."""

    id = serializers.IntegerField(source="step.pk")
    message = serializers.JSONField()
    runs = serializers.IntegerField()


class Wrong(Output):
    """The reasons why the action was wrong, by the consensus."""

    kind = serializers.CharField()
    reason_code = serializers.CharField(source="reason", allow_blank=True)
    note = StoredText()


class CorrectionDetail(Output):
    """A correction with the history, the wrong action, which is the last step of the messages, and right
    actions of other runs. `wrong` is null once the step is no first error any more."""

    correction = Correction()
    wrong = Wrong(allow_null=True)
    siblings = Sibling(many=True)
    trajectory = Trajectory()


class Fault(Output):
    """A fault of an action, by its field."""

    field = serializers.CharField()
    message = Sentence()


class Checked(Output):
    """The faults of an action. `unchecked`: tools without a schema that a call could be held against."""

    faults = Fault(many=True)
    unchecked = serializers.ListField(child=serializers.CharField())


class FirstError(Output):
    """A first error that waits for a correction; `id` names it when it is taken."""

    id = serializers.IntegerField(source="pk")
    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    message_index = serializers.IntegerField(source="step.message_index")
    reason_code = serializers.CharField(source="reason", allow_blank=True)


class NewProposal(Action):
    """A judge's proposal for one first error."""

    trajectory = Whole(min_value=1, max_value=MAX_BIGINT)
    message_index = Whole(min_value=0, max_value=MAX_INT)
    answer = serializers.ChoiceField(choices=words(CorrectionAnswer))
    error_class = serializers.ChoiceField(choices=words(ErrorClass), required=False, allow_blank=True)
    reason = serializers.CharField(max_length=MAX_NOTE, required=False, allow_blank=True)


class NewProposals(Input):
    """A judge's proposals for several first errors."""

    proposals: Any = serializers.ListSerializer(
        child=NewProposal(), max_length=MAX_PROPOSALS, allow_empty=False
    )


class RefusedProposal(Output):
    """One that was refused, and why."""

    trajectory = serializers.IntegerField()
    message_index = serializers.IntegerField()
    code = serializers.CharField()
    message = Sentence()


class StoredProposals(Output):
    """The number of stored proposals, and what was refused."""

    stored = serializers.IntegerField()
    refused = RefusedProposal(many=True)


class Proposal(Output):
    """A judge's proposal."""

    id = serializers.IntegerField(source="pk")
    judge = serializers.CharField(source="judge.name")
    answer = serializers.ChoiceField(choices=words(CorrectionAnswer))
    message = serializers.JSONField(source="action", allow_null=True)
    error_class = serializers.ChoiceField(choices=words(ErrorClass), allow_blank=True)
    reason = StoredText()


class Revealed(Output):
    """The proposals of judges for a first error."""

    proposals = Proposal(many=True)
