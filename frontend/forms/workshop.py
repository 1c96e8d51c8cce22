"""Forms of the prompt workshop: drawing a sample, trying a prompt on it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.bounds import MAX_INT
from annotation.core.judging.prompts import versions_of
from annotation.core.kinds import ProjectKind
from annotation.core.seed import SEED


class SampleForm(forms.Form):
    """A form for a sample: its size, and the seed of its drawing."""

    size = forms.IntegerField(label=_("Trajectories"), min_value=1, max_value=1_000, initial=50)
    seed = forms.IntegerField(label=_("Seed"), min_value=0, max_value=MAX_INT, initial=SEED)


class TrialForm(forms.Form):
    """A form for a trial: its prompt, and the most it may cost."""

    prompt_version = forms.ChoiceField(label=_("Prompt"))
    budget = forms.DecimalField(
        label=_("Budget, in US dollars"),
        required=False,
        min_value=Decimal("0.000001"),
        max_digits=14,
        decimal_places=6,
        help_text=_("The run stops before a call could exceed it."),
    )

    def __init__(self, *args: Any, of_kind: ProjectKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        versions = [(one, one) for one in reversed(versions_of(of_kind))]
        self.fields["prompt_version"].choices = versions  # type: ignore[attr-defined]
