"""The prompt workshop: samples of a judge, and the prompts tried on them."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.judging.prompts import PROMPTS
from annotation.core.seed import SEED

from .base import Input, Output, Query, Value, Whole
from .runs import Budget


class NewSample(Input):
    """The size of a sample of resolved trajectories, and the seed of its drawing."""

    size = Whole(min_value=1, max_value=1_000)
    seed = Whole(required=False, min_value=0, max_value=MAX_INT, default=SEED)


class Sample(Output):
    """A fixed sample of resolved trajectories that the judge has suggestions for."""

    id = serializers.IntegerField()
    judge = serializers.IntegerField(source="judge_id")
    seed = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class SampleWithPrompts(Sample):
    """`prompts`: figures of the judge as it is (`own`), then of each prompt that was tried."""

    trajectories = serializers.ListField(child=serializers.IntegerField())
    prompts = serializers.ListField(child=serializers.DictField())


class TrialEstimate(Input):
    """A prompt that may be tried."""

    prompt_version = serializers.ChoiceField(choices=list(PROMPTS))


class NewTrial(TrialEstimate):
    """A prompt to try, and what it may cost at most."""

    budget = Budget(required=False)


class ChangeFilter(Query):
    """A prompt by its version."""

    prompt_version = serializers.ChoiceField(choices=list(PROMPTS))


class ChangedLabel(Output):
    """A step that the prompt labels otherwise than the judge as it is (`old`); null: no label. `better`: it
    became right (true) or wrong (false), null where neither label is the resolved one."""

    trajectory = serializers.IntegerField()
    message_index = serializers.IntegerField()
    consensus = Value()
    old = Value(allow_null=True)
    new = Value(allow_null=True)
    better = serializers.BooleanField(allow_null=True)
