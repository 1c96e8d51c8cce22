"""Prompts of a release."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.asking import settings as limits
from annotation.core.asking.templates import MAX_TEMPLATE
from annotation.core.releases.exports.options import MAX_SEED
from annotation.core.vocabulary import PromptSetState

from .base import Input, Output, Sentence, Whole, words


class NewPrompts(Input):
    """Make prompts of a release under a name."""

    name = serializers.SlugField(max_length=64)
    shots = Whole(
        required=False,
        default=limits.SHOTS,
        min_value=0,
        max_value=limits.MAX_SHOTS,
        help_text="Examples in each prompt, of other tasks, which are not for testing.",
    )
    seed = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_SEED,
        help_text="Draws the tasks for testing, as that of an export does, and the examples.",
    )
    split = serializers.FloatField(
        required=False,
        default=limits.SPLIT,
        min_value=0,
        max_value=1,
        help_text="The share of each subset's tasks that is for testing, such as 0.8.",
    )
    tokens = Whole(
        required=False,
        default=limits.TOKENS,
        min_value=limits.FEWEST_TOKENS,
        max_value=limits.MOST_TOKENS,
        help_text="Of a prompt, at most, estimated on the high side: a longer history is cut in its middle.",
    )
    templates = serializers.DictField(
        child=serializers.CharField(max_length=MAX_TEMPLATE, allow_blank=True, trim_whitespace=False),
        required=False,
        default=dict,
        help_text="By subset, a text of one's own in place of the built-in ones, with `{{examples}}`, and "
        "after it `{{history}}` and `{{options}}`.",
    )


class PromptOptions(Output):
    """The requested options."""

    shots = serializers.IntegerField()
    seed = serializers.IntegerField()
    split = serializers.FloatField()
    tokens = serializers.IntegerField()
    templates = serializers.DictField(child=serializers.CharField())
    version = serializers.CharField(help_text="Of the built-in texts.")


class PromptGroup(Output):
    """Questions that share their examples."""

    subset = serializers.CharField()
    kind = serializers.CharField(help_text="`choice`, `keys`, `command` or `answer`.")
    language = serializers.CharField(help_text="Of the words, `en` or `zh`.")
    test = serializers.IntegerField()
    train = serializers.IntegerField()
    cut = serializers.IntegerField()
    too_long = serializers.IntegerField()
    fewer_shots = serializers.IntegerField()


class PromptCounts(Output):
    """The counts of a set."""

    test = serializers.IntegerField(help_text="Prompts of tasks that are for testing.")
    train = serializers.IntegerField(help_text="Prompts of other tasks.")
    cut = serializers.IntegerField(help_text="Prompts whose history is cut.")
    too_long = serializers.IntegerField(help_text="Questions that do not fit even so, and have no prompt.")
    too_long_named = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="The first of them, each by its subset and `record_id`.",
    )
    fewer_shots = serializers.IntegerField(help_text="Prompts with fewer examples than were asked for.")
    not_asked = serializers.DictField(
        child=serializers.IntegerField(), help_text="Records that are no question to be asked, by the reason."
    )
    most_tokens = serializers.IntegerField(help_text="Of the longest prompt, estimated.")
    test_tokens = serializers.IntegerField(help_text="Of all prompts that are for testing, estimated.")
    groups = PromptGroup(many=True)


class PromptProgress(Output):
    """The progress, in records read; each is read twice."""

    done = serializers.IntegerField(source="progress_done")
    total = serializers.IntegerField(source="progress_total")


class PromptSet(Output):
    """The prompts of a release under one name. `counts` and `digest` are there once they are made; `error`
    says why they are not."""

    name = serializers.CharField()
    state = serializers.ChoiceField(choices=words(PromptSetState))
    options = PromptOptions(source="parsed_settings")
    progress = PromptProgress(source="*")
    error = Sentence()
    counts = PromptCounts(source="parsed_counts", allow_null=True)
    digest = serializers.CharField(allow_blank=True, help_text="SHA-256 of the file.")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
