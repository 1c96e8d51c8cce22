"""Projects, guidelines, subsets, progress and the audit log."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.core.kinds import KINDS
from annotation.core.project_templates import TEMPLATES
from annotation.core.vocabulary import PayPer, QueueTurn, SecondReader, SuggestionPolicy
from annotation.models import (
    MAX_ANNOTATORS,
    MAX_CLAIM_DAYS,
    MAX_CLAIMS,
    MAX_GOLD_PERCENT,
    MAX_JUDGED_SAMPLE,
    MAX_RETEST_DAYS,
)
from annotation.reports.work.board import RECENT_DAYS, PersonWork

from .base import Input, Output, Query, Sentence, Version, Whole, words
from .people import Person

POLICIES = words(SuggestionPolicy)
READERS = words(SecondReader)
PAID_FOR = words(PayPer)
MAX_DAYS = 3_660
BOARD = ("people", "paces", "outlook", "places", "trajectories", "burn_up", "cost")
"""The fields of the board itself."""
KIND = (
    "What its data are: `steps` are whole runs, `decisions` are a history each with candidates for the next "
    "action."
)


@extend_schema_field({"type": "string", "pattern": "^([A-Z]{3})?$", "example": "EUR"})
class Currency(serializers.RegexField):
    """The code of a currency in ISO 4217."""

    def __init__(self, **options: Any) -> None:
        super().__init__("^[A-Z]{3}$", **options)


class Project(Output):
    """A project and its settings."""

    slug = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS), help_text=f"{KIND} Fixed when it is created.")
    name = serializers.CharField()
    description = serializers.CharField()
    annotators_per_trajectory = serializers.IntegerField()
    second_reader = serializers.ChoiceField(
        choices=READERS,
        help_text="`judges`: most trajectories need one person, and a second where judges doubt that one.",
    )
    claim_limit = serializers.IntegerField(help_text="Unfinished trajectories a person may hold.")
    claim_days = serializers.IntegerField(
        allow_null=True, help_text="Days after which an unused claim expires; null: never."
    )
    retest_percent = serializers.IntegerField(
        help_text="Percent of their trajectories that annotators label again."
    )
    retest_days = serializers.IntegerField(help_text="After how many days they do.")
    gold_percent = serializers.IntegerField(help_text="Percent of gold among what annotators are given.")
    gold_bound = serializers.IntegerField(help_text="Percent of gold labels to be as in the key.")
    suggestion_policy = serializers.ChoiceField(choices=POLICIES)
    show_reference_answer = serializers.BooleanField()
    show_reward_hints = serializers.BooleanField()
    carry_forward = serializers.BooleanField()
    judges_first = serializers.BooleanField(help_text="Judges settle what they can before people are asked.")
    judged_sample = serializers.IntegerField(help_text="The judged trajectories that people label as well.")
    pay_rate = serializers.DecimalField(
        max_digits=10, decimal_places=2, allow_null=True, help_text="What annotators get; null: not said."
    )
    pay_currency = serializers.CharField(help_text="Its code in ISO 4217, such as EUR.")
    pay_per = serializers.ChoiceField(choices=PAID_FOR, help_text="What they get it for.")
    version = serializers.CharField(help_text="Names the settings as they are.")
    created_at = serializers.DateTimeField()


class Settings(Input):
    """Settings; what is left out stays. The number of annotators is locked after the first claim."""

    name = serializers.CharField(required=False, max_length=120)
    description = serializers.CharField(required=False, allow_blank=True, max_length=20_000)
    annotators_per_trajectory = Whole(required=False, min_value=1, max_value=MAX_ANNOTATORS)
    second_reader = serializers.ChoiceField(required=False, choices=READERS)
    claim_limit = Whole(required=False, min_value=1, max_value=MAX_CLAIMS)
    claim_days = Whole(required=False, allow_null=True, min_value=1, max_value=MAX_CLAIM_DAYS)
    retest_percent = Whole(required=False, min_value=0, max_value=100)
    retest_days = Whole(required=False, min_value=1, max_value=MAX_RETEST_DAYS)
    gold_percent = Whole(required=False, min_value=0, max_value=MAX_GOLD_PERCENT)
    gold_bound = Whole(required=False, min_value=0, max_value=100)
    suggestion_policy = serializers.ChoiceField(required=False, choices=POLICIES)
    show_reference_answer = serializers.BooleanField(required=False)
    show_reward_hints = serializers.BooleanField(required=False)
    carry_forward = serializers.BooleanField(required=False)
    judges_first = serializers.BooleanField(required=False)
    judged_sample = Whole(required=False, min_value=0, max_value=MAX_JUDGED_SAMPLE)
    pay_rate = serializers.DecimalField(
        required=False, allow_null=True, max_digits=10, decimal_places=2, min_value=0
    )
    pay_currency = Currency(required=False, allow_blank=True)
    pay_per = serializers.ChoiceField(required=False, choices=PAID_FOR)


class ProjectChange(Settings):
    """Settings; what is left out stays. The number of annotators is locked after the first claim."""

    version = Version()


class NewProject(Settings):
    """A new project; without a slug it is made from the name."""

    name = serializers.CharField(max_length=120)
    slug = serializers.SlugField(required=False, max_length=64)
    kind = serializers.ChoiceField(
        required=False,
        choices=list(KINDS),
        help_text=f"{KIND} Left out: that of `copy_from`, else `steps`. It cannot be changed later.",
    )
    guidelines = serializers.CharField(required=False, allow_blank=True, max_length=200_000)
    template = serializers.ChoiceField(
        required=False, choices=list(TEMPLATES), help_text="A starting point for settings that are left out."
    )
    copy_from = serializers.SlugField(
        required=False,
        max_length=64,
        help_text="In place of a template: a project whose settings are taken, and its guidelines if none "
        "are given. Neither its data nor its members come along.",
    )
    training_examples = serializers.BooleanField(
        required=False,
        help_text="Begin with 12 trajectories, labelled and explained, in the training subset `training`. "
        "Left out: yes where a project of `steps` begins with the default guidelines.",
    )


class Guideline(Output):
    """One version of the guidelines, in Markdown; the newest is in force."""

    version = serializers.IntegerField()
    text = serializers.CharField()
    created_at = serializers.DateTimeField()


class NewGuideline(Input):
    """The guidelines from now on. The same text again makes no new version."""

    text = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=200_000)
    based_on = Whole(
        required=False,
        min_value=0,
        help_text="The version whose text was changed; 0 for none. If another one is in force by now, "
        "nothing is saved: 409 `stale_version`, whose details hold its text.",
    )


TURN_HELP = "Its trajectories come before all others, as others do, or after them."


class Subset(Output):
    """A named part of a project's data."""

    name = serializers.CharField()
    suspend_on_user_turn = serializers.BooleanField()
    turn = serializers.ChoiceField(choices=words(QueueTurn), help_text=TURN_HELP)
    version = serializers.CharField(help_text="Names what can be changed as it is.")
    created_at = serializers.DateTimeField()


