"""Gold, pauses and pilots."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.vocabulary import PauseReason, PilotState

from ..base import Chosen, Input, Output, Refusal, words
from ..people import Person


class Accuracy(Output):
    """The mean share of labels as in the key; its 95 % interval holds however often one looks."""

    trajectories = serializers.IntegerField()
    labels = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField()
    high = serializers.FloatField()


class AnnotatorGold(Output):
    """An annotator on gold; `accuracy` since they were resumed last."""

    annotator = Person(source="person")
    membership = serializers.IntegerField(source="membership.pk")
    given = serializers.IntegerField()
    submitted = serializers.IntegerField()
    accuracy = Accuracy()
    last_good = serializers.DateTimeField(
        allow_null=True, help_text="When they submitted the last gold on which they reached the bound."
    )
    paused_at = serializers.DateTimeField(source="membership.paused_at", allow_null=True)
    pause_reason = serializers.ChoiceField(
        source="membership.pause_reason", choices=words(PauseReason), allow_blank=True
    )


class NewGold(Input):
    """Training items, and the subset among whose trajectories copies of them are dealt."""

    items = Chosen()
    subset = serializers.CharField(max_length=64)


class GoldMade(Output):
    """The gold that was made, and the items of which none was."""

    made = serializers.ListField(child=serializers.IntegerField())
    refused = Refusal(many=True)


class PilotPerson(Output):
    """An annotator, and how much of the pilot they have submitted."""

    annotator = Person(source="person")
    done = serializers.IntegerField()


class Pilot(Output):
    """A pilot, and how far it is."""

    subset = serializers.CharField(source="pilot.subset.name")
    state = serializers.ChoiceField(source="pilot.state", choices=words(PilotState))
    bound = serializers.FloatField(source="pilot.bound")
    new_guidelines = serializers.BooleanField(source="pilot.new_guidelines")
    size = serializers.IntegerField()
    people = PilotPerson(many=True)
    alpha = serializers.SerializerMethodField()
    begun_at = serializers.DateTimeField(source="pilot.begun_at")
    ended_at = serializers.DateTimeField(source="pilot.ended_at", allow_null=True)

    @extend_schema_field(serializers.DictField())
    def get_alpha(self, progress: object) -> dict[str, object]:
        """Krippendorff's α with its interval, or why there is none."""
        return progress.alpha.as_json()  # type: ignore[attr-defined]


class NewPilot(Input):
    """A training subset, which needs no key, and the α to reach."""

    subset = serializers.CharField(max_length=64)
    bound = serializers.FloatField(min_value=-1, max_value=0.999)
    new_guidelines = serializers.BooleanField(required=False, default=False)
