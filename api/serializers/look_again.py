"""Looking again at what was labelled under older guidelines, or since the last good gold."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.vocabulary import LookReason
from annotation.reports.quality.look_again import LEFT_OUT, MESSAGE_KINDS

from .base import Input, Output, Query, Whole, words


def _filters() -> dict[str, serializers.CharField]:
    filters = {
        "version": "Labelled under this version of the guidelines.",
        "subset": "Of this subset.",
        "value": "With a step of this label.",
        "reason": "With a step of this reason code.",
        "kind": f"With a step of this kind: {' or '.join(MESSAGE_KINDS)}.",
    }
    return {
        name: serializers.CharField(required=False, allow_blank=True, max_length=80, help_text=words)
        for name, words in filters.items()
    }


class LookAgainFilter(Query):
    """A filter of work under older guidelines; the filters combine."""

    def get_fields(self) -> dict[str, serializers.Field]:
        """One for each filter."""
        return {**super().get_fields(), **_filters()}


class Version(Output):
    """The work under one version."""

    version = serializers.IntegerField(source="number")
    assignments = serializers.IntegerField()
    trajectories = serializers.IntegerField()


class Batch(Output):
    """A batch of requests, and how much of it has been begun."""

    batch = serializers.UUIDField()
    because = serializers.ChoiceField(choices=words(LookReason))
    version = serializers.IntegerField()
    asked_at = serializers.DateTimeField()
    queued = serializers.IntegerField()
    begun = serializers.IntegerField()


class LookAgain(Output):
    """The preview of the queue (`ready` assignments of `trajectories`, by `people`), the number left out by
    reason, the work by version, and the queue so far."""

    ready = serializers.IntegerField()
    trajectories = serializers.IntegerField()
    people = serializers.IntegerField()
    left_out = serializers.DictField(
        child=serializers.IntegerField(), help_text=f"By reason: {', '.join(LEFT_OUT)}."
    )
    versions = Version(many=True)
    batches = Batch(many=True)


class SinceCheck(Output):
    """The submissions of a member since `last_good`, their last good gold, and a few submissions before it
    (`since`; both null: since they began): the preview of the queue, how many of its trajectories are
    resolved or disputed, why nothing can be queued (`refusal`, else empty), and what they were asked so
    far."""

    last_good = serializers.DateTimeField(allow_null=True)
    since = serializers.DateTimeField(allow_null=True)
    ready = serializers.IntegerField()
    resolved = serializers.IntegerField()
    disputed = serializers.IntegerField()
    hidden = serializers.IntegerField(help_text="Gold and rechecks among it, of which nothing is settled.")
    left_out = serializers.DictField(
        child=serializers.IntegerField(),
        help_text=f"By reason: {', '.join(LEFT_OUT)}, looked (looked at again since then).",
    )
    refusal = serializers.CharField()
    batches = Batch(many=True)


class Expected(Input):
    """Queue it; `expected` is the number that one was shown."""

    expected = Whole(min_value=1, max_value=MAX_INT)


class Queue(Input):
    """Queue what fits the filters; `expected` is the number that one was shown."""

    expected = Whole(min_value=1, max_value=MAX_INT)

    def get_fields(self) -> dict[str, serializers.Field]:
        """The number, and the filters."""
        return {**super().get_fields(), **_filters()}


class Queued(Output):
    """The batch that was queued."""

    batch = serializers.UUIDField()
