"""Forms of a project: its settings, guidelines and members."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from annotation.core.kinds import KINDS, STEPS, ProjectKind, settings_of
from annotation.core.project_templates import DEFAULT_TEMPLATE, TEMPLATES
from annotation.core.releases.qualifications import DEGREES
from annotation.core.vocabulary import Degree, PayPer, QueueTurn, SecondReader, SuggestionPolicy
from annotation.language import joined, translated, translated_lazy
from annotation.models import (
    MAX_ANNOTATORS,
    MAX_CLAIM_DAYS,
    MAX_CLAIMS,
    MAX_GOLD_PERCENT,
    MAX_JUDGED_SAMPLE,
    MAX_RETEST_DAYS,
    MAX_YEARS,
    Project,
    Subset,
)
from annotation.models.people.crowd import (
    MAX_CODE,
    MAX_PLACE_MINUTES,
    MAX_PLACE_TRAJECTORIES,
    MAX_PLACES,
)
from annotation.models.projects import GOLD_BOUND, JUDGED_SAMPLE
from annotation.services.projects import settings_from
from annotation.services.shares.limits import MAX_PERIODS, MOST

COPY = "project:"


def titled(title: str, about: str) -> str:
    """A choice's title and what it is, with the colon of the reader's language."""
    return gettext("{title}: {about}").format(title=translated(title), about=translated(about))


POLICIES = [
    (SuggestionPolicy.AFTER_LABEL.value, _("after labelling the step themselves")),
    (SuggestionPolicy.AFTER_SUBMIT.value, _("after submitting")),
    (SuggestionPolicy.ALWAYS.value, _("always (then no label is blind)")),
    (SuggestionPolicy.NEVER.value, pgettext_lazy("suggestions", "never")),
]

SECOND_READERS = [
    (SecondReader.PERSON.value, _("a person, of every trajectory")),
    (SecondReader.JUDGES.value, _("judges, and a person where they doubt")),
]


PAID_FOR = [
    (PayPer.HOUR.value, _("an hour at work")),
    (PayPer.TRAJECTORY.value, _("a submitted trajectory")),
]


@dataclass(frozen=True)
class Section:
    """Fields of a form that belong together, and what they say now, as a sentence."""

    key: str
    title: str
    sentence: str
    fields: list[forms.BoundField]

    @property
    def wrong(self) -> bool:
        """Whether one of them has an error, and so is to be seen."""
        return any(field.errors for field in self.fields)


class SettingsForm(forms.Form):
    """The settings of a project of a kind, in sections."""

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
    second_reader = forms.ChoiceField(
        label=_("The second reader is"),
        choices=SECOND_READERS,
        initial=SecondReader.PERSON.value,
        help_text=_(
            "With judges: once 100 trajectories are labelled by two people and three judges, most others "
            "need one person, and a second where judges doubt the first one’s labels. One in ten goes to two "
            "people by chance. What is submitted can not be reopened then."
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
    gold_percent = forms.IntegerField(
        label=_("Percent of gold among what annotators are given"),
        min_value=0,
        max_value=MAX_GOLD_PERCENT,
        initial=0,
        required=False,
        help_text=_(
            "Keyed trajectories between those of the queue, unmarked. While this is not 0, annotators read "
            "no consensus, and what they do with claims is answered at full tenths of a second."
        ),
    )
    gold_bound = forms.IntegerField(
        label=_("Percent of gold labels to be as in the key"),
        min_value=0,
        max_value=100,
        initial=GOLD_BOUND,
        required=False,
        help_text=_(
            "Who is below, as far as the gold so far can tell, is paused. Somebody at the bound ever is "
            "with a chance of at most 2.5 percent."
        ),
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

    judges_first = forms.BooleanField(
        label=_("Judges first"),
        required=False,
        help_text=_(
            "People get only what judges leave them: an item waits until you settle it on the page of "
            "judges. Where three judges or more all agree with the key, nobody else is asked."
        ),
    )
    judged_sample = forms.IntegerField(
        label=_("Judged items that people label as well"),
        min_value=0,
        max_value=MAX_JUDGED_SAMPLE,
        initial=JUDGED_SAMPLE,
        required=False,
        help_text=_("Drawn by chance, and unmarked. They tell how often people agree with the judges."),
    )

    pay_rate = forms.DecimalField(
        label=_("Pay"),
        required=False,
        min_value=0,
        max_digits=10,
        decimal_places=2,
        help_text=_(
            "What annotators get, before and after today. They read what they have earned; what all cost is "
            "for admins. Empty: nothing is said of pay."
        ),
    )
    pay_currency = forms.RegexField(
        r"^[A-Z]{3}$",
        label=_("Currency"),
        required=False,
        max_length=3,
        error_messages={"invalid": _("Three capital letters, such as EUR.")},
        help_text=_("Its code in ISO 4217, such as EUR."),
    )
    pay_per = forms.ChoiceField(
        label=_("Paid for"), choices=PAID_FOR, initial=PayPer.HOUR.value, required=False
    )

    def __init__(self, *args: Any, kind: ProjectKind = STEPS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind_said = titled(kind.title, kind.about)
        for name in self.fields.keys() - settings_of(kind, self.fields):
            del self.fields[name]

    def clean_judged_sample(self) -> int:
        """The default where nothing is said, as in a new project of another kind than the form showed."""
        given: int | None = self.cleaned_data["judged_sample"]
        return JUDGED_SAMPLE if given is None else given

    def clean_pay_per(self) -> str:
        """The hour where nothing is said."""
        return self.cleaned_data["pay_per"] or PayPer.HOUR.value

    def clean_gold_percent(self) -> int:
        """None, where nothing is said."""
        return self.cleaned_data["gold_percent"] or 0

    def clean_gold_bound(self) -> int:
        """The default where nothing is said."""
        given: int | None = self.cleaned_data["gold_bound"]
        return GOLD_BOUND if given is None else given

    def said(self, name: str) -> Any:
        """The value of a field as it stands in the form; a number, where it is one."""
        value = self[name].value()
        value = "" if value is None else value
        return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else value

    def sections(self) -> list[Section]:
        """All fields but the name and the description."""
        summary = self.said
        people, held, days = (
            summary("annotators_per_trajectory"),
            summary("claim_limit"),
            summary("claim_days"),
        )
        own = summary("retest_percent")
        policies = dict(self.fields["suggestion_policy"].choices)  # type: ignore[attr-defined]
        labelled = ngettext(
            "%(n)s person labels each trajectory.", "%(n)s people label each trajectory.", _count(people)
        )
        beside = (
            gettext("Judges are the second reader, and a person where they doubt.")
            if summary("second_reader") == SecondReader.JUDGES
            else ""
        )
        answer = (
            gettext("The reference answer is shown.")
            if summary("show_reference_answer")
            else gettext("The reference answer is not shown.")
        )
        limit = ngettext(
            "A person holds at most %(n)s unfinished trajectory.",
            "A person holds at most %(n)s unfinished trajectories.",
            _count(held),
        )
        expiry = ngettext(
            "Unused claims expire after %(n)s day.", "Unused claims expire after %(n)s days.", _count(days)
        )
        never = gettext("Unused claims never expire.")
        audited = gettext("Judges are asked first; people label %(n)s of what they settle as well.")
        first = (
            audited % {"n": summary("judged_sample")}
            if "judges_first" in self.fields and summary("judges_first")
            else gettext("People are asked about everything.")
        )
        checked = gettext("Annotators label %(own)s %% of their own again after %(days)s days.")
        return [
            self._section(
                "labelling",
                _("Labelling"),
                joined(labelled % {"n": people}, beside, answer),
                (
                    *("annotators_per_trajectory", "second_reader", "show_reference_answer"),
                    *("show_reward_hints", "carry_forward"),
                ),
            ),
            self._section(
                "suggestions",
                _("Suggestions"),
                gettext("Annotators see judges’ suggestions: %(when)s.")
                % {"when": policies.get(summary("suggestion_policy"), "–")},
                ("suggestion_policy",),
            ),
            *(
                [self._section("judges-first", _("Judges first"), first, ("judges_first", "judged_sample"))]
                if "judges_first" in self.fields
                else []
            ),
            self._section(
                "claims",
                _("Claims"),
                joined(limit % {"n": held}, expiry % {"n": days} if days else never),
                ("claim_limit", "claim_days"),
            ),
            self._section(
                "checks",
                _("Checks by chance"),
                checked % {"own": own, "days": summary("retest_days")}
                if _count(own)
                else gettext("Nothing is labelled twice by chance."),
                ("retest_percent", "retest_days", "gold_percent", "gold_bound"),
            ),
            self._section("pay", _("Pay"), self._pay_said(), ("pay_rate", "pay_currency", "pay_per")),
        ]

    def _pay_said(self) -> str:
        rate = self["pay_rate"].value()
        if rate in (None, ""):
            return gettext("Nothing is said of pay.")
        words = {"rate": rate, "currency": self["pay_currency"].value()}
        if self["pay_per"].value() == PayPer.TRAJECTORY:
            return gettext("Annotators get %(rate)s %(currency)s for a submitted trajectory.") % words
        return gettext("Annotators get %(rate)s %(currency)s for an hour at work.") % words

    def _section(self, key: str, title: Any, sentence: str, names: Iterable[str]) -> Section:
        return Section(key, str(title), sentence, [self[name] for name in names if name in self.fields])


def _count(value: Any) -> int:
    """A number by which a sentence can be chosen, of a value that may be none yet."""
    return value if isinstance(value, int) else 0


class CreateForm(SettingsForm):
    """A new project: its name, kind and people first, then where it starts from and what differs from that.

    `origin` is a template or "project:" with a slug. A setting that was not touched is the origin's.
    """

    kind = forms.ChoiceField(
        label=_("Kind"), required=False, widget=forms.RadioSelect, help_text=_("It cannot be changed later.")
    )

    people = forms.CharField(
        label=_("Annotators"),
        required=False,
        widget=forms.Textarea({"rows": 3, "spellcheck": "false"}),
        help_text=_("Names or e-mail addresses, one a line. Each gets a link with which to join."),
    )
    origin = forms.ChoiceField(label=_("Start from"), required=False)
    training_examples = forms.BooleanField(
        label=_("With 12 training examples"),
        required=False,
        initial=True,
        help_text=_(
            "Labelled and explained by the default guidelines, so that tutorial and test can begin at once. "
            "Not in a project of decisions, nor beside copied guidelines."
        ),
    )
    copy_guidelines = forms.BooleanField(label=_("guidelines"), required=False, initial=True)
    copy_members = forms.BooleanField(label=_("members, who are invited again"), required=False)
    slug = forms.SlugField(
        label=_("Slug"),
        max_length=64,
        required=False,
        help_text=_("The project’s name in URLs and commands. If left empty, it is made from the name."),
    )

    def __init__(
        self, data: Any = None, *, projects: Iterable[Project], kind: ProjectKind = STEPS, **kwargs: Any
    ) -> None:
        self.projects = {f"{COPY}{project.slug}": project for project in projects}
        known = {*TEMPLATES, *self.projects}
        chosen, filled = (str(data.get(name, "")) if data else "" for name in ("origin", "filled"))
        self.begun_from: str = chosen if chosen in known else DEFAULT_TEMPLATE
        # the origin whose settings stood in the form
        self.filled: str = filled if filled in known else DEFAULT_TEMPLATE
        self.of_kind: ProjectKind = KINDS.get(str(data.get("kind", "")), kind) if data else kind
        initial = {**self._settings(self.filled), "origin": DEFAULT_TEMPLATE, "kind": self.of_kind.name}
        super().__init__(data, kind=self.of_kind, initial=initial, **kwargs)
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (one.name, titled(one.title, one.about)) for one in KINDS.values()
        ]
        templates = [(name, translated(template.title)) for name, template in TEMPLATES.items()]
        copies = [(key, project.name) for key, project in self.projects.items()]
        groups = [
            (gettext("Templates"), templates),
            (gettext("A copy of a project, without its data"), copies),
        ]
        self.fields["origin"].choices = groups if copies else templates  # type: ignore[attr-defined]
        # below the list, where a narrow window does not cut them
        purposes = ((titled(one.title, one.purpose),) for one in TEMPLATES.values())
        items = format_html_join("", "<li>{}</li>", purposes)
        self.fields["origin"].help_text = format_html("<ul>{}</ul>", items)
        if not copies:
            del self.fields["copy_guidelines"], self.fields["copy_members"]

    def _settings(self, origin: str) -> dict[str, Any]:
        return settings_from(
            template="" if origin in self.projects else origin,
            project=self.projects.get(origin),
            kind=self.of_kind.name,
        )

    def filled_from_origin(self) -> CreateForm:
        """The same form, its settings those of the chosen origin; what else was typed stays."""
        typed = {name: self.data.get(name, "") for name in ("name", "people", "description", "slug")}
        boxes = ("copy_guidelines", "copy_members", "training_examples")
        ticks = {name: name in self.data for name in boxes}
        kind = self.copied.of_kind if self.copied else self.of_kind
        fresh = CreateForm(projects=self.projects.values(), kind=kind)
        fresh.filled = fresh.begun_from = self.begun_from
        given = {**fresh._settings(self.begun_from), **typed, **ticks, "origin": self.begun_from}
        fresh.initial = {**fresh.initial, **given}
        return fresh

    @property
    def copied(self) -> Project | None:
        """The project that this one is a copy of."""
        return self.projects.get(self.begun_from)

    @property
    def with_examples(self) -> bool:
        """Whether the training examples of the default guidelines are asked for, and fit."""
        own_guidelines = self.copied is not None and self.cleaned_data["copy_guidelines"]
        return self.of_kind == STEPS and self.cleaned_data["training_examples"] and not own_guidelines

    def settings(self) -> dict[str, Any]:
        """The settings to begin with: the origin's, and over them what was changed by hand."""
        chosen = self._settings(self.begun_from)
        by_hand = {name: self.cleaned_data[name] for name in chosen if name in self.changed_data}
        return {**chosen, **by_hand, "description": self.cleaned_data["description"]}


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