class SubsetChange(Input):
    """The effect of user messages on the propagation rule, and when its trajectories come; what is left out
    stays."""

    suspend_on_user_turn = serializers.BooleanField(required=False)
    turn = serializers.ChoiceField(required=False, choices=words(QueueTurn), help_text=TURN_HELP)
    version = Version()


class NewSubset(Input):
    """A new, empty subset."""

    name = serializers.SlugField(max_length=64)
    suspend_on_user_turn = serializers.BooleanField(required=False, default=False)


class SubsetProgress(Output):
    """Trajectories by where they stand."""

    name = serializers.CharField(help_text="Empty for all subsets together.")
    by_state = serializers.DictField(child=serializers.IntegerField())
    total = serializers.IntegerField()
    resolved = serializers.IntegerField()
    steps = serializers.IntegerField()


class SecondReading(Output):
    """The saving of judges as the second reader."""

    made_from = serializers.IntegerField(
        help_text="Doubly labelled trajectories that the rule is made from; 0: there is none yet."
    )
    doubly_labelled = serializers.IntegerField()
    judges = serializers.IntegerField()
    waiting = serializers.IntegerField(
        help_text="Trajectories with one place of which it is not decided yet."
    )
    spared = serializers.IntegerField(help_text="Decided by one person beside judges.")
    asked = serializers.IntegerField(help_text="Those for which judges’ doubt asked a second person.")
    labels_a_trajectory = serializers.FloatField(allow_null=True, help_text="Of those that had one place.")
    hours = serializers.FloatField(allow_null=True, help_text="Person-hours that were spared.")


class Progress(Output):
    """The progress of a project."""

    all = SubsetProgress()
    subsets = SubsetProgress(many=True)
    second_reading = SecondReading(allow_null=True, help_text="Null where judges are not the second reader.")


class Work(Output):
    """Time at work, and what was submitted."""

    active_seconds = serializers.SerializerMethodField()
    submitted = serializers.IntegerField(help_text="Trajectories, without labels from files.")

    def get_active_seconds(self, row: Any) -> float:
        """Seconds at work."""
        return float(row.active_ms / 1000)


