"""Training: subsets, items, keys."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.vocabulary import KeyOrigin
from annotation.services.ingest.examples import LANGUAGES
from annotation.services.training.keys import MAX_NOTE

from .base import Chosen, Input, Output, Refusal, StoredText, Value, words


class TrainingSubset(Output):
    """A training subset, and how much of it is ready and used."""

    name = serializers.CharField()
    items = serializers.IntegerField()
    keyed = serializers.IntegerField(help_text="Items whose key labels the outcome.")
    used = serializers.IntegerField(help_text="Items of the tutorial or a test.")


class NewTrainingSubset(Input):
    """A new subset, or one that nobody has worked on."""

    name = serializers.SlugField(max_length=64)


class NewTrainingExamples(Input):
    """The language of the explanations."""

    language = serializers.ChoiceField(
        required=False, choices=LANGUAGES, help_text="Left out: one's own, else English."
    )


class TrainingItem(Output):
    """A training trajectory, and what it is used for."""

    id = serializers.IntegerField()
    record_id = StoredText()
    step_count = serializers.IntegerField()
    labels = serializers.IntegerField(help_text="Labels in its key: steps and outcome.")
    key_errors = serializers.IntegerField(source="errors", help_text="Steps that are −1 in its key.")
    whole = serializers.BooleanField(help_text="Whether its key labels every step and the outcome.")
    in_tutorial = serializers.BooleanField()
    tests = serializers.IntegerField(help_text="Tests that it is in.")
    as_gold = serializers.BooleanField()


class ItemsOfResolved(Input):
    """Resolved trajectories to make training items of."""

    trajectories = Chosen()


class TrainingItemsMade(Output):
    """The items that were made, and the trajectories of which none was."""

    made = serializers.ListField(child=serializers.IntegerField())
    refused = Refusal(many=True)


class KeyLabel(Output):
    """A label of a key; `message_index` null: that of the outcome."""

    message_index = serializers.IntegerField(source="step.message_index", allow_null=True, default=None)
    value = Value()
    reason = serializers.CharField(help_text="A code of the scheme, or empty.")
    note = StoredText()
    origin = serializers.ChoiceField(choices=words(KeyOrigin))


class TrainingKey(Output):
    """The key of a training item."""

    missing = serializers.IntegerField(help_text="So many labels it still needs.")
    labels = KeyLabel(many=True)


class KeyLabelChange(Input):
    """A label of a key, and why."""

    message_index = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0)
    value = Value()
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=MAX_NOTE)
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=40)
