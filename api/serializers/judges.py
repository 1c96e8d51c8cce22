"""Judges, what they suggest in files, and their raw answers."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.judging.prompt import VERSIONS
from annotation.core.text import escape
from annotation.core.vocabulary import JudgeKind
from annotation.models import MAX_CONCURRENCY

from .base import Input, Output, Query, StoredText, Whole, words

KINDS = words(JudgeKind)
STRUCTURED = ("auto", "json_schema", "json_object", "none")
MAX_INT = 2**31 - 1
MAX_DEPTH = 8


@extend_schema_field({"type": "object", "additionalProperties": True, "example": {"temperature": 0}})
class Sampling(serializers.DictField):
    """What is sent with each request: temperature, top_p, seed, max_tokens, and `extra` for anything else."""

    default_error_messages = {
        "unfit": _("This holds what cannot be stored: NUL, half a character, too deep.")
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The mapping."""
        value: dict[str, Any] = super().to_internal_value(data)
        if not _fits(value, MAX_DEPTH):
            self.fail("unfit")
        return value


def _fits(value: Any, depth: int) -> bool:
    """Whether every database takes it as JSON and gives it back."""
    if isinstance(value, str):
        return escape(value) == value
    if isinstance(value, dict):
        return depth > 0 and all(_fits(key, 0) and _fits(item, depth - 1) for key, item in value.items())
    if isinstance(value, list):
        return depth > 0 and all(_fits(item, depth - 1) for item in value)
    return not isinstance(value, float) or value - value == 0


class Price(serializers.DecimalField):
    """US dollars per million tokens."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_digits=12, decimal_places=6, **kwargs)


class Judge(Output):
    """A judge. `key_name` names an environment variable; no answer ever holds a key. `locked`: it has made
    suggestions, so that what its answers depend on is fixed."""

    id = serializers.IntegerField()
    project = serializers.CharField(source="project.slug")
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS)
    model = serializers.CharField()
    base_url = serializers.CharField()
    key_name = serializers.CharField()
    sampling = serializers.DictField()
    structured_output = serializers.CharField()
    with_reference = serializers.BooleanField()
    context_tokens = serializers.IntegerField()
    price_input = Price()
    price_output = Price()
    price_cached = Price(allow_null=True)
    rate_per_minute = serializers.IntegerField(allow_null=True)
    concurrency = serializers.IntegerField()
    timeout_seconds = serializers.IntegerField()
    prompt_version = serializers.CharField()
    suggestions = serializers.IntegerField(source="suggestion_count")
    locked = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    retired_at = serializers.DateTimeField(allow_null=True)

    def get_locked(self, row: Any) -> bool:
        """Whether what its answers depend on is fixed."""
        return bool(row.suggestion_count)


class JudgeSettings(Input):
    """The settings of a judge, all optional."""

    model = serializers.CharField(required=False, allow_blank=True, max_length=200)
    base_url = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=500,
        help_text="Must begin with an address that the operator allows (TRISTEP_JUDGE_URLS).",
    )
    key_name = serializers.CharField(
        required=False, allow_blank=True, max_length=120, help_text="The name of an environment variable."
    )
    sampling = Sampling(required=False)
    structured_output = serializers.ChoiceField(required=False, choices=STRUCTURED)
    with_reference = serializers.BooleanField(required=False)
    context_tokens = Whole(required=False, min_value=1_024, max_value=MAX_INT)
    price_input = Price(required=False, min_value=0)
    price_output = Price(required=False, min_value=0)
    price_cached = Price(required=False, min_value=0, allow_null=True)
    rate_per_minute = Whole(required=False, min_value=1, max_value=MAX_INT, allow_null=True)
    concurrency = Whole(required=False, min_value=1, max_value=MAX_CONCURRENCY)
    timeout_seconds = Whole(required=False, min_value=1, max_value=3_600)
    prompt_version = serializers.ChoiceField(required=False, choices=VERSIONS)


class NewJudge(JudgeSettings):
    """A judge to be made."""

    name = serializers.CharField(max_length=120)
    kind = serializers.ChoiceField(choices=KINDS)


class JudgeChanges(JudgeSettings):
    """What shall change."""

    name = serializers.CharField(required=False, max_length=120)


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
    """What came of a file. `created` and `unchanged` count trajectories, `labels` what was stored; `missing`,
    `invalid`, `extra` and `failed` count what the file holds, stored now or before."""

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
    message = StoredText()
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
