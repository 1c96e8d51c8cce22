"""Prompts of a release."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.asking import settings as limits
from annotation.core.asking.settings import PromptSettings
from annotation.core.asking.templates import MAX_TEMPLATE
from annotation.core.errors import Invalid
from annotation.core.judging.kinds import KINDS
from annotation.core.releases.exports.options import seed_of, share
from annotation.models import Judge, Project

TEMPLATE = "templates."


class PromptsForm(forms.Form):
    """The choices of a set of prompts, and a text of one's own for each subset; what they may be is decided
    in core.asking.settings."""

    name = forms.SlugField(
        label=_("Name"), max_length=64, help_text=_("Letters, digits, hyphens and underscores.")
    )
    shots = forms.TypedChoiceField(
        label=_("Examples in each prompt"),
        coerce=int,
        choices=[(n, n) for n in range(limits.MAX_SHOTS + 1)],
        initial=limits.SHOTS,
        help_text=_("With their answers; of other tasks, which are not for testing."),
    )
    split = forms.CharField(
        label=_("Share of tasks for testing"),
        max_length=12,
        initial=limits.SPLIT,
        help_text=_("Between 0 and 1, such as 0.8. Examples come from the other tasks."),
        widget=forms.TextInput({"inputmode": "decimal"}),
    )
    seed = forms.CharField(
        label=_("Seed"),
        max_length=19,
        initial=0,
        help_text=_("Draws the tasks for testing, as that of an export does, and the examples."),
        widget=forms.TextInput({"inputmode": "numeric"}),
    )
    tokens = forms.IntegerField(
        label=_("Tokens of a prompt, at most"),
        min_value=limits.FEWEST_TOKENS,
        max_value=limits.MOST_TOKENS,
        initial=limits.TOKENS,
        help_text=_("Estimated, on the high side. A longer history is cut in its middle, options never."),
    )

    def __init__(self, *args: Any, subsets: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for subset in subsets:
            self.fields[f"{TEMPLATE}{subset}"] = forms.CharField(
                label=subset,
                required=False,
                max_length=MAX_TEMPLATE,
                widget=forms.Textarea({"rows": 8, "class": "mono", "spellcheck": "false"}),
            )

    @property
    def chosen(self) -> list[forms.BoundField]:
        """The fields without the texts."""
        return [field for field in self if not field.name.startswith(TEMPLATE)]

    @property
    def texts(self) -> list[forms.BoundField]:
        """The texts of one's own, one for each subset."""
        return [field for field in self if field.name.startswith(TEMPLATE)]

    def asked(self) -> PromptSettings:
        """The choices. Raises Invalid with the fields that are wrong."""
        values = self.cleaned_data
        problems: dict[str, str] = {}
        read: dict[str, Any] = {}
        for name, parse in (("split", share), ("seed", seed_of)):
            try:
                read[name] = parse(values[name])
            except Invalid as error:
                problems |= error.fields
        if problems:
            raise Invalid(next(iter(problems.values())), fields=problems)
        return PromptSettings.of(
            shots=values["shots"],
            tokens=values["tokens"],
            templates={
                name.removeprefix(TEMPLATE): text
                for name, text in values.items()
                if name.startswith(TEMPLATE)
            },
            **read,
        )


class AskForm(forms.Form):
    """A judge that is asked a set of prompts, and the most that may cost."""

    judge = forms.ModelChoiceField(label=_("Judge"), queryset=Judge.objects.none())
    budget = forms.DecimalField(
        label=_("Budget, in US dollars"),
        required=False,
        min_value=Decimal("0.000001"),
        max_digits=14,
        decimal_places=6,
        help_text=_("The run stops before a call could exceed it."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        kinds = [name for name, kind in KINDS.items() if kind.prompted]
        self.fields["judge"].queryset = Judge.objects.filter(  # type: ignore[attr-defined]
            project=project, kind__in=kinds, retired_at=None
        )