class QualificationForm(forms.Form):
    """The notes of admins on a member; none is required."""

    degree = forms.ChoiceField(
        label=_("Highest degree"),
        required=False,
        choices=[
            ("", _("not noted")),
            (Degree.NONE.value, _("no degree")),
            *((degree.value, translated_lazy(title)) for degree, title in DEGREES.items()),
        ],
    )
    field = forms.CharField(
        label=_("Field of the degree"),
        max_length=80,
        required=False,
        help_text=_("Such as computer science."),
    )
    years = forms.IntegerField(
        label=_("Years of work in the field"), min_value=0, max_value=MAX_YEARS, required=False
    )
    languages = forms.CharField(
        label=_("Languages"), max_length=200, required=False, help_text=_("With commas: English, Chinese.")
    )
    pay_rate = forms.DecimalField(
        label=_("Pay"),
        min_value=0,
        max_digits=10,
        decimal_places=2,
        required=False,
        help_text=_("In the place of what the project pays, which is in its settings. Empty: as all others."),
    )


class CrowdLinkForm(forms.Form):
    """A link for people of a crowd service; the service checks what is written."""

    name = forms.CharField(
        label=_("Name"), max_length=80, help_text=_("For admins, such as the name of the study.")
    )
    id_parameter = forms.CharField(
        label=_("Parameter of the id"),
        max_length=40,
        initial="PROLIFIC_PID",
        help_text=_("The name under which the service hands over a participant’s id in the address."),
    )
    places = forms.IntegerField(
        label=_("Places"),
        min_value=1,
        max_value=MAX_PLACES,
        initial=10,
        help_text=_("So many can take part; a place that is returned or whose time is over comes back."),
    )
    trajectories = forms.IntegerField(
        label=_("Trajectories to submit"), min_value=1, max_value=MAX_PLACE_TRAJECTORIES, initial=5
    )
    minutes = forms.IntegerField(
        label=_("Minutes for each place"),
        min_value=1,
        max_value=MAX_PLACE_MINUTES,
        initial=120,
        help_text=_("Afterwards the place goes back, unless enough is submitted; so does what is open."),
    )
    completed_code = forms.CharField(
        label=_("Code for completed work"),
        max_length=MAX_CODE,
        widget=forms.TextInput({"spellcheck": "false", "autocapitalize": "none"}),
    )
    screened_code = forms.CharField(
        label=_("Code for who is screened out or leaves"),
        max_length=MAX_CODE,
        widget=forms.TextInput({"spellcheck": "false", "autocapitalize": "none"}),
    )
    return_url = forms.CharField(
        label=_("Address to go back to"),
        max_length=500,
        required=False,
        widget=forms.TextInput({"spellcheck": "false", "inputmode": "url"}),
        help_text=_("Of https, with {code} where the code goes."),
    )


