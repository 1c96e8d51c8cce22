"""Freezing and withdrawing a release."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.kinds import Feature, ProjectKind
from annotation.core.releases.licences import LICENCES
from annotation.reports.releases.freeze_checklist import FreezeChecklist
from annotation.services.release.freeze_request import MAX_LICENCE, MAX_NOTE, MAX_TITLE

OWN = "own"
BAND = ("difficulty_from", "difficulty")
"""The fields of the band of difficulty. What is wrong with both stands at the second."""


class ThresholdForm(forms.Form):
    """Below which agreement a subset is in doubt."""

    threshold = forms.FloatField(label=_("Threshold"), min_value=0, max_value=1)


def _licences() -> list[tuple[str, str]]:
    return [
        ("", gettext("None stated")),
        *((key, f"{title} ({key})") for key, title in LICENCES.items()),
        (OWN, gettext("Another, in your own words")),
    ]


class FreezeForm(forms.Form):
    """A form for a freeze: version, title, note, licence, subsets left out, and three confirmations."""

    version = forms.CharField(
        label=_("Version"), max_length=40, help_text=_("Letters, digits, dots, hyphens; for example 1.0.")
    )
    title = forms.CharField(label=_("Title"), required=False, max_length=MAX_TITLE)
    licence = forms.ChoiceField(label=_("Licence"), required=False, choices=_licences)
    own_licence = forms.CharField(
        label=_("Licence in your own words"),
        required=False,
        max_length=MAX_LICENCE,
        widget=forms.Textarea({"rows": 2}),
    )
    note = forms.CharField(
        label=_("Note"), required=False, max_length=MAX_NOTE, widget=forms.Textarea({"rows": 3})
    )
    leave_out = forms.MultipleChoiceField(required=False)
    difficulty_from = forms.FloatField(label=_("Difficulty from"), required=False, min_value=0, max_value=1)
    difficulty = forms.FloatField(
        label=_("Difficulty to"),
        required=False,
        min_value=0,
        max_value=1,
        help_text=_(
            "With either, only decisions in this band come into the release, both ends included, and none "
            "that no judge was asked about."
        ),
    )
    unresolved = forms.BooleanField(label=_("Unresolved trajectories will be left out."), required=False)
    doubtful = forms.BooleanField(
        label=_("Subsets whose agreement is below the threshold or unknown will be included."),
        required=False,
    )
    final = forms.BooleanField(
        label=_("Nobody will be able to change or delete anything in the release."),
        error_messages={"required": _("Tick this to freeze the release.")},
    )

    def __init__(self, data: Any, checklist: FreezeChecklist, *, kind: ProjectKind) -> None:
        super().__init__(data)
        if not kind.has(Feature.PAIRS):
            for name in BAND:
                del self.fields[name]
        self.checklist = checklist
        leave_out = self.fields["leave_out"]
        assert isinstance(leave_out, forms.MultipleChoiceField)
        leave_out.choices = [(line.name, line.name) for line in checklist.subsets]

    def clean(self) -> dict[str, Any]:
        """The two boxes are needed when there is something to know, in what is not left out."""
        cleaned = super().clean() or {}
        leave_out = cleaned.get("leave_out", [])
        wanted = {
            "unresolved": self.checklist.unresolved(leave_out) > 0,
            "doubtful": bool(self.checklist.doubtful(leave_out)),
        }
        for name, needed in wanted.items():
            if needed and not cleaned.get(name):
                self.add_error(name, gettext("Tick this to freeze the release."))
        if cleaned.get("licence") == OWN and not cleaned.get("own_licence", "").strip():
            self.add_error("own_licence", gettext("Say under which licence the release is given."))
        return cleaned

    def asked(self) -> dict[str, Any]:
        """The keyword arguments of the service."""
        cleaned = self.cleaned_data
        licence = cleaned["own_licence"] if cleaned["licence"] == OWN else cleaned["licence"]
        kept = {name: cleaned[name] for name in ("version", "title", "note", "leave_out")}
        low, high = (cleaned.get(name) for name in BAND)
        band = None if low is None and high is None else (low or 0.0, 1.0 if high is None else high)
        return {**kept, "licence": licence, "difficulty": band}


class WithdrawForm(forms.Form):
    """A form for the reason why a release is faulty."""

    reason = forms.CharField(label=_("Reason"), max_length=MAX_NOTE, widget=forms.Textarea({"rows": 3}))


class PublicForm(forms.Form):
    """The switches of a release's public address."""

    is_open = forms.BooleanField(
        label=_("Everybody may read this release"),
        required=False,
        help_text=_(
            "Figures, pictures and all its files: trajectories with their labels. No sign-in is needed."
        ),
    )
    shows_leaderboard = forms.BooleanField(
        label=_("Show the leaderboard there"),
        required=False,
        help_text=_("Models and their figures; not who uploaded them."),
    )
    may_be_indexed = forms.BooleanField(
        label=_("Search engines may list it"),
        required=False,
    )
