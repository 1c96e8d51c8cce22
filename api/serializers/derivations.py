"""Decisions that are derived from a release."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.questions import LANGUAGES
from annotation.core.decisions.recipes import Recipe
from annotation.core.decisions.record import MAX_OPTIONS

from .base import Input, Output, Query, Whole

_OPTIONS = "Of an item at most so many options, drawn by the seed; of a `next-step` exactly so many (4)."
_RECIPES = [(recipe.value, recipe.value) for recipe in Recipe]


class _OfQuestions(serializers.Serializer[dict[str, object]]):
    """Further parameters of recipes of questions."""

    fewer = serializers.BooleanField(
        required=False, default=False, help_text="Keep a `next-step` that has fewer options."
    )
    successful = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Ask of every successful run, not only of those without a −1.",
    )
    language = serializers.ChoiceField(
        choices=[(name, name) for name in LANGUAGES], required=False, default=LANGUAGES[0]
    )


class PreviewedDerivation(_OfQuestions, Query):
    """The derivation to preview, and the project that it goes into."""

    into = serializers.SlugField(max_length=64, help_text="The slug of a project of decisions.")
    recipe = serializers.ChoiceField(choices=_RECIPES)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_INT)
    options = serializers.IntegerField(
        required=False,
        min_value=2,
        max_value=MAX_OPTIONS,
        help_text=_OPTIONS,
    )


class NewDerivation(_OfQuestions, Input):
    """Derive decisions from a release into a set."""

    into = serializers.SlugField(max_length=64, help_text="The slug of a project of decisions.")
    set = serializers.SlugField(max_length=64, help_text="The set, a subset of that project.")
    recipe = serializers.ChoiceField(choices=_RECIPES)
    seed = Whole(required=False, default=0, min_value=0, max_value=MAX_INT)
    options = Whole(
        required=False,
        min_value=2,
        max_value=MAX_OPTIONS,
        help_text=_OPTIONS,
    )
    anyway = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Go on where fewer people are left for an item than have to label it; the import says for "
        "how many.",
    )


class DerivationCounts(Output):
    """The counts of a derivation, as far as they apply to its recipe."""

    items = serializers.IntegerField()
    tasks = serializers.IntegerField()
    histories = serializers.IntegerField(required=False)
    pairs = serializers.IntegerField(required=False, help_text="Pairs of a better and a worse option.")
    left_out = serializers.IntegerField(required=False, help_text="Actions without one label of their own.")
    shared = serializers.IntegerField(required=False, help_text="Histories that several runs have.")
    first_errors = serializers.IntegerField(required=False)
    with_sibling = serializers.IntegerField(required=False, help_text="With a right action beside them.")
    uncorrected = serializers.IntegerField(required=False, help_text="Histories without a right action.")
    corrected = serializers.IntegerField(required=False, help_text="First errors with a corrected action.")
    nothing_wrong = serializers.IntegerField(
        required=False, help_text="First errors in which a correction finds nothing wrong, left out."
    )
    no_right_action = serializers.IntegerField(
        required=False, help_text="First errors in whose place no action is right, left out."
    )
    runs = serializers.IntegerField(required=False)
    successful = serializers.IntegerField(required=False, help_text="Runs whose outcome is +1.")
    clean = serializers.IntegerField(required=False, help_text="Those of them without a −1.")
    steps = serializers.IntegerField(required=False, help_text="Steps that may be asked for.")
    with_later = serializers.IntegerField(
        required=False, help_text="Steps of these with enough later ones to choose among."
    )
    too_few_options = serializers.IntegerField(
        required=False, help_text="Questions without enough options, left out."
    )
    unfit = serializers.IntegerField(
        required=False, help_text="Steps or runs that make no question, left out."
    )
    repeats = serializers.IntegerField(required=False, help_text="Questions that repeat another, left out.")


class DerivationPreview(Output):
    """A preview of a derivation."""

    counts = DerivationCounts()
    annotators = serializers.IntegerField(help_text="Of the project that it comes into.")
    needed = serializers.IntegerField(help_text="How many of them label each item.")
    too_few = serializers.IntegerField(
        help_text="Items for which fewer are left, because the others know what became of their sources."
    )