def _day(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        return None


class LimitsForm(forms.Form):
    """The quotas of a member in each subset, and their days away: those noted, and a row for more; of what
    was sent, all rows, however many are noted by now."""

    def __init__(
        self,
        data: Mapping[str, Any] | None,
        *,
        quotas: Mapping[Subset, int | None],
        days_away: Sequence[tuple[date, date]],
    ) -> None:
        super().__init__(data)
        self.subsets = {f"quota_{subset.pk}": subset for subset in quotas}
        for (name, subset), most in zip(self.subsets.items(), quotas.values(), strict=True):
            self.fields[name] = forms.IntegerField(
                label=subset.name, required=False, min_value=0, max_value=MOST, initial=most
            )
        sent = sum(name.startswith("away_") and name.endswith("_first") for name in data or ())
        rows = min(max(len(days_away) + 1, sent), MAX_PERIODS)
        self.periods = [f"away_{number}" for number in range(rows)]
        for number, name in enumerate(self.periods):
            first, last = days_away[number] if number < len(days_away) else (None, None)
            for end, value, title in (("first", first, _("From")), ("last", last, _("to (included)"))):
                day = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
                self.fields[f"{name}_{end}"] = forms.DateField(
                    label=title, required=False, initial=value, widget=day
                )

    @property
    def quota_fields(self) -> list[forms.BoundField]:
        """The fields of quotas."""
        return [self[name] for name in self.subsets]

    @property
    def period_fields(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """The fields of days away, two a period."""
        return [(self[f"{name}_first"], self[f"{name}_last"]) for name in self.periods]

    def clean(self) -> dict[str, Any]:
        """Both ends of a period, in order."""
        values = super().clean() or {}
        for name in self.periods:
            first, last = values.get(f"{name}_first"), values.get(f"{name}_last")
            missing = "last" if first and not last else "first" if last and not first else ""
            if missing and f"{name}_{missing}" not in self.errors:
                self.add_error(f"{name}_{missing}", _("Enter both days."))
            elif first and last and last < first:
                self.add_error(f"{name}_last", _("The last day away comes before the first."))
        return values

    def limits(self, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The limits in a valid form (or in these values of its fields), as the service takes them."""
        typed = self.cleaned_data if values is None else values
        return {
            "quotas": {subset: typed.get(name) for name, subset in self.subsets.items()},
            "days_away": self.periods_of(typed),
        }

    def periods_of(self, values: Mapping[str, Any]) -> list[tuple[date, date]]:
        """The periods among the values of fields, days or their text."""
        ends = [[_day(values.get(f"{name}_{end}")) for end in ("first", "last")] for name in self.periods]
        return [(first, last) for first, last in ends if first and last]

    def shown(self) -> dict[str, Any]:
        """The values that the form shows, by field."""
        return {name: field.initial for name, field in self.fields.items()}


TURNS = [
    (QueueTurn.FIRST.value, _("comes first")),
    (QueueTurn.NORMAL.value, _("comes as others do")),
    (QueueTurn.LAST.value, _("comes last")),
]


class SubsetForm(forms.Form):
    """A form for a subset: the effect of user messages on the propagation rule, and its turn in the queue."""

    turn = forms.ChoiceField(label=_("Turn in the queue"), choices=TURNS, required=False)
    suspend_on_user_turn = forms.BooleanField(label=_("A user message suspends an error run"), required=False)

    def clean_turn(self) -> str | None:
        """None where it is not said: it stays."""
        return self.cleaned_data["turn"] or None
