"""Freezing and withdrawing a release."""

from django import forms
from django.utils.translation import gettext_lazy as _


class FreezeForm(forms.Form):
    """The name of the version, and what is to be said of it."""

    version = forms.CharField(
        label=_("Version"), max_length=40, help_text=_("Letters, digits, dots, hyphens; for example 1.0.")
    )
    note = forms.CharField(
        label=_("Note"), required=False, max_length=20_000, widget=forms.Textarea({"rows": 3})
    )


class WithdrawForm(forms.Form):
    """Why a release is faulty."""

    reason = forms.CharField(label=_("Reason"), max_length=20_000, widget=forms.Textarea({"rows": 3}))


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
