"""Template tags of the design system: marks, icons, figures, pagination."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import template
from django.core.paginator import Page
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import get_language, gettext, ngettext, pgettext

from annotation import language
from annotation.core.releases import qualifications
from annotation.core.text import unescape
from annotation.core.vocabulary import (
    REASON_CODES_BY_CODE,
    SIGNS,
    VALUE_NAMES,
    AssignmentState,
    AttemptState,
    ConsensusKind,
    CrowdState,
    DeliveryState,
    ExpiryReason,
    FreezeState,
    ImportState,
    InvitationState,
    PromptSetState,
    Role,
    TrajectoryState,
    TransferState,
)
from annotation.models import Step
from annotation.models.versioned import Versioned
from annotation.reports.cases.error_graphs import NumberedError
from annotation.reports.cases.side_by_side import SideBySide, SideBySideItem
from frontend import context
from frontend.rendering import began, history_text
from frontend.rendering import identity as identities
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.icons import ICONS
from frontend.rendering.run_parts import place_of
from frontend.rendering.step_names import step_inside, step_title
from frontend.rendering.tables import cells

register = template.Library()

EACH_NUMBER = 12
"""So many steps of an error are named one by one."""

BADGES = {
    TrajectoryState.LABELLING: "",
    TrajectoryState.UNANIMOUS: "good",
    TrajectoryState.DISPUTED: "bad",
    TrajectoryState.ADJUDICATED: "good",
    TrajectoryState.JUDGED: "good",
    AssignmentState.OPEN: "warn",
    AssignmentState.SUBMITTED: "good",
    AssignmentState.RETURNED: "outline",
    AssignmentState.EXPIRED: "outline",
    ImportState.UPLOADED: "",
    ImportState.QUEUED: "",
    ImportState.RUNNING: "warn",
    ImportState.PUBLISHED: "good",
    ImportState.FAILED: "bad",
    ImportState.ABANDONED: "outline",
    FreezeState.FROZEN: "good",
    FreezeState.CANCELLED: "outline",
    AttemptState.PASSED: "good",
    PromptSetState.MADE: "good",
    InvitationState.PENDING: "warn",
    InvitationState.ACCEPTED: "good",
    InvitationState.DECLINED: "bad",
    InvitationState.WITHDRAWN: "outline",
    CrowdState.ACTIVE: "warn",
    CrowdState.COMPLETED: "good",
    CrowdState.SCREENED_OUT: "outline",
    CrowdState.TIMED_OUT: "outline",
    CrowdState.REMOVED: "outline",
    TransferState.DONE: "good",
    DeliveryState.WAITING: "warn",
    DeliveryState.DELIVERED: "good",
    DeliveryState.GIVEN_UP: "bad",
}


@register.filter
def begun(row: Versioned) -> str:
    """The hidden field `began` of a form that shows all that people edit of a row."""
    return began.begun(row.version, row.edited())


def state_names() -> dict[str, str]:
    """The words people read for the states of trajectories, assignments, imports, and for roles."""
    return {
        TrajectoryState.LABELLING: gettext("labelling"),
        TrajectoryState.UNANIMOUS: gettext("unanimous"),
        TrajectoryState.DISPUTED: gettext("disputed"),
        TrajectoryState.ADJUDICATED: gettext("adjudicated"),
        TrajectoryState.JUDGED: gettext("judged"),
        AssignmentState.OPEN: pgettext("assignment", "open"),
        AssignmentState.SUBMITTED: gettext("submitted"),
        AssignmentState.RETURNED: gettext("returned"),
        AssignmentState.EXPIRED: gettext("expired"),
        ImportState.UPLOADED: gettext("not imported yet"),
        ImportState.QUEUED: gettext("waiting"),
        ImportState.RUNNING: gettext("running"),
        ImportState.PUBLISHED: gettext("imported"),
        ImportState.FAILED: gettext("failed"),
        ImportState.ABANDONED: gettext("abandoned"),
        FreezeState.FROZEN: gettext("frozen"),
        FreezeState.CANCELLED: gettext("stopped"),
        AttemptState.PASSED: pgettext("test", "passed"),
        AttemptState.STOPPED: gettext("stopped"),
        PromptSetState.MADE: pgettext("prompts", "made"),
        InvitationState.PENDING: gettext("pending"),
        InvitationState.ACCEPTED: gettext("accepted"),
        InvitationState.DECLINED: gettext("declined"),
        InvitationState.WITHDRAWN: gettext("withdrawn"),
        CrowdState.ACTIVE: pgettext("place", "active"),
        CrowdState.COMPLETED: gettext("completed"),
        CrowdState.SCREENED_OUT: gettext("screened out"),
        CrowdState.TIMED_OUT: gettext("timed out"),
        CrowdState.REMOVED: gettext("removed"),
        TransferState.DONE: gettext("done"),
        DeliveryState.WAITING: gettext("waiting"),
        DeliveryState.DELIVERED: pgettext("event", "delivered"),
        DeliveryState.GIVEN_UP: pgettext("event", "given up"),
        "discussed": gettext("discussed"),
        "one_person": gettext("one person beside judges"),
        "majority": gettext("by majority"),
        "untouched": gettext("unclaimed"),
        "awaiting": gettext("waiting for another annotator"),
        Role.ANNOTATOR: gettext("annotator"),
        Role.ADJUDICATOR: gettext("adjudicator"),
        Role.ADMIN: gettext("admin"),
    }


@register.inclusion_tag("frontend/partials/icon.html")
def icon(name: str) -> dict[str, str]:
    """One decorative icon from frontend/rendering/icons.py."""
    return {"path": ICONS[name]}


@register.simple_tag
def mark(value: int | None, proposal: bool = False, chip: bool = False) -> str:
    """A label value by sign, shape and colour; `None` is "no label"."""
    kind, sign = ("none", "") if value is None else (VALUE_NAMES[value], SIGNS[value])
    return cells.mark(kind, sign, proposal, chip)


@register.filter
def sign(value: int | None) -> str:
    """The value as people write it: +1, 0, −1 (a real minus), or a dash for none."""
    return "–" if value is None else SIGNS[value]


@register.filter
def origin_name(kind: str) -> str:
    """The origin of a consensus, in words."""
    return str(history_text.ORIGINS[ConsensusKind(kind)])


@register.filter
def reason_title(code: str) -> str:
    """The title of a reason code, in the reader's language."""
    reason_code = REASON_CODES_BY_CODE.get(code)
    return gettext(reason_code.title) if reason_code else code


