"""Files of what a model predicts of a release."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.errors import Invalid
from annotation.core.label_files import MAX_FILE
from annotation.core.scoring.outside_numbers import parse_numbers
from annotation.core.scoring.scheme import BY_QUESTIONS, BY_STEPS, Scheme
from annotation.language import translated
from annotation.services.evaluate.outside_numbers import MAX_TITLE
from annotation.services.evaluate.store import MAX_MODEL, MAX_PROMPT_VERSION
from frontend.forms.imports import ManyFilesField

MAX_TABLE = 1 << 20


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

    def explain(self, scheme: Scheme, *, mixed: bool) -> None:
        """Say what lines look like on a release whose models are scored so; `mixed`: on one of questions and
        pairs."""
        choose = _("Choose files or drop them here, for example one for each subset.")
        if scheme is BY_STEPS:
            return
        of_pairs = _("JSON Lines: record_id, and one of labels, scores and choices in each line.")
        of_questions = _(
            "JSON Lines: uuid or record_id, and what the model wrote as output or pred, in each line: "
            '{"uuid": "…", "output": "B) …"}. Choices take labels of their options too.'
        )
        reasons = [of_questions] if scheme is BY_QUESTIONS or mixed else []
        if scheme is not BY_QUESTIONS or mixed:
            reasons.append(of_pairs)
        # the fields of a form that was checked are bound already
        self["file"].help_text = " ".join(map(str, (choose, *reasons)))

    def clean_file(self) -> Any:
        """Files that can be read whole."""
        if any(file.size > MAX_FILE for file in self.cleaned_data["file"]):
            raise forms.ValidationError(_("A file of predictions may have at most 100 MB."))
        return self.cleaned_data["file"]


class OutsideNumbersForm(forms.Form):
    """Numbers of models that come from elsewhere: pasted, or in a file."""

    title = forms.CharField(
        label=_("Title"), max_length=MAX_TITLE, help_text=_("What the numbers say, for example a score.")
    )
    numbers = forms.CharField(
        label=_("Numbers"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 5, "class": "mono"}),
        help_text=_(
            "One model a line: its name on the leaderboard, or that of a policy model, a comma, its number. "
            "Without a number, the model’s present one is taken away."
        ),
    )
    table = forms.FileField(
        label=_("Or a file"), required=False, help_text=_("CSV of two columns: name and number.")
    )

    def clean(self) -> dict[str, Any]:
        """With `numbers` by model."""
        cleaned = super().clean() or {}
        file, text = cleaned.get("table"), cleaned.get("numbers") or ""
        if file is not None and file.size > MAX_TABLE:
            raise forms.ValidationError({"table": _("A file of numbers may have at most 1 MB.")})
        try:
            table = "" if file is None else file.read().decode("utf-8-sig")
            cleaned["numbers"] = {**parse_numbers(text), **parse_numbers(table)}
        except UnicodeDecodeError as error:
            raise forms.ValidationError({"table": _("This file is not text in UTF-8.")}) from error
        except Invalid as error:
            raise forms.ValidationError({"numbers": translated(error.message)}) from error
        if not cleaned["numbers"]:
            raise forms.ValidationError({"numbers": _("Give at least one model with its number.")})
        return cleaned
