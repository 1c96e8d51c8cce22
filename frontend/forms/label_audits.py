"""The forms of an audit of labels."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.services.label_audits import MOST_DRAWS


class WishedForm(forms.Form):
    """The share of wrong labels that is to be proved, in per cent, and by what trajectories are drawn."""

    wished = forms.FloatField(
        label=_("Wrong labels, at most (%)"),
        min_value=0.1,
        max_value=99.0,
        initial=1.0,
        help_text=_("What the audit is to prove, once what it finds is corrected."),
    )
    mixed = forms.ChoiceField(
        label=_("Draw by"),
        choices=[("1", _("steps and what judges doubt")), ("0", _("steps alone"))],
        initial="1",
        help_text=_("Judges find more errors; good labels are proved with fewer draws by steps alone."),
    )

    def clean_mixed(self) -> bool:
        """Whether judges have a say."""
        return self.cleaned_data["mixed"] != "0"


class BeginForm(WishedForm):
    """The same with the number of draws."""

    draws = forms.IntegerField(label=_("Draws"), min_value=1, max_value=MOST_DRAWS)


class MoreForm(forms.Form):
    """The number of draws to add."""

    draws = forms.IntegerField(label=_("More draws"), min_value=1, max_value=MOST_DRAWS)
