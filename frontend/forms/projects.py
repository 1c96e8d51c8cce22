"""Forms of a project: its settings, guidelines and members."""

from django import forms
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from annotation.core.vocabulary import SuggestionPolicy
from annotation.models import MAX_ANNOTATORS, MAX_CLAIM_DAYS, MAX_CLAIMS, MAX_RETEST_DAYS

POLICIES = [
    (SuggestionPolicy.AFTER_LABEL.value, _("after labelling the step themselves")),
    (SuggestionPolicy.AFTER_SUBMIT.value, _("after submitting")),
    (SuggestionPolicy.ALWAYS.value, _("always (then no label is blind)")),
    (SuggestionPolicy.NEVER.value, pgettext_lazy("suggestions", "never")),
]


class SettingsForm(forms.Form):
    """The settings of a project."""

    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(label=_("Description"), required=False, widget=forms.Textarea({"rows": 3}))
    annotators_per_trajectory = forms.IntegerField(
        label=_("Annotators per trajectory"),
        min_value=1,
        max_value=MAX_ANNOTATORS,
        initial=2,
        help_text=_(
            "Each trajectory is labelled by exactly this many people. Cannot be changed once a "
            "trajectory is claimed."
        ),
    )
    claim_limit = forms.IntegerField(
        label=_("Unfinished trajectories a person may hold"),
        min_value=1,
        max_value=MAX_CLAIMS,
        initial=2,
        help_text=_("After that, a person must finish or return one before claiming another."),
    )
    claim_days = forms.IntegerField(
        label=_("Days after which an unused claim expires"),
        min_value=1,
        max_value=MAX_CLAIM_DAYS,
        initial=14,
        required=False,
        help_text=_("After a warning; the draft is kept. Empty: never."),
    )
    recheck_percent = forms.IntegerField(
        label=_("Percent that a third person labels"),
        min_value=0,
        max_value=100,
        initial=5,
        help_text=_(
            "Drawn by chance from the resolved trajectories, and unmarked: an estimate of how often the "
            "consensus is wrong."
        ),
    )
    retest_percent = forms.IntegerField(
        label=_("Percent that annotators label again"),
        min_value=0,
        max_value=100,
        initial=5,
        help_text=_(
            "Drawn by chance from their own, and unmarked. While this is not 0, work that old is closed to "
            "them once all of its labels are in."
        ),
    )
    retest_days = forms.IntegerField(
        label=_("Days after which they label again"), min_value=1, max_value=MAX_RETEST_DAYS, initial=7
    )
    suggestion_policy = forms.ChoiceField(
        label=_("Annotators see suggestions"), choices=POLICIES, initial=SuggestionPolicy.AFTER_LABEL.value
    )
    show_reference_answer = forms.BooleanField(
        label=_("Annotators see the reference answer"), required=False, initial=True
    )
    show_reward_hints = forms.BooleanField(
        label=_("Annotators see reward hints"),
        required=False,
        help_text=_("What the environment recorded about success. Hide it to keep labels free of hindsight."),
    )
    carry_forward = forms.BooleanField(
        label=_("Propose +1 after an explicit +1"),
        required=False,
        help_text=_("Saves keystrokes, but a wrong proposal can hide the first error. Off by default."),
    )


class CreateForm(SettingsForm):
    """A new project: settings, and its place in addresses."""

    slug = forms.SlugField(
        label=_("Slug"),
        max_length=64,
        required=False,
        help_text=_("The project’s name in URLs and commands. If left empty, it is made from the name."),
    )
    field_order = ("name", "slug", "description")


class GuidelinesForm(forms.Form):
    """The text of the guidelines."""

    text = forms.CharField(
        label=_("Guidelines"),
        required=False,
        strip=False,
        max_length=200_000,
        widget=forms.Textarea({"rows": 24, "class": "mono", "spellcheck": "true"}),
        help_text=_(
            "Markdown. Saving publishes a new version; each assignment records the version it began with."
        ),
    )


class RolesForm(forms.Form):
    """The roles of a member; at least one."""

    is_annotator = forms.BooleanField(label=_("annotator"), required=False)
    is_adjudicator = forms.BooleanField(label=_("adjudicator"), required=False)
    is_admin = forms.BooleanField(label=_("admin"), required=False)

    def clean(self) -> dict[str, object]:
        """At least one role."""
        values = super().clean() or {}
        if not any(values.get(name) for name in ("is_annotator", "is_adjudicator", "is_admin")):
            raise forms.ValidationError(_("Choose at least one role."))
        return values


class InviteForm(RolesForm):
    """Invitations by link or by mail, one for each line."""

    people = forms.CharField(
        label=_("Names or e-mail addresses, one a line"),
        required=False,
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
        help_text=_("Each gets a link of their own. Leave empty for one link that you pass on yourself."),
    )
    field_order = ("people",)


class SubsetForm(forms.Form):
    """A form for the effect of user messages on the propagation rule in a subset."""

    suspend_on_user_turn = forms.BooleanField(label=_("A user message suspends an error run"), required=False)
