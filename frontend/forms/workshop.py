"""Forms of the prompt workshop: drawing a sample, trying a prompt on it."""

from __future__ import annotations

from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.bounds import MAX_INT
from annotation.core.judging import LATEST, VERSIONS
from annotation.core.seed import SEED


class SampleForm(forms.Form):
    """A form for a sample: its size, and the seed of its drawing."""

    size = forms.IntegerField(label=_("Trajectories"), min_value=1, max_value=1_000, initial=50)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=MAX_INT, initial=SEED)


class TrialForm(forms.Form):
    """A form for a trial: its prompt, and the most it may cost."""

    prompt_version = forms.ChoiceField(
        label=_("Prompt"), choices=[(one, one) for one in reversed(VERSIONS)], initial=LATEST
    )
    budget = forms.DecimalField(
        label=_("Budget, in US dollars"),
        required=False,
        min_value=Decimal("0.000001"),
        max_digits=14,
        decimal_places=6,
        help_text=_("The run stops before a call could exceed it."),
    )
