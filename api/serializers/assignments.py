"""Claiming, and the labels of one's own assignment."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.vocabulary import AssignmentState, Closes, ConsensusKind, ExpiryReason, LabelSource
from annotation.services.assign import MAX_REASON
from annotation.services.label import MAX_CHANGES
from annotation.services.label.trajectory_flags import MAX_ACTIVE_MS

from .base import Chosen, Input, Output, Query, Refusal, Sentence, StoredText, Value, Whole, words
from .people import Person
from .trajectories import Trajectory

ASSIGNMENT_STATES = words(AssignmentState)


class Assignment(Output):
    """One's own turn at one trajectory."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    step_count = serializers.IntegerField(source="trajectory.step_count")
    state = serializers.ChoiceField(choices=ASSIGNMENT_STATES)
    claimed_at = serializers.DateTimeField()
    submitted_at = serializers.DateTimeField(allow_null=True)
    returned_at = serializers.DateTimeField(allow_null=True)
    return_reason = StoredText()
    expires_at = serializers.DateTimeField(
        allow_null=True, help_text="When an unused claim that has been warned of ends; null: not yet."
    )
    expiry_reason = serializers.ChoiceField(choices=words(ExpiryReason), allow_blank=True)
    needs_discussion = serializers.BooleanField()
    broken = serializers.BooleanField()


class OpenClaim(Output):
    """An unfinished assignment of somebody, as admins see it: no labels."""

    id = serializers.IntegerField()
    annotator = Person()
    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    subset = serializers.CharField(source="trajectory.subset.name")
    step_count = serializers.IntegerField(source="trajectory.step_count")
    done = serializers.IntegerField(help_text="How many of its steps have a label.")
    claimed_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)


class TakeBack(Input):
    """Unfinished assignments to end, and the reason; the annotators read it in their lists of work."""

    assignments = Chosen()
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_REASON)


class TakenBack(Output):
    """The assignments that ended, and those of which nothing was done."""

    expired = serializers.ListField(child=serializers.IntegerField())
    refused = Refusal(many=True)


class AssignmentFilter(Query):
    """A filter of one's own assignments."""

    state = serializers.ChoiceField(required=False, choices=ASSIGNMENT_STATES)


class Claim(Input):
    """The same `claim_key` gives the same assignment again: a double click claims once."""

    claim_key = serializers.CharField(required=False, allow_blank=True, default="", max_length=64)
    resume = serializers.BooleanField(
        required=False, default=False, help_text="Go on with what is unfinished, if anything is."
    )


class OutcomeLabel(Output):
    """The outcome's label."""

    value = Value(allow_null=True)
    unsure = serializers.BooleanField()
    flagged = serializers.BooleanField()
    note = serializers.CharField()
    reason = serializers.CharField(help_text="A code of the scheme, or empty.")
    version = serializers.IntegerField(help_text="0 when it has never been touched.")


class Label(OutcomeLabel):
    """A step's label."""

    message_index = serializers.IntegerField()
    source = serializers.ChoiceField(choices=words(LabelSource), allow_null=True)  # type: ignore[assignment]
    root = serializers.IntegerField(allow_null=True, help_text="Message index of the root of this −1.")  # type: ignore[assignment]
    root_pinned = serializers.BooleanField()
    closes = serializers.ChoiceField(choices=words(Closes), allow_blank=True)


class StepWithLabel(Label):
    """A step with its label, and with what the propagation rule reads of the step."""

    ordinal = serializers.IntegerField()
    after_user_turn = serializers.BooleanField()


class Rules(Output):
    """The settings of the propagation rule in force."""

    suspend_on_user_turn = serializers.BooleanField()
    carry_forward = serializers.BooleanField()
    propagates = serializers.BooleanField(
        help_text="False where steps are alternatives: each −1 is an error of its own, and none is proposed."
    )


class AssignmentDetail(Output):
    """One's own assignment with its trajectory and all its labels so far."""

    assignment = Assignment()
    open = serializers.BooleanField()
    guideline_version = serializers.IntegerField()
    rules = Rules()
    steps = StepWithLabel(many=True)
    outcome = OutcomeLabel()
    trajectory = Trajectory()


