"""Trajectories, as far as the caller may see them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.vocabulary import ConsensusKind, TrajectoryState
from annotation.models.data import MAX_TAG
from annotation.reports.work.search import SEARCHED

from .base import MAX_CHOSEN, Chosen, Input, Output, Query, Refusal, StoredText, Value, words

TRAJECTORY_STATES = words(TrajectoryState)
READ_OF_QUESTION = 400
QUESTION_LENGTH = 300


class TrajectoryRow(Output):
    """A trajectory in the admins' list."""

    id = serializers.IntegerField()
    record_id = StoredText()
    subset = serializers.CharField(source="subset.name")
    task = StoredText(source="task.key")
    question = serializers.SerializerMethodField()
    policy_model = StoredText()
    state = serializers.ChoiceField(
        choices=TRAJECTORY_STATES,
        source="shown_state",
        help_text="“labelling” of all that the caller has open.",
    )
    free_slots = serializers.IntegerField(
        source="shown_slots", allow_null=True, help_text="Null for what the caller has open."
    )
    reserved = serializers.IntegerField(
        source="shown_reserved",
        allow_null=True,
        help_text="How many of the free slots are assigned; null for what the caller has open.",
    )
    message_count = serializers.IntegerField()
    step_count = serializers.IntegerField()
    tags = serializers.SerializerMethodField(
        help_text="Of what the caller could still label or is labelling, those that they put there alone."
    )

    def get_tags(self, row: Any) -> list[str]:
        """The names of its tags."""
        names: list[str] = self.context["tags"].get(row.pk, [])
        return names

    def get_question(self, row: Any) -> str:
        """The beginning of the question."""
        return StoredText().to_representation(row.beginning)[:QUESTION_LENGTH]


class TrajectoryFilter(Query):
    """A filter of trajectories."""

    subset = serializers.CharField(required=False, max_length=64)
    state = serializers.ChoiceField(required=False, choices=TRAJECTORY_STATES)
    record_id = serializers.CharField(required=False, max_length=255)
    policy_model = serializers.CharField(required=False, max_length=120)
    tag = serializers.CharField(required=False, max_length=MAX_TAG)


class Tag(Output):
    """A tag, and on how many trajectories the caller sees it."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    trajectories = serializers.IntegerField()


class TagChange(Input):
    """Trajectories, and the tag that they get or lose."""

    trajectories = Chosen()
    add = serializers.CharField(required=False, max_length=MAX_TAG)
    remove = serializers.CharField(required=False, max_length=MAX_TAG)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Refuses neither and both."""
        if ("add" in attrs) == ("remove" in attrs):
            raise serializers.ValidationError(_("Give either “add” or “remove”."))
        return attrs


class Annotators(Input):
    """People by their user names."""

    annotators = serializers.ListField(
        child=serializers.CharField(max_length=150),
        required=False,
        default=list,
        max_length=MAX_CHOSEN,
        help_text="User names; none: all annotators of the project.",
    )


class NewReservations(Annotators):
    """Trajectories to assign, and to whom."""

    trajectories = Chosen()
    evenly = serializers.BooleanField(
        required=False, default=False, help_text="Share all free places out, instead of one to each of them."
    )


class ReservationsWithdrawn(Annotators):
    """Trajectories that are to be assigned to these people no more."""

    trajectories = Chosen()


class Reservation(Output):
    """A place that is kept for an annotator."""

    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    annotator = serializers.CharField(source="annotator.username")
    created_at = serializers.DateTimeField()


class Reservations(Output):
    """The assigned places now, and the trajectories (by `id`) of which somebody got no place."""

    assigned = Reservation(many=True)
    refused = Refusal(many=True)


class Withdrawn(Output):
    """The trajectories that are assigned no more, and those of which nothing was done."""

    withdrawn = serializers.ListField(child=serializers.IntegerField())
    refused = Refusal(many=True)


class TagsChanged(Output):
    """The trajectories that got or lost the tag, and those of which nothing was done (`tagged`,
    `not_tagged`)."""

    changed = serializers.ListField(child=serializers.IntegerField())
    refused = Refusal(many=True)


class TagName(Input):
    """The new name of a tag; with that of another, the two become one."""

    name = serializers.CharField(max_length=MAX_TAG)


class MessageWindow(Query):
    """A part of a trajectory's messages, with the steps and labels of that; all of them without either."""

    messages_from = serializers.IntegerField(
        required=False, min_value=0, max_value=MAX_INT, help_text="The index of the first message."
    )
    messages_limit = serializers.IntegerField(
        required=False, min_value=1, max_value=1000, help_text="How many messages at most."
    )


class TrajectoryQuery(MessageWindow):
    """A part of a trajectory's messages, and whether what they say comes once."""

    once = serializers.BooleanField(
        default=False,
        help_text="Half the size: `parts` is empty where its one text is `content`, and `arguments` is null "
        "where `arguments_raw` parses.",
    )


class Part(Output):
    """A piece of a message: text, an image as a data URI, or anything else as JSON text."""

    kind = serializers.ChoiceField(choices=["text", "image", "other"])
    text = serializers.CharField()
    media_type = serializers.CharField(allow_null=True)
    data = serializers.CharField(allow_null=True)  # type: ignore[assignment]


class ToolCall(Output):
    """A call: its arguments as they were written, and as JSON when they parse."""

    id = serializers.CharField(allow_null=True)
    name = serializers.CharField()
    arguments_raw = serializers.CharField()
    arguments = serializers.JSONField(allow_null=True)
    parsed = serializers.BooleanField()
    origin = serializers.ChoiceField(choices=["tool_calls", "text"])