@register.filter
def error_texts(errors: Iterable[NumberedError]) -> list[str]:
    """The errors of a graph, one line each; one line where there is none."""
    return [_error_text(one) for one in errors] or [gettext("no error")]


def step_numbers(numbers: Sequence[int]) -> str:
    """Numbers of steps in words: each of a few; of many, those that follow each other as a range."""
    if len(numbers) <= EACH_NUMBER:
        return ", ".join(map(str, numbers))
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in ranges)


def _error_text(one: NumberedError) -> str:
    members = step_numbers(one.members)
    if one.root is None:
        return gettext("step %(members)s: beginning open") % {"members": members}
    first = gettext("step %(n)s") % {"n": one.root}
    if one.reason:
        first = f"{first} · {reason_title(one.reason)}"
    return (
        gettext("%(step)s, and from it %(members)s") % {"step": first, "members": members}
        if members
        else first
    )


@register.filter
def readable(value: str) -> str:
    """A stored text (core.text) for a page: every character visible, none that could not be sent."""
    return escape_control_chars(unescape(value))


register.filter(place_of)
register.filter(step_title)
register.filter(step_inside)


@register.filter
def identity(record_id: str) -> str:
    """A stored identity of a record, short when it is a checksum."""
    return identities.short_identity(record_id)


@register.filter
def title_of(record_id: str, question: str) -> str:
    """The title of a record whose question is known."""
    return identities.title_of(record_id, question)


@register.simple_tag
def language_tag() -> str:
    """The active language as pages and browsers write it: `en`, `zh-Hans`."""
    return context.language_tag(get_language() or "en")


@register.filter
def translated(sentence: str) -> str:
    """A sentence of the domain (a refusal, a reason), stored or just said, in the reader's language."""
    return language.translated(sentence)


@register.filter
def qualification_sentences(block: Mapping[str, Any] | None) -> list[str]:
    """The counts of a release's annotators in sentences; none where its manifest states none."""
    return [language.translated(sentence) for sentence in qualifications.qualification_sentences(block or {})]


@register.filter(is_safe=True)
def joined(text: str) -> str:
    """A paragraph of several sentences, as the reader's language puts them one after another."""
    return language.joined(text)


@register.filter
def state_name(value: str) -> str:
    """The translated word for a state or a role."""
    return state_names().get(value, value)


