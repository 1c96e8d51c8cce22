"""Judges, what they suggest in files, and their raw answers."""

from __future__ import annotations

from typing import Any, cast

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.judging import settings
from annotation.core.judging.kinds import KINDS
from annotation.core.judging.setting_kinds import PRICE_DIGITS, PRICE_PLACES, Setting, SettingKind
from annotation.core.judging.settings import NUMBER_ERRORS
from annotation.language import translated, translated_lazy
from annotation.reports.judging.baseline import training

from .base import MAX_BIGINT, Input, Output, Query, Sentence, Version, Whole

Field = serializers.Field[Any, Any, Any, Any]
JUDGE_KINDS = list(KINDS)


class Number(serializers.FloatField):
    """A number as it is given: JSON's true and "1" are not."""

    def to_internal_value(self, data: Any) -> float:
        """The number."""
        if type(data) not in (int, float):
            self.fail("invalid")
        super().to_internal_value(data)
        return cast(float, data)


class Object(serializers.DictField):
    """A JSON object within the bounds of a setting."""

    def __init__(self, setting: Setting, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.setting = setting

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The mapping."""
        value: dict[str, Any] = super().to_internal_value(data)
        if problem := self.setting.problem(value):
            raise serializers.ValidationError(translated(problem))
        return value


class Price(serializers.DecimalField):
    """US dollars per million tokens."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=PRICE_DIGITS, decimal_places=PRICE_PLACES, **kwargs)


def input_field(setting: Setting) -> Field:
    """A setting in a request, where none is required: defaults hold."""
    options: dict[str, Any] = {"required": False, "help_text": str(setting.help) or None}
    if setting.nullable and setting.kind is not SettingKind.OBJECT:
        options["allow_null"] = True
    errors: Any = dict.fromkeys(NUMBER_ERRORS, translated_lazy(setting.rule))
    match setting.kind:
        case SettingKind.CHOICE:
            return serializers.ChoiceField(choices=[value for value, _ in setting.choices], **options)
        case SettingKind.FLAG:
            return serializers.BooleanField(**options)
        case SettingKind.WHOLE | SettingKind.NUMBER:
            number = Whole if setting.kind is SettingKind.WHOLE else Number
            return number(
                min_value=setting.minimum, max_value=setting.maximum, error_messages=errors, **options
            )
        case SettingKind.PRICE:
            return Price(min_value=setting.minimum, error_messages=errors, **options)
        case SettingKind.OBJECT:
            return Object(setting, **options)
    return serializers.CharField(allow_blank=True, max_length=setting.max_length, **options)


def output_field(setting: Setting) -> Field:
    """A setting in an answer."""
    options: dict[str, Any] = {"allow_null": True} if setting.nullable else {}
    match setting.kind:
        case SettingKind.FLAG:
            return serializers.BooleanField(**options)
        case SettingKind.WHOLE:
            return serializers.IntegerField(**options)
        case SettingKind.PRICE:
            return Price(**options)
    return serializers.CharField(**options)


class TrainingFigure(Output):
    """A measure on tasks that were not trained on, beside that of `compared_with`: saying +1 to everything,
    or no more than how frequent each label is."""

    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = Sentence()
    reference = serializers.FloatField(allow_null=True)
    compared_with = serializers.ChoiceField(choices=["always_plus_one", "shares"], source="reference_name")


class Training(Output):
    """The training data of a baseline. `demo`: the demo release, for want of resolved labels of its own."""

    demo = serializers.BooleanField()
    until = serializers.CharField()
    steps = serializers.IntegerField()
    trajectories = serializers.IntegerField()
    tasks = serializers.IntegerField()
    folds = serializers.IntegerField()
    seed = serializers.IntegerField()
    digest = serializers.CharField()
    figures = TrainingFigure(many=True)


class Judge(Output):
    """A judge. `key_name` names an environment variable; no answer ever holds a key. `locked`: it has made
    suggestions, so that what its answers depend on is fixed. `training`: of a baseline, from its first run
    on."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=JUDGE_KINDS)
    sampling = serializers.DictField()
    suggestions = serializers.IntegerField(source="suggestion_count")
    locked = serializers.SerializerMethodField()
    training = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    retired_at = serializers.DateTimeField(allow_null=True)
    version = serializers.CharField(help_text="Names the settings as they are.")

    def get_fields(self) -> dict[str, Field]:
        """Its settings among the others."""
        columns = (setting for setting in settings.SETTINGS if not setting.sampling)
        return {**super().get_fields(), **{column.name: output_field(column) for column in columns}}

    @extend_schema_field(Training(allow_null=True))
    def get_training(self, row: Any) -> Any:
        """The training of a baseline, from its first run on."""
        trained = training(row)
        return None if trained is None else Training(trained).data

    def get_locked(self, row: Any) -> bool:
        """Whether what its answers depend on is fixed."""
        return bool(row.suggestion_count)


class RecalibrationSwitch(Input):
    """On, or off."""

    on = serializers.BooleanField()


class Fitted(Output):
    """The data of a fit: resolved steps that the judge has labelled."""

    steps = serializers.IntegerField()
    tasks = serializers.IntegerField()
    seed = serializers.IntegerField()
    version = serializers.CharField()


class OfRun(Query):
    """Only what one run has brought."""

    run = serializers.IntegerField(required=False, min_value=1, max_value=MAX_BIGINT)


class Recalibration(Output):
    """`steps`, `tasks`: what there is to fit on at this moment; `lacking`: what is missing, empty when
    nothing is. `fitted`: null until it was. `consensus` and `blind`: the judge beside resolved labels, and
    beside each person's own from before they saw a suggestion (`steps`; `recalibrated`, null while it is
    off; `always_plus`; `outcome`)."""

    on = serializers.BooleanField(source="state.on")
    steps = serializers.IntegerField(source="state.steps")
    tasks = serializers.IntegerField(source="state.tasks")
    lacking = Sentence(source="state.lacking")
    fitted = serializers.SerializerMethodField()
    fitted_at = serializers.DateTimeField(allow_null=True)
    consensus = serializers.DictField()
    blind = serializers.DictField()

    @extend_schema_field(Fitted(allow_null=True))
    def get_fitted(self, row: Any) -> Any:
        """The data of the fit."""
        return row["state"].details or None


class Sampling(Input):
    """Sampling parameters of each request; the judge's server decides those left out. What is left out, the
    judge's server decides."""

    def get_fields(self) -> dict[str, Field]:
        """One for each parameter."""
        return {setting.name: input_field(setting) for setting in settings.SETTINGS if setting.sampling}


