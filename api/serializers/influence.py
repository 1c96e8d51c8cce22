"""The experiment on exposure, and the triage of the queue."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.core.influence.experiment import MAX_SEED
from annotation.core.influence.triage import MAX_BATCH

from .base import Input, Output, Whole


class Experiment(Output):
    """`seed` null: nothing is randomised. `locked`: labelling has begun, so that nothing can be changed. What
    is dealt to arms is the `unit`: "annotator", a person on a task; or, in older experiments, "task"."""

    randomised = serializers.SerializerMethodField()
    seed = serializers.IntegerField(allow_null=True)
    locked = serializers.BooleanField()
    unit = serializers.CharField(allow_null=True)
    arms = serializers.ListField(child=serializers.CharField())
    tasks = serializers.DictField(
        child=serializers.IntegerField(), help_text="Tasks in each arm, where tasks are dealt."
    )
    dealt = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="People on tasks in each arm so far, where people are dealt.",
    )

    def get_randomised(self, row: Any) -> bool:
        """Whether chance decides who sees suggestions."""
        return row.seed is not None


class Randomisation(Input):
    """Without a seed, one is drawn; without a number of arms, there are three."""

    arms = Whole(required=False, min_value=2, max_value=3)
    seed = Whole(required=False, min_value=0, max_value=MAX_SEED)


class Triage(Output):
    """`seed` null: an order of chance. `found`: of the disputes so far, the share in the first half of the
    queue; chance finds half."""

    seed = serializers.IntegerField(allow_null=True)
    batch_size = serializers.IntegerField()
    waiting = serializers.IntegerField(help_text="Trajectories that nobody has begun.")
    found = serializers.DictField(source="found.as_json", read_only=True)


class NewTriage(Input):
    """Without a batch size the project's own counts; without a seed, one is drawn."""

    batch_size = Whole(required=False, min_value=1, max_value=MAX_BATCH)
    seed = Whole(required=False, min_value=0, max_value=MAX_SEED)


class Triaged(Output):
    """The result of a triage. The three last count all that is waiting."""

    moved = serializers.IntegerField()
    contested = serializers.IntegerField()
    unanimous = serializers.IntegerField()
    unscored = serializers.IntegerField(help_text="Without suggestions of two judges.")
    seed = serializers.IntegerField()
    batch_size = serializers.IntegerField()
