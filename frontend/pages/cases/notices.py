"""Notices: what one has been told of, and marking it as read."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET, require_POST

from annotation.core.vocabulary import AssignmentState, ExpiryReason, NoticeKind, Voice
from annotation.models import Notice
from annotation.policies.rechecks import closed
from annotation.reports.cases import notices as report
from annotation.reports.cases.discussions import Speaker
from annotation.services import notices as service
from frontend.pages.shared.common import person, whole_number
from frontend.pages.shared.list_page import Empty, ListPage, act, show_site
from frontend.rendering.identity import short_identity
from frontend.rendering.run_parts import place_of
from frontend.rendering.step_names import step_inside
from frontend.rendering.tables import Column, at, cells

STEP_SENTENCES: Final = {
    NoticeKind.COMMENT: gettext_lazy("%(who)s commented on %(step)s."),
    NoticeKind.MENTION: gettext_lazy("%(who)s mentioned you at %(step)s."),
    NoticeKind.REVISION: gettext_lazy("%(who)s changed their mind about %(step)s."),
}
OUTCOME_SENTENCES: Final = {
    NoticeKind.COMMENT: gettext_lazy("%(who)s commented on the outcome."),
    NoticeKind.MENTION: gettext_lazy("%(who)s mentioned you beside the outcome."),
    NoticeKind.REVISION: gettext_lazy("%(who)s changed their mind about the outcome."),
}
NOTICE_SENTENCES: Final = {
    NoticeKind.OPENED: gettext_lazy("A discussion of a trajectory that you labelled was opened."),
    NoticeKind.COMMENT: gettext_lazy("There is a new comment in a discussion of yours."),
    NoticeKind.MENTION: gettext_lazy("You are mentioned in a discussion."),
    NoticeKind.REVISION: gettext_lazy("Somebody changed their mind in a discussion of yours."),
    NoticeKind.RESOLVED: gettext_lazy("A case that you discussed is decided."),
    NoticeKind.REOPENED: gettext_lazy("A case that you discussed was opened again."),
    NoticeKind.CLAIM_WARNED: gettext_lazy("A claim of yours ends soon unless you work on it."),
    NoticeKind.CLAIM_ENDED: gettext_lazy("A claim of yours has ended; its draft is kept."),
    NoticeKind.CASE_GIVEN: gettext_lazy("A case was assigned to you."),
    NoticeKind.LOOK_AGAIN: gettext_lazy("You are asked to look at a trajectory of yours again."),
    NoticeKind.REMARK: gettext_lazy("An annotator asks an admin to look at a trajectory."),
    NoticeKind.CORRECTED: gettext_lazy("An audit corrected labels of a trajectory of yours."),
    NoticeKind.ANSWERED: gettext_lazy("An admin has answered your remark."),
    NoticeKind.PAUSED: gettext_lazy("An annotator is paused: too much of their gold is not as in the key."),
    NoticeKind.RESUMED: gettext_lazy("You are given trajectories to label again."),
    NoticeKind.WEBHOOK: gettext_lazy("A webhook is paused: its server takes no more events."),
    NoticeKind.PILOT_BEGUN: gettext_lazy("A pilot has begun: everybody labels the same few trajectories."),
    NoticeKind.PILOT_ENDED: gettext_lazy("The pilot has ended, and the queue is open."),
}


def _sentence(row: Any, speaker: Speaker | None) -> str:
    """The sentence of a notice: who did what to which step, where it tells of that."""
    kind = NoticeKind(row.kind)
    if kind is NoticeKind.CLAIM_ENDED and row.assignment.expiry_reason == ExpiryReason.REPLACED:
        return _("An item of yours was replaced by other content; your labels of it have ended.")
    if speaker is None or kind not in STEP_SENTENCES:
        return str(NOTICE_SENTENCES[kind])
    if speaker.name:
        who = speaker.name
    elif speaker.letter:
        who = speaker.letter
    else:
        who = _("The adjudicator") if speaker.voice is Voice.ADJUDICATOR else _("An admin")
    if row.ordinal is None:
        return OUTCOME_SENTENCES[kind] % {"who": who}
    return STEP_SENTENCES[kind] % {"who": who, "step": step_inside(row.ordinal + 1, row.project.of_kind)}


def _new(row: Any) -> int:
    """The number of unread notices that a line stands for."""
    return int(row.read_at is None) if row.new is None else row.new


def _columns(request: HttpRequest, speakers: dict[int, Speaker]) -> list[Column]:
    def what(row: Any) -> str:
        text = [cells.link(_sentence(row, speakers.get(row.pk)), at("notice", row.pk), "break")]
        if _new(row):
            text.append(
                cells.badge(_("%(n)s new") % {"n": _new(row)} if row.events else _("new"), "badge--warn")
            )
        if row.mentioned and row.kind != NoticeKind.MENTION:
            text.append(cells.badge(_("you are mentioned"), "badge--outline"))
        more = (row.events or 1) - 1
        earlier = ngettext("%(n)d earlier event", "%(n)d earlier events", more) % {"n": more}
        return cells.stack(cells.cluster(*text), cells.soft(earlier) if more else "")

    def mark_read(row: Any) -> str:
        text = {"name": "only", "value": row.pk, "of": _sentence(row, speakers.get(row.pk))}
        return act(request, _("Mark as read"), at("notices-read"), **text) if _new(row) else ""

    return [
        Column("", _("Event"), cell=what, look="main"),
        Column("", _("Project"), "project.name"),
        Column("", _("Record"), cell=lambda row: short_identity(report.record_of(row)), look="slug"),
        Column("", _("Time"), "created_at"),
        Column("", _("Actions"), cell=mark_read, look="actions"),
    ]


@require_GET
def notices(request: HttpRequest) -> HttpResponseBase:
    """The notices of a person, the newest first, of each discussion one. What one may not see any more counts
    as read."""
    user = person(request)
    rows = report.notices(user)
    service.read_unlisted(user=user, listed=rows, now=timezone.now())
    text = _(
        "Notices tell you when a discussion of yours continues, a claim ends, or a case is assigned to you."
    )
    speakers: dict[int, Speaker] = {}

    def known(page: list[Notice]) -> list[Notice]:
        speakers.update(report.speakers(user, page))
        return page

    empty = Empty(_("No notices yet"), text)
    listed = ListPage(request, _columns(request, speakers), report.newest_notices(user), empty, items=known)
    newest = max((row.pk for row in listed.page), default=0)
    unread = any(map(_new, listed.page))
    mark_all = {"name": "newest", "value": newest, "look": ""}
    return show_site(
        request,
        _("Notices"),
        listed,
        about=_("News about your claims, your cases and your discussions."),
        actions=[act(request, _("Mark all as read"), at("notices-read"), **mark_all)] if unread else [],
    )


@require_GET
def notice(request: HttpRequest, pk: int) -> HttpResponse:
    """Go to what a notice is about; it is read then."""
    user = person(request)
    row = get_object_or_404(report.notices(user), pk=pk)
    service.read_one(user=user, notice=row, now=timezone.now())
    return redirect(_target(row))


def _target(row: Notice) -> str:
    if row.discussion_id is not None:
        index = getattr(row, "message_index", None)
        place = "" if index is None else place_of(index)
        return reverse("frontend:discussion", args=[row.discussion_id]) + place
    if row.adjudication_id is not None:
        return reverse("frontend:adjudication", args=[row.adjudication_id])
    if row.remark is not None and row.remark.assignment.annotator_id != row.user_id:
        return reverse("frontend:remark", args=[row.remark.pk])
    if row.membership is not None:
        own = row.membership.user_id == row.user_id
        return reverse("frontend:work" if own else "frontend:gold", args=[row.membership.project.slug])
    if row.webhook is not None:
        return reverse("frontend:webhook", args=[row.webhook.project.slug, row.webhook.pk])
    claim = row.remark.assignment if row.remark is not None else row.assignment
    assert claim is not None
    if row.remark is not None and claim.state == AssignmentState.SUBMITTED and not closed(claim):
        return reverse("frontend:workbench", args=[claim.pk])
    if claim.state == AssignmentState.OPEN:
        return reverse("frontend:workbench", args=[claim.pk])
    if row.kind == NoticeKind.CORRECTED:
        return reverse("frontend:own-consensus", args=[claim.pk])
    return reverse("frontend:work", args=[claim.project.slug])


@require_POST
def read(request: HttpRequest) -> HttpResponse:
    """Mark all notices up to one of them as read; of one alone with `only`."""
    user = person(request)
    only = whole_number(request, "only")
    if only is not None:
        row = get_object_or_404(report.notices(user), pk=only)
        service.read_one(user=user, notice=row, now=timezone.now())
    else:
        service.read_up_to(user=user, notice=whole_number(request, "newest") or 0, now=timezone.now())
    return redirect("frontend:notices")
