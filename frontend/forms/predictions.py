"""Files of what a model predicts of a release."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.label_files import MAX_FILE
from annotation.services.evaluate.store import MAX_MODEL, MAX_PROMPT_VERSION
from frontend.forms.imports import ManyFilesField


class PredictionFileForm(forms.Form):
    """The files, whose predictions they are, and what else is known of them."""

    model = forms.CharField(
        label=_("Model"),
        max_length=MAX_MODEL,
        help_text=_("Records that an existing model lacks are added to it."),
    )
    file = ManyFilesField(
        label=_("Files"),
        help_text=_(
            "Choose files or drop them here, for example one for each subset. JSON Lines: record_id, "
            "step_labels, final_label and explanations in each line."
        ),
    )
    subset = forms.ChoiceField(label=_("Subset"), required=False)
    strict = forms.BooleanField(
        label=_("Refuse a file with records that the release lacks"),
        required=False,
        help_text=_("Otherwise they are left out and counted."),
    )
    prompt_version = forms.CharField(label=_("Prompt version"), required=False, max_length=MAX_PROMPT_VERSION)
    judged_on = forms.DateField(
        label=_("Date of the predictions"), required=False, widget=forms.DateInput({"type": "date"})
    )
    cost = forms.DecimalField(
        label=_("Cost in US dollars"), required=False, max_digits=12, decimal_places=4, min_value=0
    )

    def __init__(self, *args: Any, subsets: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        everywhere = ("", _("Look up each record in the whole release"))
        self.fields["subset"].choices = [everywhere, *((name, name) for name in subsets)]  # type: ignore[attr-defined]

    def clean_file(self) -> Any:
        """Files that can be read whole."""
        if any(file.size > MAX_FILE for file in self.cleaned_data["file"]):
            raise forms.ValidationError(_("A file of predictions may have at most 100 MB."))
        return self.cleaned_data["file"]
