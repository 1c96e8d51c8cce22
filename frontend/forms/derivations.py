"""Deriving decisions from a release."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.derive import Recipe
from annotation.importers.decisions.tristep_decision import MAX_OPTIONS

RECIPES = (
    (Recipe.SHARED.value, _("Where runs part: the actions at a history that several runs have")),
    (Recipe.FIRST_ERROR.value, _("First errors: each beside what is right at the same history")),
)


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
        label=_("Options of an item, at most"), required=False, min_value=2, max_value=MAX_OPTIONS
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
        return {name: self.cleaned_data[name] for name in ("recipe", "options", "seed")}


class AnywayForm(forms.Form):
    """The confirmation that it is derived although too few people are left."""

    anyway = forms.BooleanField(label=_("Derive also the items for which too few are left."), required=False)
