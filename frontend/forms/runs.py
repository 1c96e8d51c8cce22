"""Forms for starting runs of judges and changing a run's budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.functional import lazystr
from django.utils.translation import gettext_lazy as _

from annotation.core.bounds import MAX_INT
from annotation.core.decisions.record import MAX_OPTIONS
from annotation.core.kinds import Feature
from annotation.core.vocabulary import TrajectoryState
from annotation.models import Judge, Project, Release, Subset, Trajectory
from annotation.models.data import with_trajectories
from annotation.reports.work.progress import states_of
from frontend.templatetags.tristep import state_name


class RunForm(forms.Form):
    """A form for runs: judges, trajectories, and the most they may cost; in a project of decisions also
    whether labels or distractors are asked for."""

    judges = forms.ModelMultipleChoiceField(
        label=_("Judges"), queryset=Judge.objects.none(), widget=forms.CheckboxSelectMultiple
    )
    subset = forms.ChoiceField(label=_("Subset"), required=False)
    state = forms.ChoiceField(label=_("State"), required=False)
    policy_model = forms.ChoiceField(label=_("Policy model"), required=False)
    release = forms.ChoiceField(
        label=_("Release"),
        required=False,
        help_text=_("Only trajectories of the release. At the end of the run the judge is scored on it."),
    )
    limit = forms.IntegerField(
        label=_("Maximum number of trajectories"), required=False, min_value=1, max_value=MAX_INT
    )
    options = forms.IntegerField(
        label=_("Write distractors until a question has so many options"),
        required=False,
        min_value=2,
        max_value=MAX_OPTIONS,
        help_text=_(
            "Empty: the judge labels. With a number it writes wrong actions for questions with a key, fewer "
            "options, and no label yet, which are selected by subset and number alone."
        ),
    )
    budget = forms.DecimalField(
        label=_("Budget, in US dollars"),
        required=False,
        min_value=Decimal("0.000001"),
        max_digits=14,
        decimal_places=6,
        help_text=_("For each judge. The run stops before a call could exceed it."),
    )

    def __init__(self, *args: Any, project: Project, judges: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judges"].queryset = judges  # type: ignore[attr-defined]
        if not project.of_kind.has(Feature.PAIRS):
            del self.fields["options"]
        everything = ("", lazystr(_("All")))
        names = with_trajectories(Subset.objects.filter(project=project)).values_list("name", flat=True)
        models = (
            Trajectory.objects.filter(project=project, live=True)
            .exclude(policy_model="")
            .order_by("policy_model")
            .values_list("policy_model", flat=True)
            .distinct()
        )
        releases = Release.objects.filter(project=project).values_list("version", flat=True)
        choices = {
            "subset": [(name, name) for name in names],
            "state": [
                (state.value, state_name(state.value))
                for state in TrajectoryState
                if state in states_of(project.of_kind)
            ],
            "policy_model": [(name, name) for name in models],
            "release": [(version, version) for version in releases],
        }
        for field, options in choices.items():
            self.fields[field].choices = [everything, *options]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """One judge at a time writes distractors."""
        given = super().clean() or {}
        if given.get("options") is not None and len(given.get("judges") or ()) > 1:
            self.add_error("judges", _("One judge at a time writes distractors; choose one."))
        return given

    def wanted_options(self) -> int | None:
        """The number of options that a question shall have; None where labels are asked for."""
        options: int | None = self.cleaned_data.get("options")
        return options

    def selection(self) -> dict[str, Any]:
        """The fields of a `RunSelection`."""
        given = self.cleaned_data
        return {name: given[name] for name in ("subset", "state", "policy_model", "limit", "release")}


class BudgetForm(forms.Form):
    """A form for the total budget of a run."""

    budget = forms.DecimalField(
        label=_("Total budget, in US dollars"),
        required=False,
        min_value=Decimal("0.000001"),
        max_digits=14,
        decimal_places=6,
    )
