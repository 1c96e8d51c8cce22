"""The forms of the experiment and of triage."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.core.influence.triage import MAX_BATCH


class RandomiseForm(forms.Form):
    """A form for the number of arms of an experiment."""

    arms = forms.TypedChoiceField(
        label=_("Suggestions are shown"),
        coerce=int,
        choices=[
            (3, _("never, after their own label, or always")),
            (2, _("never or always: a smaller influence can be found")),
        ],
        widget=forms.RadioSelect,
        # docs/influence.md, "What can be found, and what chance finds"
        help_text=_(
            "With 200 tasks and two annotators each, three arms can show a difference of about 3 points, two "
            "arms one of about 2; with 50 tasks, 6 and 4 points."
        ),
    )


class TriageForm(forms.Form):
    """A form for the number of trajectories that are shuffled together."""

    batch_size = forms.IntegerField(
        label=_("Trajectories in a batch"),
        min_value=1,
        max_value=MAX_BATCH,
        help_text=_(
            "With larger batches annotators can tell less about what is contested, but the order is "
            "less exact."
        ),
    )
