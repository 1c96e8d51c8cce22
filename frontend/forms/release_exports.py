"""The form for exporting a release as a data set."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.kinds import Feature, ProjectKind
from annotation.core.releases.exports import FORMATS
from annotation.core.releases.exports.formats.base import ZERO_CUT, ZERO_FALSE, ZERO_MERGE, ZERO_TRUE
from annotation.core.releases.exports.formats.protocols import INDEPENDENT, PROPAGATED
from annotation.language import translated_lazy

FIELDS_NEED = {"protocol": Feature.PROPAGATION, "zero": Feature.STEP_REWARDS}
"""The choices that not every kind of project has."""


class ExportForm(forms.Form):
    """The choices of core.releases.exports; what they may be is decided there."""

    format = forms.ChoiceField(label=_("Format"))
    split = forms.CharField(
        label=_("Share of tasks for testing"),
        required=False,
        max_length=12,
        help_text=_("Between 0 and 1, such as 0.2; empty: no split. A task is never on both sides."),
        widget=forms.TextInput({"inputmode": "decimal"}),
    )
    seed = forms.CharField(
        label=_("Seed"),
        required=False,
        max_length=19,
        help_text=_("Seed of the random choice of these tasks."),
        widget=forms.TextInput({"inputmode": "numeric", "placeholder": "0"}),
    )
    protocol = forms.ChoiceField(
        label=_("Consequences of an error"),
        choices=(
            (PROPAGATED, _("−1, as they were frozen")),
            (INDEPENDENT, _("without a label: each step is judged for itself")),
        ),
    )
    zero = forms.ChoiceField(
        label=_("The label 0"),
        choices=(
            (ZERO_TRUE, _("is true: the step is no error")),
            (ZERO_FALSE, _("is false: only effective steps are rewarded")),
            (ZERO_MERGE, _("has no label of its own; its text stays")),
            (ZERO_CUT, _("ends the trajectory")),
        ),
        help_text=_("Only for step rewards."),
    )
    blind_labels = forms.BooleanField(
        label=_("With blind labels"),
        required=False,
        help_text=_(
            "What each annotator said before seeing anything, under pseudonyms. "
            "Only for the Hugging Face data set."
        ),
    )

    def __init__(self, *args: Any, kind: ProjectKind, blind: bool, **kwargs: Any) -> None:
        """`kind` of project, and `blind`: the viewer may have blind labels."""
        kwargs["auto_id"] = "export-%s"
        super().__init__(*args, **kwargs)
        formats = [format for format in FORMATS if format.options and kind.has(format.needs)]
        self.fields["format"].choices = [  # type: ignore[attr-defined]
            (format.name, translated_lazy(format.title)) for format in formats
        ]
        for name, needs in FIELDS_NEED.items():
            if not kind.has(needs):
                del self.fields[name]
        if not blind:
            del self.fields["blind_labels"]
