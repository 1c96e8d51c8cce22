"""Template tags of the design system: marks, icons, figures, pagination."""

from typing import Any

from django import template
from django.core.paginator import Page
from django.http import QueryDict
from django.utils.translation import get_language, gettext, pgettext

from annotation import language
from annotation.core.text import unescape
from annotation.core.vocabulary import AssignmentState, ExpiryReason, ImportState, Role, TrajectoryState
from frontend.rendering import transcript
from frontend.rendering.icons import ICONS

register = template.Library()

MARK_KINDS = {1: "plus", 0: "zero", -1: "minus"}
SIGNS = {1: "+1", 0: "0", -1: "−1"}

BADGES = {
    TrajectoryState.LABELLING: "",
    TrajectoryState.UNANIMOUS: "good",
    TrajectoryState.DISPUTED: "bad",
    TrajectoryState.ADJUDICATED: "good",
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
}


def state_names() -> dict[str, str]:
    """The words people read for the states of trajectories, assignments, imports, and for roles."""
    return {
        TrajectoryState.LABELLING: gettext("labelling"),
        TrajectoryState.UNANIMOUS: gettext("unanimous"),
        TrajectoryState.DISPUTED: gettext("disputed"),
        TrajectoryState.ADJUDICATED: gettext("adjudicated"),
        AssignmentState.OPEN: pgettext("assignment", "open"),
        AssignmentState.SUBMITTED: gettext("submitted"),
        AssignmentState.RETURNED: gettext("returned"),
        AssignmentState.EXPIRED: gettext("expired"),
        ImportState.UPLOADED: gettext("uploaded"),
        ImportState.QUEUED: gettext("waiting"),
        ImportState.RUNNING: gettext("running"),
        ImportState.PUBLISHED: gettext("published"),
        ImportState.FAILED: gettext("failed"),
        ImportState.ABANDONED: gettext("abandoned"),
        "discussed": gettext("discussed"),
        "untouched": gettext("unclaimed"),
        Role.ANNOTATOR: gettext("annotator"),
        Role.ADJUDICATOR: gettext("adjudicator"),
        Role.ADMIN: gettext("admin"),
    }


@register.inclusion_tag("frontend/partials/icon.html")
def icon(name: str) -> dict[str, str]:
    """One decorative icon from frontend/rendering/icons.py."""
    return {"path": ICONS[name]}


@register.inclusion_tag("frontend/partials/mark.html")
def mark(value: int | None, proposal: bool = False, chip: bool = False) -> dict[str, Any]:
    """A label value by sign, shape and colour; `None` is "no label"."""
    return {
        "kind": "none" if value is None else MARK_KINDS[value],
        "sign": None if value is None else SIGNS[value],
        "proposal": proposal,
        "chip": chip,
    }


@register.filter
def sign(value: int | None) -> str:
    """The value as people write it: +1, 0, −1 (a real minus), or a dash for none."""
    return "–" if value is None else SIGNS[value]


@register.filter
def readable(value: str) -> str:
    """A stored text (core.text) for a page: every character visible, none that could not be sent."""
    return transcript.escape_control_chars(unescape(value))


@register.simple_tag
def language_tag() -> str:
    """The active language as pages and browsers write it: `en`, `zh-Hans`."""
    parts = (get_language() or "en").split("-")
    return "-".join(part.title() if len(part) == 4 else part for part in parts)


@register.filter
def translated(sentence: str) -> str:
    """A sentence of the domain (a refusal, a reason) in the reader's language."""
    return language.translated(sentence)


@register.filter
def finding(error: dict[str, Any]) -> str:
    """What is wrong with a line of a file, in the reader's language (services/ingest keeps the patterns)."""
    pattern, values = error.get("pattern"), error.get("values")
    return gettext(pattern).format(**values) if pattern and values else language.translated(error["reason"])


@register.filter
def state_name(value: str) -> str:
    """The translated word for a state or a role."""
    return state_names().get(value, value)


@register.filter
def expiry_text(reason: str) -> str:
    """Why an assignment expired, for the person who had it."""
    texts = {
        ExpiryReason.LEFT: gettext("You were not an annotator here for a while."),
        ExpiryReason.TAKEN_BACK: gettext("An admin took it back."),
        ExpiryReason.UNUSED: gettext("It was not used for too long."),
    }
    return texts[ExpiryReason(reason)]


@register.filter
def badge_kind(value: str) -> str:
    """Which badge a state wears (the end of the class name)."""
    kind = BADGES.get(value, "")  # type: ignore[call-overload]
    return f"badge--{kind}" if kind else ""


@register.filter
def figure(value: float | None, places: int = 3) -> str:
    """A statistic with a fixed number of places; a dash when it is undefined (say why beside it)."""
    return "–" if value is None else f"{value:.{places}f}".replace("-", "−")


@register.filter
def percent(value: float | None) -> str:
    """A share in 0 … 1 as per cent with one place; a dash when it is undefined."""
    return "–" if value is None else f"{100 * value:.1f}\u00a0%"


@register.filter
def at(mapping: dict[Any, Any], key: Any) -> Any:
    """The entry of a mapping, or None."""
    return mapping.get(key)


@register.filter
def at_index(rows: list[Any], index: int) -> Any:
    """The entry of a list, or None."""
    return rows[index] if 0 <= index < len(rows) else None


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


@register.inclusion_tag("frontend/partials/pagination.html", takes_context=True)
def pagination(context: template.Context, page: Page) -> dict[str, Any]:
    """Links to the other pages of a list, keeping its filters; nothing when there is one page."""
    return {"page": page, "request": context.get("request")}