@register.filter
def minutes(count: int) -> str:
    """So many minutes in words, in days, hours and minutes: "1 hour 30 minutes"."""
    days, rest = divmod(max(int(count), 0), 24 * 60)
    hours, rest = divmod(rest, 60)
    parts = (
        ngettext("%(n)d day", "%(n)d days", days) % {"n": days} if days else "",
        ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours} if hours else "",
        ngettext("%(n)d minute", "%(n)d minutes", rest) % {"n": rest} if rest or not (days or hours) else "",
    )
    return " ".join(filter(None, parts))


@register.filter
def time_left(moment: datetime) -> str:
    """The time from now to a moment, in whole minutes."""
    return minutes(int((moment - timezone.now()).total_seconds() // 60))


@register.filter
def expiry_text(reason: str) -> str:
    """The reason why an assignment expired, for the person who had it."""
    texts = {
        ExpiryReason.LEFT: gettext("You were not an annotator here for a while."),
        ExpiryReason.TAKEN_BACK: gettext("An admin took it back."),
        ExpiryReason.UNUSED: gettext("It was not used for too long."),
        ExpiryReason.REPLACED: gettext("It was replaced by other content, which is labelled anew."),
    }
    return texts[ExpiryReason(reason)]


@register.filter
def badge_kind(value: str) -> str:
    """The badge of a state (the end of the class name)."""
    kind = BADGES.get(value, "")  # type: ignore[call-overload]
    return f"badge--{kind}" if kind else ""


@register.filter
def figure(value: float | None, places: int = 3) -> str:
    """A statistic with a fixed number of places; a dash when it is undefined (say why beside it)."""
    return "–" if value is None else f"{value:.{places}f}".replace("-", "−")


@register.filter
def number(value: float) -> str:
    """A number of no known size or unit, with at most six digits that tell."""
    return f"{value:.6g}".replace("-", "−")


@register.filter
def percent(value: float | None) -> str:
    """A share in 0 … 1 as per cent with one place; a dash when it is undefined."""
    if value is None:
        return "–"
    # + 0.0: what is rounded to nothing has no minus
    return f"{round(100 * value, 1) + 0.0:.1f}\u00a0%".replace("-", "−")


@register.filter
def signed(value: float | None, percent: bool = False) -> str:
    """A change with its sign: of a share in percentage points with one place, else with three places."""
    if value is None:
        return "–"
    # + 0.0: what is rounded to nothing has no minus
    shown = f"{round(100 * value, 1) + 0.0:+.1f}" if percent else f"{round(value, 3) + 0.0:+.3f}"
    return shown.replace("-", "−")


@register.filter
def at(mapping: dict[Any, Any], key: Any) -> Any:
    """The entry of a mapping, or None; there may be no mapping."""
    return (mapping or {}).get(key)


@register.filter
def roots_before(shown: SideBySide, item: SideBySideItem) -> list[Step]:
    """The earlier steps at which an error of this one may have begun."""
    return shown.roots_before(item)


@register.simple_tag(takes_context=True)
def query(context: template.Context, **changes: Any) -> str:
    """The present query string with some keys changed; a key set to "" or None goes."""
    request = context.get("request")
    parameters = request.GET.copy() if request is not None else QueryDict(mutable=True)
    for key, value in changes.items():
        if value in ("", None):
            parameters.pop(key, None)
        else:
            parameters[key] = str(value)
    return "?" + parameters.urlencode()


@register.inclusion_tag("frontend/partials/kept_query.html", takes_context=True)
def kept_query(context: template.Context, *own: str) -> dict[str, Any]:
    """The present query string as hidden fields of a form, without those that the form has of its `own`."""
    request = context.get("request")
    lists = request.GET.lists() if request is not None else ()
    return {"pairs": [(name, value) for name, values in lists for value in values if name not in own]}


@register.inclusion_tag("frontend/partials/sort_heading.html", takes_context=True)
def sort_heading(context: template.Context, column: dict[str, Any], number: bool = False) -> dict[str, Any]:
    """The heading of a column that the list can be sorted by: `column` has `title`, `sort` (the order that a
    click asks for) and `aria` (the present direction, or "")."""
    return {"column": column, "number": number, "address": query(context, sort=column["sort"], page=None)}


@register.inclusion_tag("frontend/partials/pagination.html", takes_context=True)
def pagination(context: template.Context, page: Page) -> dict[str, Any]:
    """Links to the other pages of a list, keeping its filters; nothing when there is one page."""
    return {"page": page, "request": context.get("request")}
