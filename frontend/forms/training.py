"""The form of a proficiency test."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.training.choosing import FEWEST
from annotation.models import ProficiencyTest, Project, Subset
from annotation.models.people.training import MAX_ATTEMPTS, MAX_WAIT_HOURS

MARKS = ("agreement", "error_recall", "first_error")
OURS = {"agreement": 80, "error_recall": 70, "first_error": 60}
"""The marks that a new test begins with, in percent: ours (docs/training.md)."""


def _mark(name: str, label: Any, help_text: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label=label, help_text=help_text, min_value=1, max_value=100, required=False, initial=OURS[name]
    )


class TestForm(forms.Form):
    """The rules of a test: marks in percent, attempts, and the subsets that it opens."""

    agreement = _mark(
        "agreement",
        _("Agreement to reach (%)"),
        _("Labels as in the key, outcomes included. Empty: not asked."),
    )
    error_recall = _mark("error_recall", _("Errors to find (%)"), _("Of the steps that are −1 in the key."))
    first_error = _mark(
        "first_error",
        _("First errors to find (%)"),
        _("Of the trajectories with an error: those whose first one was found."),
    )
    per_attempt = forms.IntegerField(
        label=_("Items of an attempt"),
        min_value=FEWEST,
        required=False,
        help_text=_(
            "Empty: all. With twice as many items as an attempt has, a second attempt asks other ones than "
            "the first, whose keys its result has shown."
        ),
    )
    attempts = forms.IntegerField(label=_("Attempts"), min_value=1, max_value=MAX_ATTEMPTS, initial=3)
    wait_hours = forms.IntegerField(
        label=_("Hours before the next attempt"), min_value=0, max_value=MAX_WAIT_HOURS, initial=24
    )
    each_guideline = forms.BooleanField(label=_("New guidelines ask for it again"), required=False)
    opens = forms.ModelMultipleChoiceField(
        Subset.objects.none(),
        label=_("Subsets that it opens"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Only who has passed is given trajectories of these."),
    )

    def __init__(
        self, *args: Any, project: Project, test: ProficiencyTest | None = None, **kwargs: Any
    ) -> None:
        if test is not None:
            kwargs["initial"] = {
                **{name: _percent(getattr(test, name)) for name in MARKS},
                **{name: getattr(test, name) for name in ("per_attempt", "attempts", "wait_hours")},
                "each_guideline": test.each_guideline,
                "opens": list(test.opens.values_list("pk", flat=True)),
            }
        super().__init__(*args, **kwargs)
        field: Any = self.fields["opens"]
        field.queryset = Subset.objects.filter(project=project, training=False).order_by("name")
        if not field.queryset.exists():
            del self.fields["opens"]

    def settings(self) -> dict[str, Any]:
        """The fields of the test, marks as shares."""
        values = {name: value for name, value in self.cleaned_data.items() if name != "opens"}
        return {
            **values,
            **{name: None if values[name] is None else values[name] / 100 for name in MARKS},
        }


def _percent(share: float | None) -> int | None:
    return None if share is None else round(share * 100)
