"""Deriving decisions from a release."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.questions import LANGUAGES
from annotation.core.decisions.recipes import Recipe
from annotation.core.decisions.record import MAX_OPTIONS

RECIPES = (
    (Recipe.SHARED.value, _("Where runs part: the actions at a history that several runs have")),
    (Recipe.FIRST_ERROR.value, _("First errors: each beside what is right at the same history")),
    (Recipe.NEXT_STEP.value, _("Next step, a question: what a good run did, among other actions")),
    (Recipe.FIRST_ERROR_STEP.value, _("First error, a question: which step of a run it is, or none")),
    (Recipe.NEXT_CALL.value, _("Next call, a question: a right call as text, of at most 20 words")),
    (Recipe.FINAL_ANSWER.value, _("Final answer, a question: what a successful run answered")),
)
_NAMES = {"en": _("English"), "zh": _("Chinese")}


class DerivationForm(forms.Form):
    """A form for what is derived, and the set that it comes into."""

    into = forms.ChoiceField(label=_("Project of decisions"))
    subset = forms.SlugField(
        label=pgettext_lazy("of decisions", "Set"),
        max_length=64,
        help_text=_("Letters, digits, hyphens and underscores."),
    )
    recipe = forms.ChoiceField(label=_("Recipe"), choices=RECIPES, widget=forms.RadioSelect)
    options = forms.IntegerField(
        label=_("Options of an item, at most"),
        required=False,
        min_value=2,
        max_value=MAX_OPTIONS,
        help_text=_("Of a next step exactly so many; four, if nothing stands here."),
    )
    fewer = forms.BooleanField(label=_("Keep next steps that have fewer options"), required=False)
    successful = forms.BooleanField(
        label=_("Ask of every successful run, not only of those without an error"), required=False
    )
    language = forms.ChoiceField(
        label=_("Language of the questions"),
        choices=[(name, _NAMES[name]) for name in LANGUAGES],
        required=False,
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=MAX_INT,
        help_text=_("Draws the options where there are more."),
    )

    def __init__(self, *args: Any, projects: Iterable[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["into"].choices = list(projects)  # type: ignore[attr-defined]

    def asked(self) -> dict[str, Any]:
        """The options of the service's request."""
        names = ("recipe", "options", "seed", "fewer", "successful")
        language = self.cleaned_data["language"] or LANGUAGES[0]
        return {name: self.cleaned_data[name] for name in names} | {"language": language}


class AnywayForm(forms.Form):
    """The confirmation that it is derived although too few people are left."""

    anyway = forms.BooleanField(label=_("Derive also the items for which too few are left."), required=False)