class JudgeSettings(Input):
    """The settings of a judge, all optional."""

    sampling = Sampling(required=False)

    def get_fields(self) -> dict[str, Field]:
        """One for each column."""
        columns = (setting for setting in settings.SETTINGS if not setting.sampling)
        return {**{column.name: input_field(column) for column in columns}, **super().get_fields()}


class NewJudge(JudgeSettings):
    """A judge to be made."""

    name = serializers.CharField(max_length=settings.NAME.max_length)
    kind = serializers.ChoiceField(choices=JUDGE_KINDS)


class JudgeChanges(JudgeSettings):
    """Changed settings of a judge."""

    name = serializers.CharField(required=False, max_length=settings.NAME.max_length)
    version = Version()


class SuggestionOptions(Query):
    """Beside the file in a form, or in the query of a raw upload."""

    subset = serializers.SlugField(required=False, max_length=64, help_text="Only its records.")


class RawSuggestionOptions(SuggestionOptions):
    """The options of a raw upload."""

    filename = serializers.CharField(required=False, max_length=255)


class SuggestionUpload(SuggestionOptions):
    """A file with its options."""

    file = serializers.FileField(allow_empty_file=True)


class SuggestionImport(Output):
    """The result of an import. `created` and `unchanged` count trajectories, `labels` what was stored;
    `missing`, `invalid`, `extra` and `failed` count what the file holds, stored now or before."""

    created = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    labels = serializers.IntegerField()
    missing = serializers.IntegerField()
    invalid = serializers.IntegerField()
    extra = serializers.IntegerField()
    failed = serializers.IntegerField()


class Answer(Output):
    """One call of a judge, as it went over the wire; keys are redacted. A response is kept up to 1 MB."""

    id = serializers.UUIDField()
    run = serializers.IntegerField(source="run_id")
    judge = serializers.IntegerField(source="judge_id")
    trajectory = serializers.IntegerField(source="trajectory_id")
    attempt = serializers.IntegerField()
    status = serializers.IntegerField(allow_null=True)
    failure = serializers.CharField()
    message = Sentence()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    estimated = serializers.BooleanField()
    cost = serializers.DecimalField(max_digits=18, decimal_places=10)
    latency_ms = serializers.IntegerField()
    tries = serializers.IntegerField()
    notes = serializers.DictField()
    request = serializers.SerializerMethodField()
    response = serializers.SerializerMethodField()
    response_size = serializers.IntegerField()
    created_at = serializers.DateTimeField()

    def get_request(self, row: Any) -> str:
        """The body that was sent, as text."""
        return str(self.context["request_text"])

    def get_response(self, row: Any) -> str:
        """The body that came back, as text."""
        return str(self.context["response_text"])


class ChosenJudges(Input):
    """Three judges or more, by their ids."""

    judges = serializers.ListField(child=Whole(min_value=1, max_value=MAX_BIGINT), max_length=100)


class Settlement(Output):
    """Verdicts on trajectories, counted. Among those for `people` are those `claimed` by people before, and
    those `lacking` the answer of a judge that failed; `waiting` are those that a judge has not been asked
    about."""

    judged = serializers.IntegerField()
    dropped = serializers.IntegerField()
    people = serializers.IntegerField()
    claimed = serializers.IntegerField()
    lacking = serializers.IntegerField()
    waiting = serializers.IntegerField()


class JudgedAudit(Output):
    """The agreement of people with the judges: of the `drawn` trajectories, `done` are resolved by people,
    and `agreed` of them have the same order; `low` and `high` are Wilson's 95 % interval of the `share`,
    which is null before any is resolved."""

    drawn = serializers.IntegerField()
    done = serializers.IntegerField()
    agreed = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    low = serializers.FloatField()
    high = serializers.FloatField()


class JudgesFirst(Output):
    """A summary of what judges settled before people were asked, and of people's agreement with it."""

    judged = serializers.IntegerField()
    dropped = serializers.IntegerField()
    people = serializers.IntegerField()
    waiting = serializers.IntegerField()
    audit = JudgedAudit()


class SendBack(Input):
    """Trajectories by their ids; left out: all that judges have settled."""

    trajectories = serializers.ListField(
        required=False, child=Whole(min_value=1, max_value=MAX_BIGINT), min_length=1, max_length=1_000
    )


class SentBack(Output):
    """The number of trajectories that went to people."""

    sent = serializers.IntegerField()
