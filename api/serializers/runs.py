"""Runs of judges: what they are to do, what that would cost, how far they are, what failed."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.record import MAX_OPTIONS
from annotation.core.vocabulary import SuggestionRunState, TrajectoryState
from annotation.reports.judging import runs as reports

from .base import MAX_BIGINT, Input, Output, Query, Sentence, StoredText, Whole, words

RUN_STATES = words(SuggestionRunState)


class Money(serializers.DecimalField):
    """US dollars, as a string with all their places."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=18, decimal_places=10, **kwargs)


class Budget(serializers.DecimalField):
    """US dollars that a run may cost in all; null: no limit."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            max_digits=14, decimal_places=6, min_value=Decimal("0.000001"), allow_null=True, **kwargs
        )


class Selection(Input):
    """A selection of trajectories: those that fit all of it and have no suggestion of the judge yet."""

    judge = Whole(min_value=1, max_value=MAX_BIGINT)
    subset = serializers.CharField(required=False, allow_blank=True, max_length=64)
    state = serializers.ChoiceField(required=False, allow_blank=True, choices=words(TrajectoryState))
    policy_model = serializers.CharField(required=False, allow_blank=True, max_length=120)
    limit = Whole(required=False, allow_null=True, min_value=1, max_value=MAX_INT)
    release = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=40,
        help_text="The version of a release: what it holds. At the end the judge is scored on it.",
    )

    options = Whole(
        required=False,
        allow_null=True,
        min_value=2,
        max_value=MAX_OPTIONS,
        help_text=(
            "Write distractors instead of labels, until each question has so many options: for choices of an "
            "action with a known key that nobody has begun to label. By subset and limit only."
        ),
    )


class NewRun(Selection):
    """A run to be started."""

    prompts = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=64,
        help_text=(
            "The name of prompts of the release, instead of labels: the judge is asked those that are for "
            "testing, and scored by what it writes. With judge, release and budget only."
        ),
    )
    budget = Budget(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Prompts are chosen by their release and name alone."""
        attrs = super().validate(attrs)
        if attrs.get("prompts"):
            if not attrs.get("release"):
                raise serializers.ValidationError({"release": _("Name the release of the prompts.")})
            for name in ("subset", "state", "policy_model", "limit", "options"):
                if attrs.get(name):
                    raise serializers.ValidationError({name: _("Prompts are asked as they were made.")})
        return attrs


class Resume(Input):
    """The total budget of the run from now on; left out, the budget stays as it is."""

    budget = Budget(required=False)


class Estimate(Output):
    """The estimate of a run. `sampled`: so many trajectories were looked at, and the rest reckoned from them;
    `clipped`: those of which the judge would see something shortened; `too_long`: those that would fail."""

    trajectories = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    cost = Money()
    clipped = serializers.IntegerField()
    sampled = serializers.IntegerField()
    too_long = serializers.IntegerField()


class RunProgress(Output):
    """Trajectories of a run."""

    done = serializers.IntegerField(source="progress_done")
    failed = serializers.IntegerField(source="progress_failed")
    total = serializers.IntegerField(source="progress_total")


class RunJudge(Output):
    """The judge of a run."""

    id = serializers.IntegerField()
    name = serializers.CharField()


class RunFilter(Query):
    """Narrows the list of runs."""

    judge = serializers.IntegerField(required=False, min_value=1, max_value=MAX_BIGINT)


class Written(Output):
    """Counts of a run that asks for distractors: options `added`, actions `refused` by reason, questions
    still `short` after an answer, and those begun or replaced by others before they got any (`changed`)."""

    added = serializers.IntegerField()
    refused = serializers.DictField(child=serializers.IntegerField())
    short = serializers.IntegerField()
    changed = serializers.IntegerField()


class Run(Output):
    """One judge over many trajectories. `cost_estimated`: the server did not count all tokens, so we did;
    `options`: it writes distractors until each question has so many (`distractors`); `prompts`: it is asked
    those of this name in `release`; both null for labels."""

    id = serializers.IntegerField()
    judge = RunJudge()
    state = serializers.ChoiceField(choices=RUN_STATES)
    selection = serializers.DictField()
    options = serializers.IntegerField(allow_null=True)
    distractors = serializers.SerializerMethodField()
    prompts = serializers.CharField(source="prompts.name", default=None, allow_null=True)
    release = serializers.CharField(source="prompts.release.version", default=None, allow_null=True)
    budget = Money(allow_null=True)
    cost = Money()
    cost_estimated = serializers.BooleanField()
    progress = RunProgress(source="*")
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    calls = serializers.IntegerField()
    clipped = serializers.IntegerField()
    labels_missing = serializers.IntegerField()
    labels_invalid = serializers.IntegerField()
    labels_extra = serializers.IntegerField()
    labels_order_dependent = serializers.IntegerField()
    stop_reason = Sentence()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(Written(allow_null=True))
    def get_distractors(self, row: Any) -> dict[str, Any] | None:
        """Null of a run that asks for labels."""
        written = reports.written(row)
        return None if written is None else dict(Written(written).data)


class FailureKind(Output):
    """The number of failures of a kind, with one sentence about it."""

    kind = serializers.CharField()
    count = serializers.IntegerField()
    message = Sentence()


class RunDetail(Run):
    """A run as it stands. `per_minute`: trajectories, done or failed; `draining`: it was paused or cancelled,
    and calls under way are still coming in; `waiting_until`: when the judge's server wants to be asked again.
    """

    per_minute = serializers.SerializerMethodField()
    seconds_left = serializers.SerializerMethodField()
    draining = serializers.SerializerMethodField()
    waiting_until = serializers.SerializerMethodField()
    failures = serializers.SerializerMethodField()

    def get_per_minute(self, row: Any) -> float | None:
        """Null before the first answer."""
        return self._known.per_minute

    def get_seconds_left(self, row: Any) -> float | None:
        """Null unless the run moves."""
        return self._known.seconds_left

    def get_draining(self, row: Any) -> bool:
        """Whether calls are under way although none begins."""
        return self._known.draining

    def get_waiting_until(self, row: Any) -> datetime | None:
        """Null unless the server asked for a pause."""
        return self._known.waiting_until

    @extend_schema_field(FailureKind(many=True))
    def get_failures(self, row: Any) -> list[dict[str, Any]]:
        """The failures by kind, the most frequent first."""
        return list(FailureKind(self.context["failures"], many=True).data)

    @property
    def _known(self) -> reports.RunProgress:
        progress: reports.RunProgress = self.context["known"]
        return progress


class Failed(Output):
    """A trajectory without a suggestion, and why. `answer`: the last raw answer, when there is one."""

    trajectory = serializers.IntegerField(source="trajectory_id")
    record_id = StoredText(source="trajectory.record_id")
    failure = serializers.CharField()
    message = Sentence()
    answer = serializers.UUIDField(allow_null=True)
