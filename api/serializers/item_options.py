"""The options of an item, as somebody edits them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.corrections import MAX_CHARACTERS
from annotation.core.decisions.editing import OptionChange
from annotation.core.decisions.record import MAX_OPTIONS
from annotation.core.vocabulary import VALUES, DecisionKind

from .base import Input, Output, Whole, words


class OptionCall(Output):
    """A call of an option."""

    name = serializers.CharField(source="0")
    arguments = serializers.CharField(source="1")


class EditedOption(Output):
    """An option by the index of its message; `number` counts from 1 in the stored order."""

    message_index = serializers.IntegerField(source="index")
    number = serializers.IntegerField()
    text = serializers.CharField()
    calls = OptionCall(many=True)


class ItemOptions(Output):
    """The options of an item, and what ends when it is replaced: the submitted labels of so many people, and
    open claims. `left` annotators may label what takes its place, which `needed` have to."""

    kind = serializers.ChoiceField(choices=words(DecisionKind))
    options = EditedOption(many=True)
    submitted = serializers.IntegerField()
    open = serializers.IntegerField()
    left = serializers.IntegerField()
    needed = serializers.IntegerField()


class NewOption(Input):
    """One option as it shall be: one of the item (`message_index`), with another text where `text` is given;
    or a new one, with the label (`key`) that its author gives it."""

    message_index = Whole(required=False, min_value=0, max_value=MAX_INT)
    text = serializers.CharField(
        required=False, max_length=MAX_CHARACTERS, allow_blank=True, trim_whitespace=False
    )
    key = serializers.ChoiceField(choices=VALUES, required=False, allow_null=True)


class NewOptions(Input):
    """All options that the item shall have; one that is not named is taken out. `ends`: of how many people
    one was told that their work ends."""

    options: Any = serializers.ListSerializer(child=NewOption(), allow_empty=False, max_length=MAX_OPTIONS)
    ends = Whole(required=False, min_value=0, max_value=MAX_INT)

    def validate_options(self, options: list[dict[str, Any]]) -> list[OptionChange]:
        """The options as the domain reads them."""
        return [OptionChange(one.get("message_index"), one.get("text"), one.get("key")) for one in options]


class ReplacedItem(Output):
    """The trajectory that has taken the place of the item; the item itself where nothing was changed."""

    trajectory = serializers.IntegerField(source="pk")
