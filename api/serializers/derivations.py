"""Decisions that are derived from a release."""

from __future__ import annotations

from rest_framework import serializers

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.derive import Recipe
from annotation.importers.decisions.tristep_decision import MAX_OPTIONS

from .base import Input, Output, Query, Whole

_RECIPES = [(recipe.value, recipe.value) for recipe in Recipe]


class PreviewedDerivation(Query):
    """What to derive, and into which project."""

    into = serializers.SlugField(max_length=64, help_text="The slug of a project of decisions.")
    recipe = serializers.ChoiceField(choices=_RECIPES)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MAX_INT)
    options = serializers.IntegerField(
        required=False,
        min_value=2,
        max_value=MAX_OPTIONS,
        help_text="Of an item at most so many options, drawn by the seed.",
    )


class NewDerivation(Input):
    """Derive decisions from a release into a set."""

    into = serializers.SlugField(max_length=64, help_text="The slug of a project of decisions.")
    set = serializers.SlugField(max_length=64, help_text="The set, a subset of that project.")
    recipe = serializers.ChoiceField(choices=_RECIPES)
    seed = Whole(required=False, default=0, min_value=0, max_value=MAX_INT)
    options = Whole(
        required=False,
        min_value=2,
        max_value=MAX_OPTIONS,
        help_text="Of an item at most so many options, drawn by the seed.",
    )
    anyway = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Go on where fewer people are left for an item than have to label it; the import says for "
        "how many.",
    )


class DerivationCounts(Output):
    """The counts of a derivation, as far as they apply to its recipe."""

    histories = serializers.IntegerField()
    items = serializers.IntegerField()
    tasks = serializers.IntegerField()
    pairs = serializers.IntegerField(help_text="Pairs of a better and a worse option.")
    left_out = serializers.IntegerField(help_text="Actions without one label of their own.")
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


class DerivationPreview(Output):
    """What a derivation would bring."""

    counts = DerivationCounts()
    annotators = serializers.IntegerField(help_text="Of the project that it comes into.")
    needed = serializers.IntegerField(help_text="How many of them label each item.")
    too_few = serializers.IntegerField(
        help_text="Items for which fewer are left, because the others know what became of their sources."
    )