class Pace(Output):
    """The pace of the last days, today being one of them."""

    days = serializers.IntegerField()
    active_hours = serializers.FloatField(source="work.hours")
    submitted = serializers.IntegerField(source="work.submitted")
    submitted_a_day = serializers.FloatField(source="a_day")
    submitted_an_hour = serializers.FloatField(
        source="an_hour", allow_null=True, help_text="An hour at work; null where no time was measured."
    )
    steps_an_hour = serializers.FloatField(
        allow_null=True, help_text=f"Known of the last {RECENT_DAYS} days alone."
    )


class PersonsWork(Output):
    """The work of one person."""

    person = Person()
    in_all = Work(source="all")
    imported = serializers.IntegerField(help_text="Submissions that came in a file.")
    open = serializers.IntegerField()
    expiring = serializers.IntegerField(help_text="Open ones that end soon unless they are used.")
    returned = serializers.IntegerField(help_text="Or expired.")
    last_active = serializers.DateTimeField(source="last", allow_null=True)
    pay = serializers.SerializerMethodField(help_text="Null where nothing is said of pay.")

    def get_pay(self, row: PersonWork) -> str | None:
        """The pay, to the hundredth."""
        return None if row.pay is None else f"{row.pay:.2f}"


class Forecast(Output):
    """An expected value with its 95 % interval; without it, `reason` says why."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = Sentence()
    interval_reason = Sentence()


class Outlook(Output):
    """The work that is left, and its end at the pace of the last 8 weeks."""

    left = serializers.IntegerField(help_text="Labellings that are still to be submitted.")
    claimed = serializers.IntegerField()
    free = serializers.IntegerField()
    days = Forecast(help_text="Days until the last is submitted.")
    end = serializers.DateTimeField(allow_null=True)
    earliest = serializers.DateTimeField(allow_null=True)
    latest = serializers.DateTimeField(allow_null=True)


class Cost(Output):
    """Annotators' earnings so far, and when all is labelled."""

    so_far = serializers.DecimalField(max_digits=20, decimal_places=2)
    in_all = Forecast()


class BurnUp(Output):
    """The sums at the end of a day."""

    day = serializers.DateField()
    submitted = serializers.IntegerField(help_text="Labellings, those from files too.")
    resolved = serializers.IntegerField(help_text="Trajectories.")


class PayRate(Output):
    """The rate of pay."""

    rate = serializers.DecimalField(max_digits=10, decimal_places=2)
    currency = serializers.CharField()
    per = serializers.CharField()


class Board(Output):
    """The board of a project."""

    time_zone = serializers.CharField(help_text="Whose days are counted.")
    people = PersonsWork(many=True)
    paces = Pace(many=True)
    outlook = Outlook()
    places = serializers.IntegerField(help_text="Labellings in all.")
    trajectories = serializers.IntegerField()
    burn_up = BurnUp(many=True)
    pay = PayRate(allow_null=True, help_text="By the project; admins note another rate of a member.")
    cost = Cost(allow_null=True)


class OwnWork(Output):
    """One's own part of it."""

    time_zone = serializers.CharField()
    own = PersonsWork()
    paces = Pace(many=True)
    pay = PayRate(allow_null=True)


class HoursFilter(Query):
    """The days that are asked for."""

    days = serializers.IntegerField(required=False, min_value=1, max_value=MAX_DAYS, default=RECENT_DAYS)
    person = serializers.CharField(required=False, default="", help_text="A user name. For admins.")


class DayOfWork(Output):
    """One person's work on one day; there is none of days without work."""

    person = Person()
    day = serializers.DateField(help_text="Of one's own time zone.")
    active_seconds = serializers.SerializerMethodField()
    submitted = serializers.IntegerField(source="work.submitted")
    steps = serializers.IntegerField(source="work.steps")
    pay = serializers.DecimalField(max_digits=20, decimal_places=2, allow_null=True)

    def get_active_seconds(self, row: Any) -> float:
        """Seconds at work."""
        return float(row.work.active_ms / 1000)


class AuditEvent(Output):
    """An event of the audit log; no actor means the operator at the command line."""

    id = serializers.IntegerField()
    verb = serializers.CharField()
    actor = Person(allow_null=True)
    object_type = serializers.CharField()
    object_id = serializers.CharField()
    detail = serializers.DictField(child=serializers.JSONField())
    created_at = serializers.DateTimeField()