class AnsweredCall(Output):
    """The call that a tool message answers."""

    message_index = serializers.IntegerField()
    position = serializers.IntegerField()


class Usage(Output):
    """The cost of a step, or of all steps together, by the log; null where it does not say."""

    input_tokens = serializers.IntegerField(allow_null=True)
    output_tokens = serializers.IntegerField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)


class Message(Output):
    """One message, made ready to be shown; a message with the role `assistant` is a step."""

    index = serializers.IntegerField()
    role = serializers.CharField()
    is_step = serializers.BooleanField()
    content = serializers.CharField()
    parts = Part(many=True)
    tool_calls = ToolCall(many=True)
    tool_call_id = serializers.CharField(allow_null=True)
    name = serializers.CharField(allow_null=True)
    answers = AnsweredCall(allow_null=True)
    usage = Usage(allow_null=True)


class Trajectory(Output):
    """One trajectory. What the caller may not see is null: the reference answer, the hints (everything else
    that stood in the record, rewards among it) and the name of the policy model."""

    id = serializers.IntegerField()
    record_id = serializers.CharField()
    subset = serializers.CharField()
    task = serializers.CharField()
    seen_as = serializers.ChoiceField(choices=["annotator", "adjudicator", "corrector", "admin"])
    question = serializers.CharField()
    task_description = serializers.JSONField(allow_null=True)
    tools = serializers.ListField(child=serializers.JSONField())
    message_count = serializers.IntegerField(help_text="Of the whole trajectory.")
    usage = Usage(help_text="Of the whole trajectory, as far as its steps say.")
    messages = Message(many=True, help_text="All, or those that were asked for.")
    answer_text = serializers.CharField(allow_null=True)
    policy_model = serializers.CharField(allow_null=True)
    reference_answer = serializers.JSONField(allow_null=True)
    hints = serializers.JSONField(allow_null=True)


class Changed(Output):
    """The present label of an annotator after changes in a discussion. `root` is a message index."""

    value = Value()
    root = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]
    reason_code = serializers.CharField()


class AnnotatorLabel(Output):
    """A label that one annotator submitted of a step or of the outcome. `name` is empty where it may not be
    seen. Of a −1, `root` is the message at which the error began. `now` is what they have changed it to in a
    discussion; null when nothing."""

    letter = serializers.CharField()
    name = serializers.CharField()
    value = Value(allow_null=True)
    source = serializers.CharField()  # type: ignore[assignment]
    unsure = serializers.BooleanField()
    flagged = serializers.BooleanField()
    note = serializers.CharField()
    reason = serializers.CharField()
    reason_code = serializers.CharField()
    root = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]
    now = Changed(allow_null=True)


class ItemConsensus(Output):
    """The resolved label of a step, or the resolved outcome; `root` is the message at which the error
    began."""

    value = Value()
    kind = serializers.ChoiceField(choices=words(ConsensusKind))
    root = serializers.IntegerField(allow_null=True)  # type: ignore[assignment]
    reason_code = serializers.CharField()


class LabelledItem(Output):
    """One step (or with `message_index` null the outcome) and what was said about it."""

    message_index = serializers.IntegerField(allow_null=True)
    disputed = serializers.BooleanField()
    votes = AnnotatorLabel(many=True)
    consensus = ItemConsensus(allow_null=True)


class Side(Output):
    """One annotator's part."""

    letter = serializers.CharField()
    name = serializers.CharField()
    state = serializers.CharField()


class NamedJudgeSuggestion(Output):
    """The suggestion of one judge; `value` null: none. `comment`: its remark on the whole, at the outcome."""

    judge = serializers.CharField()
    value = Value(allow_null=True)
    recalibrated = Value(
        allow_null=True, help_text="What resolved labels of other tasks make of it; null: nothing."
    )
    reason = serializers.CharField()
    comment = serializers.CharField()


class ItemWithSuggestions(LabelledItem):
    """One step or the outcome with all there is about it."""

    suggestions = NamedJudgeSuggestion(many=True)


class SideBySide(Output):
    """All labels of one trajectory side by side, and what judges suggest, for admins."""

    trajectory = serializers.IntegerField()
    state = serializers.ChoiceField(choices=TRAJECTORY_STATES)
    annotators = Side(many=True)
    steps = ItemWithSuggestions(many=True)
    outcome = ItemWithSuggestions()


class SearchQuery(Query):
    """The words that are searched for, and in which kind of texts (all without one)."""

    q = serializers.CharField(max_length=200, help_text="At least two characters.")
    kind = serializers.ChoiceField(choices=SEARCHED, required=False)


class Found(Output):
    """A text in which the words stand. `message_index` is null for the outcome or the whole; `page` says on
    which page the caller reads it (`workbench`, `adjudication`, `discussion` or `trajectory`) and `page_id`
    which it is; `before`, `words` and `after` are the text around the first place."""

    kind = serializers.ChoiceField(choices=SEARCHED)
    trajectory = serializers.IntegerField()
    record_id = StoredText()
    message_index = serializers.IntegerField(allow_null=True)
    page = serializers.CharField(source="page.name")
    page_id = serializers.IntegerField(source="page.pk")
    before = serializers.CharField(allow_blank=True, trim_whitespace=False)
    words = serializers.CharField(trim_whitespace=False)
    after = serializers.CharField(allow_blank=True, trim_whitespace=False)