class OwnConsensusLine(Output):
    """One step, or with `message_index` null the outcome: one's own label and the resolved one."""

    message_index = serializers.IntegerField(allow_null=True)
    own = Value(allow_null=True)
    consensus = Value()
    kind = serializers.ChoiceField(choices=words(ConsensusKind))
    reason_code = serializers.CharField()


class OwnConsensus(Output):
    """The consensus beside one's own labels. Without lines, `why_not` says why; else it is empty."""

    why_not = Sentence()
    lines = OwnConsensusLine(many=True)


class Change(serializers.Serializer[object]):
    """The whole new content of one label. Read one by one: what is wrong with one is said in its result,
    and the others are saved."""

    target = serializers.ChoiceField(choices=["step", "outcome"])
    message_index = serializers.IntegerField(required=False, allow_null=True)
    version = serializers.IntegerField(
        min_value=0, help_text="The version this change is based on; 0 for none."
    )
    value = Value(allow_null=True)
    source = serializers.ChoiceField(choices=words(LabelSource), required=False)  # type: ignore[assignment]
    root = serializers.IntegerField(required=False, allow_null=True)  # type: ignore[assignment]
    root_pinned = serializers.BooleanField(required=False)
    closes = serializers.ChoiceField(choices=words(Closes), required=False, allow_blank=True)
    unsure = serializers.BooleanField(required=False)
    flagged = serializers.BooleanField(required=False)
    note = serializers.CharField(required=False, allow_blank=True)
    reason = serializers.CharField(required=False, allow_blank=True)


KNOWN = (
    "The sum of the versions of all labels that the client knows, of the outcome too. When it is right, "
    "`labels` holds those that the batch names or changes; else, and without it, all."
)


class SaveShape(serializers.Serializer[object]):
    """The shape of a batch in the schema."""

    op_id = serializers.CharField(
        min_length=1, max_length=64, help_text="Made by the client; repeating it is safe."
    )
    changes = Change(many=True, max_length=MAX_CHANGES)  # type: ignore[call-arg]
    known_versions = serializers.IntegerField(required=False, min_value=0, help_text=KNOWN)


class Save(Input):
    """A batch of changes. The service reads each change and refuses it by itself."""

    op_id = serializers.CharField(max_length=64)
    changes = serializers.ListField(child=serializers.DictField(), allow_empty=True, max_length=MAX_CHANGES)
    known_versions = serializers.IntegerField(required=False, min_value=0)


class SaveResult(Output):
    """The result of one change, and the label as it is now."""

    target = serializers.ChoiceField(choices=["step", "outcome"], allow_null=True)
    message_index = serializers.IntegerField(allow_null=True)
    status = serializers.ChoiceField(choices=["saved", "stale", "refused"])
    reason = Sentence()
    label = serializers.DictField(child=serializers.JSONField(), allow_null=True)  # type: ignore[assignment]


class Saved(Output):
    """The results of a batch in its order, and labels as they are now (`known_versions` says which)."""

    op_id = serializers.CharField()
    results = SaveResult(many=True)
    labels = Label(many=True)
    outcome = OutcomeLabel()


class Return(Input):
    """The reason for giving a trajectory back unfinished."""

    reason = serializers.CharField(max_length=MAX_REASON)


class Marks(Input):
    """One's marks on the trajectory as a whole."""

    needs_discussion = serializers.BooleanField()
    broken = serializers.BooleanField(help_text="The trajectory itself is broken.")


class Activity(Input):
    """Time at work since the last report."""

    active_ms = Whole(min_value=0, max_value=MAX_ACTIVE_MS)


class OneFeedback(Output):
    """Feedback on one step, or with `message_index` null what is said of the outcome."""

    message_index = serializers.IntegerField(allow_null=True)
    first = Value(help_text="The label that the feedback was given on; it may have been changed since.")
    key = Value(help_text="What the key says.")
    right = serializers.BooleanField(help_text="Whether the two are the same.")
    reason = serializers.CharField(help_text="A code of the label scheme that says why; empty: none.")
    note = StoredText(help_text="Why, in Markdown.")
    topic = serializers.CharField(help_text="The section of the default guidelines that it is about.")
    cases = serializers.ListField(
        child=serializers.CharField(),
        help_text="The rows of its table that say the same as the reason, in every language.",
    )


class FeedbackGiven(Output):
    """Steps in their order, the outcome last."""

    feedback = OneFeedback(many=True)
