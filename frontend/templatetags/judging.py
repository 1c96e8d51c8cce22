"""Words and figures of judges and their runs: kinds, states, failures, money, time."""

from __future__ import annotations

from decimal import Decimal

from django import template
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy, ngettext, pgettext

from annotation.core.decisions.distractors import Refusal
from annotation.core.vocabulary import SuggestionRunState
from annotation.providers import FailureKind

register = template.Library()

BADGES = {
    SuggestionRunState.QUEUED.value: "",
    SuggestionRunState.RUNNING.value: "badge--warn",
    SuggestionRunState.PAUSED.value: "",
    SuggestionRunState.CANCELLED.value: "badge--outline",
    SuggestionRunState.FINISHED.value: "badge--good",
    SuggestionRunState.STOPPED.value: "badge--bad",
    SuggestionRunState.OVER_BUDGET.value: "badge--bad",
}
FAILURES = {
    FailureKind.TIMEOUT.value: gettext_lazy("No answer in time"),
    FailureKind.RATE_LIMITED.value: gettext_lazy("Too many calls"),
    FailureKind.SERVER_ERROR.value: gettext_lazy("Error of the server"),
    FailureKind.CONNECTION.value: gettext_lazy("Connection lost"),
    FailureKind.NOT_JSON.value: gettext_lazy("Not JSON"),
    FailureKind.NO_ANSWER.value: gettext_lazy("Empty answer"),
    FailureKind.TRUNCATED.value: gettext_lazy("Answer cut off"),
    FailureKind.NO_LABELS.value: gettext_lazy("No usable label"),
    FailureKind.TOO_LARGE.value: gettext_lazy("Answer too large"),
    FailureKind.TOO_LONG.value: gettext_lazy("Trajectory too long"),
    FailureKind.REFUSED.value: gettext_lazy("Refused to answer"),
    FailureKind.BAD_REQUEST.value: gettext_lazy("Request not accepted"),
    FailureKind.REDIRECT.value: gettext_lazy("Redirect"),
    FailureKind.WRONG_MODEL.value: gettext_lazy("Wrong model"),
    FailureKind.WRONG_ADDRESS.value: gettext_lazy("Wrong address"),
    FailureKind.BAD_KEY.value: gettext_lazy("Key not accepted"),
    FailureKind.NO_CREDIT.value: gettext_lazy("No credit left"),
    FailureKind.FORBIDDEN_URL.value: gettext_lazy("Address not allowed"),
}
REFUSALS = {
    Refusal.NO_ACTION: gettext_lazy("Refused: no action that can be read"),
    Refusal.RIGHT: gettext_lazy("Refused: right, or labelled 0 or +1 there"),
    Refusal.REPEATED: gettext_lazy("Refused: an option already"),
    Refusal.NAMES_ITS_FAULT: gettext_lazy("Refused: says that it is wrong"),
    Refusal.NOT_NEEDED: gettext_lazy("Refused: more than needed"),
}
CENT = Decimal("0.01")
SMALLEST = Decimal("0.0001")
MINUTE, HOUR = 60, 3_600


@register.filter
def run_state(value: str) -> str:
    """The state of a run, in words."""
    words = {
        SuggestionRunState.QUEUED.value: gettext("waiting"),
        SuggestionRunState.RUNNING.value: gettext("running"),
        SuggestionRunState.PAUSED.value: gettext("paused"),
        SuggestionRunState.CANCELLED.value: gettext("cancelled"),
        SuggestionRunState.FINISHED.value: gettext("finished"),
        SuggestionRunState.STOPPED.value: gettext("stopped"),
        SuggestionRunState.OVER_BUDGET.value: gettext("budget used up"),
    }
    return words.get(value, value)


@register.filter
def run_badge(value: str) -> str:
    """The class of the badge a run's state wears."""
    return BADGES.get(value, "")


def refusal_name(reason: Refusal) -> str:
    """The reason why an action became no option, in words."""
    return str(REFUSALS[reason])


@register.filter
def failure_name(value: str) -> str:
    """A kind of failure in a few words."""
    return str(FAILURES.get(value, value))


@register.filter
def money(value: Decimal | float | str | None) -> str:
    """US dollars, in cents; below a dollar in hundredths of a cent where those say more; a dash for none."""
    if value is None:
        return "–"
    amount = Decimal(value)
    if amount and amount < SMALLEST:
        return "< $" + number_format(SMALLEST, 4)
    # number_format cuts what is too long, so it is rounded before
    fine, coarse = amount.quantize(SMALLEST), amount.quantize(CENT)
    shown, places = (coarse, 2) if amount >= 1 or fine == coarse else (fine, 4)
    return "$" + number_format(shown, places, force_grouping=True)


@register.filter
def count(value: int | None) -> str:
    """A whole number with its thousands told apart."""
    return "–" if value is None else number_format(value, 0, force_grouping=True)


@register.filter
def duration(seconds: float | None) -> str:
    """A time as people say it; a dash when nobody can tell."""
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < MINUTE:
        return gettext("%(n)d s") % {"n": whole}
    if whole < HOUR:
        minutes = -(-whole // MINUTE)
        return ngettext("%(n)d minute", "%(n)d minutes", minutes) % {"n": minutes}
    return pgettext("duration", "%(hours)d h %(minutes)d min") % {
        "hours": whole // HOUR,
        "minutes": whole % HOUR // MINUTE,
    }
