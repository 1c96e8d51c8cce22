"""The form of a webhook."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.vocabulary import WebhookEvent
from annotation.models.connections.webhooks import MAX_NAME, MAX_URL

EVENT_NAMES = {
    WebhookEvent.SUBMITTED: _("somebody has submitted a trajectory"),
    WebhookEvent.DISPUTED: _("a trajectory is disputed"),
    WebhookEvent.RESOLVED: _("a trajectory is resolved"),
    WebhookEvent.MEMBER_PAUSED: _("a member is paused"),
    WebhookEvent.RUN_FINISHED: _("a run of a judge has ended"),
    WebhookEvent.RELEASE_FROZEN: _("a release is frozen"),
    WebhookEvent.TEST: _("a test"),
}


class WebhookForm(forms.Form):
    """An address and the events that it is told of; the service checks both."""

    name = forms.CharField(label=_("Name"), max_length=MAX_NAME, help_text=_("For admins."))
    url = forms.CharField(
        label=_("Address"),
        max_length=MAX_URL,
        widget=forms.TextInput({"spellcheck": "false", "inputmode": "url"}),
        help_text=_("Only addresses that the operator of this Tristep allows (TRISTEP_WEBHOOK_URLS)."),
    )
    events = forms.MultipleChoiceField(
        label=_("Events"),
        choices=[(event.value, name) for event, name in EVENT_NAMES.items() if event != WebhookEvent.TEST],
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "Events tell when others have submitted, and whether they agree. Whoever reads them at that "
            "address should not label in this project."
        ),
    )
