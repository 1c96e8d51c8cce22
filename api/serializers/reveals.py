"""Suggestions that somebody reveals to themselves."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT

from .base import Input, Output, Value, Whole


class Reveal(Input):
    """The suggestions to reveal: exactly one of the three."""

    message_index = Whole(
        required=False, min_value=0, max_value=MAX_INT, help_text="One step, by its message index."
    )
    outcome = serializers.BooleanField(required=False, help_text="The outcome.")
    all = serializers.BooleanField(required=False, help_text="Everything that may be seen now.")


class JudgeSuggestion(Output):
    """The suggestion of one judge. Judges have numbers, drawn anew for each task."""

    judge = serializers.CharField(help_text='"Judge 1", in the language of the request.')
    value = Value(allow_null=True, help_text="Null: this judge made no suggestion here.")
    recalibrated = Value(
        allow_null=True, help_text="What resolved labels of other tasks make of it; null: nothing."
    )
    reason = serializers.CharField()


class RevealedItem(Output):
    """One step, or with `message_index` null the outcome. No suggestions: no judge was asked."""

    message_index = serializers.IntegerField(allow_null=True)
    suggestions = JudgeSuggestion(many=True)


class Reveals(Output):
    """Steps in their order, the outcome last."""

    revealed = RevealedItem(many=True)
