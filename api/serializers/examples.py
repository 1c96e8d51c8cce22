"""Examples of the guidelines."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.vocabulary import ConsensusKind
from annotation.services.adjudicate import MAX_TEXT, MAX_TITLE

from .base import MAX_BIGINT, Input, Output, Value, Whole, words


class Example(Output):
    """A case that teaches. `number` is that of the step, from 1 (null: the whole case, by its outcome);
    `value`, `origin` and `reason` are those of its consensus. `trajectory`, `adjudication` and
    `message_index` are null to whoever may not know them; `hidden` says to those who may why annotators do
    not see it: `blind` while a run of its task is being labelled, `changed` while its consensus is another
    one, or none."""

    id = serializers.IntegerField(source="pk")
    title = serializers.CharField()
    text = serializers.CharField()
    question = serializers.CharField()
    excerpt = serializers.CharField()
    number = serializers.IntegerField(allow_null=True)
    steps = serializers.IntegerField()
    value = Value()
    origin = serializers.ChoiceField(choices=["", *words(ConsensusKind)])
    reason = serializers.CharField()
    created_at = serializers.DateTimeField()
    trajectory = serializers.IntegerField(allow_null=True)
    adjudication = serializers.IntegerField(allow_null=True)
    message_index = serializers.IntegerField(allow_null=True)
    hidden = serializers.ChoiceField(choices=["", "blind", "changed"])


class Marked(Output):
    """The example that was made."""

    id = serializers.IntegerField()


class NewExample(Input):
    """A case, or a step of it, and the lesson."""

    adjudication = Whole(min_value=1, max_value=MAX_BIGINT)
    message_index = Whole(required=False, allow_null=True, default=None, min_value=0, max_value=MAX_INT)
    title = serializers.CharField(max_length=MAX_TITLE)
    text = serializers.CharField(max_length=MAX_TEXT)
