"""The forms of a connection, and of what is asked of it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.connections import KINDS
from annotation.language import translated
from annotation.services.connections import operator


class ConnectionForm(forms.Form):
    """A place on an outside server; the service checks it against the operator's rules."""

    name = forms.CharField(label=_("Name"), max_length=80)
    kind = forms.ChoiceField(label=_("Kind"), choices=[(kind.name, kind.title) for kind in KINDS.values()])
    base_url = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.TextInput({"spellcheck": "false", "inputmode": "url"}),
    )
    key_name = forms.CharField(
        label=_("Environment variable of the key"),
        max_length=120,
        required=False,
        widget=forms.TextInput({"spellcheck": "false"}),
        help_text=_(
            "TRISTEP_CONNECTION_KEY_… on the server; empty where no key is wanted. For Langfuse, both keys "
            "as public:secret."
        ),
    )
    source = forms.CharField(
        label=_("Experiment or project there"), max_length=200, help_text=_("Its name, or its id.")
    )
    filter = forms.CharField(label=_("Filter"), max_length=1000, required=False)
    subset = forms.SlugField(
        label=_("Subset"), max_length=64, initial="runs", help_text=_("What is pulled comes into it.")
    )
    push_reasons = forms.BooleanField(
        label=_("Push notes of adjudicators too"),
        required=False,
        help_text=_("They may name people; whoever may read the server reads them."),
    )

    def __init__(self, *args: Any, changing: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if changing:
            del self.fields["kind"]
        allowed = ", ".join(operator().addresses)
        self.fields["base_url"].help_text = (
            _("The operator of this Tristep allows: %(addresses)s") % {"addresses": allowed}
            if allowed
            else _("The operator of this Tristep allows no address yet (TRISTEP_CONNECTION_URLS).")
        )
        helps = [f"{kind.title}: {translated(kind.filter_help)}" for kind in KINDS.values()]
        self.fields["filter"].help_text = " ".join(helps)


class VersionsForm(forms.Form):
    """Where new versions of what is labelled already go."""

    subset = forms.SlugField(label=_("New versions go into the subset"), max_length=64)
