"""Members of a project and invitations to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Case, Q, When
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.middleware.csrf import get_token
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Invalid, StaleVersion
from annotation.core.releases.qualifications import DEGREES, FEWEST_ANNOTATORS, SMALLEST
from annotation.core.text import unescape
from annotation.core.vocabulary import Degree, InvitationState
from annotation.language import translated
from annotation.models import Invitation, Membership, Qualification, Subset
from annotation.reports.training import tutorial
from annotation.services import projects, training
from annotation.services.shares.limits import Limits, noted, set_limits
from frontend import mail
from frontend.forms import add_errors
from frontend.forms.projects import InviteForm, LimitsForm, QualificationForm, RolesForm
from frontend.pages.shared.collision import collide
from frontend.pages.shared.common import ProjectPage, open_project
from frontend.pages.shared.list_page import ListPage, show
from frontend.rendering.began import BEGAN, begun, read
from frontend.rendering.jinja import Macros
from frontend.rendering.tables import Column, at, cells
from frontend.templatetags.tristep import readable

MEMBERS_VERB = "members.change"
INVITATIONS_SHOWN = 50
member_cells = Macros("members")


def _noted(name: str) -> Callable[[Membership], Any]:
    """A field of a member's qualifications, for the file."""
    return lambda row: readable(str(noted)) if (noted := getattr(_of(row), name)) is not None else ""


def _of(row: Membership) -> Qualification:
    """A member's qualifications; nothing is noted where there is no row."""
    return getattr(row, "qualification", None) or Qualification(membership=row)


def _list(opened: ProjectPage) -> ListPage:
    token = get_token(opened.request)
    taught = tutorial.items(opened.project).exists()

    def qualifications(row: Membership) -> str:
        """The notes on a member, in a line that leads to the form."""
        noted = _of(row)
        words = [
            translated(DEGREES.get(Degree(noted.degree), "")) if noted.degree else "",
            readable(noted.field),
            _("%(n)s years") % {"n": noted.years} if noted.years is not None else "",
            readable(noted.languages),
        ]
        text = " · ".join(filter(None, words)) or _("Qualifications and pay")
        return cells.link(text, at("qualifications", opened.project.slug, row.pk), "small")

    def limits(row: Membership) -> str:
        """The quotas of a member and when they are away next, in a line that leads to the form."""
        quotas = [
            _("%(subset)s: at most %(most)s") % {"subset": one.subset.name, "most": one.most}
            for one in row.quotas.all()
        ]
        ends = [one for one in row.days_away.all() if one.last >= timezone.localdate()]
        away = [_("away %(first)s – %(last)s") % {"first": one.first, "last": one.last} for one in ends[:1]]
        text = " · ".join([*quotas, *away]) or _("Quotas and days away")
        return cells.link(text, at("member-limits", opened.project.slug, row.pk), "small")

    def address(row: Membership) -> str:
        return at("member", opened.project.slug, row.pk)

    columns = [
        Column(
            "user_name",
            _("Member"),
            "user.username",
            lambda row: cells.lines(
                row.user, cells.soft(row.user.username), qualifications(row), limits(row)
            ),
            "main",
            "user__username",
        ),
        Column("name", value="user.display_name"),
        *(Column(name, value=_noted(name)) for name in Qualification.EDITED),
        Column(
            "roles",
            _("Roles"),
            lambda row: "; ".join(row.roles),
            lambda row: member_cells.roles(row, address(row), token, begun(row.version, row.edited())),
        ),
        Column(
            "",
            _("Actions"),
            cell=lambda row: member_cells.acts(
                row, address(row), token, taught and row.is_annotator and row.tutorial_done_at is None
            ),
            look="actions",
        ),
    ]
    members = Membership.objects.filter(project=opened.project).select_related("user", "qualification")
    members = members.prefetch_related("quotas__subset", "days_away")
    rows = policies.visible(opened.user, members.order_by("user__username"))
    return ListPage(opened.request, columns, rows, order="user__username", file="members")


def _page(opened: ProjectPage, *, invite: InviteForm | None = None, **extra: Any) -> HttpResponseBase:
    # those that still wait for an answer first
    waiting = Q(accepted_at=None, declined_at=None, revoked_at=None, expires_at__gt=timezone.now())
    invitations = (
        Invitation.objects.filter(project=opened.project)
        .select_related("accepted_by")
        .order_by(Case(When(waiting, then=0), default=1), "-created_at", "-pk")
    )
    invite = invite or InviteForm(initial={"is_annotator": True}, auto_id="invite_%s")
    return show(
        opened,
        "members",
        _list(opened),
        "projects/members.html",
        status=409 if "collision" in extra else 400 if invite.is_bound and invite.errors else 200,
        invitations=policies.visible(opened.user, invitations)[:INVITATIONS_SHOWN],
        renewable=(InvitationState.PENDING, InvitationState.EXPIRED),
        mail_server=settings.MAIL_ENABLED,
        actions=[cells.link(_("Crowd links"), at("crowd-links", opened.project.slug), "button")],
        invite=invite,
        **extra,
    )


@require_GET
def members(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Members of the project and their roles; invitations; a form to invite."""
    return _page(open_project(request, slug, MEMBERS_VERB))


@require_POST
def change(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """Set the roles of a member, or remove them."""
    opened = open_project(request, slug, MEMBERS_VERB)
    members = Membership.objects.filter(project=opened.project).select_related("user", "project")
    membership = get_object_or_404(policies.visible(opened.user, members), pk=pk)
    if "remove" in request.POST:
        projects.remove_member(actor=opened.user, membership=membership)
        messages.success(request, _("%(name)s is no longer a member.") % {"name": membership.user})
        return redirect(
            "frontend:members" if membership.user_id != opened.user.pk else "frontend:project", slug
        )
    if "skip_tutorial" in request.POST:
        training.skip_tutorial(actor=opened.user, membership=membership)
        messages.success(request, _("%(name)s can label without the tutorial.") % {"name": membership.user})
        return redirect("frontend:members", slug)
    form = RolesForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("A member needs at least one role. Nothing was changed."))
    else:
        version = read(request.POST).version
        try:
            projects.set_roles(actor=opened.user, membership=membership, **form.cleaned_data, version=version)
        except StaleVersion:
            membership.refresh_from_db()
            theirs, take = membership.edited(), reverse("frontend:members", args=[slug])
            now, subject = begun(membership.version, theirs), str(membership.user)
            collision = collide(opened, membership, form, theirs, take=take, subject=subject, began=now)
            return _page(opened, collision=collision)
        messages.success(request, _("The roles of %(name)s are saved.") % {"name": membership.user})
    return redirect("frontend:members", slug)


@require_http_methods(["GET", "POST"])
def qualifications(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The degree, its field, years, languages and pay of a member, which admins alone see and note."""
    opened = open_project(request, slug, MEMBERS_VERB)
    members = Membership.objects.filter(project=opened.project)
    members = members.select_related("user", "project", "qualification")
    membership = get_object_or_404(policies.visible(opened.user, members), pk=pk)
    row = _of(membership)
    values, collision = row.edited(), None
    form = QualificationForm(request.POST or None, initial=_readable(values))
    if form.is_valid():
        try:
            projects.set_qualifications(
                actor=opened.user,
                membership=membership,
                values=form.cleaned_data,
                version=read(request.POST).version,
            )
        except Invalid as error:
            add_errors(form, error)
        except StaleVersion:
            row = Qualification.objects.get(membership=membership)
            values = row.edited()
            collision = collide(opened, membership, form, _readable(values), take=request.path)
            form = QualificationForm(initial=collision.values)
        else:
            name = {"name": membership.user}
            messages.success(request, _("Qualifications and pay of %(name)s are saved.") % name)
            return redirect("frontend:members", slug)
    refused = form.is_bound and form.errors
    return opened.render(
        "projects/qualifications.html",
        "members",
        status=409 if collision else 400 if refused else 200,
        title=str(membership.user),
        form=form,
        began=request.POST.get(BEGAN, "") if refused else begun(row.version, _readable(values)),
        collision=collision,
        fewest=FEWEST_ANNOTATORS,
        smallest=SMALLEST,
    )


@require_http_methods(["GET", "POST"])
def limits(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The quotas of a member, and their days away."""
    opened = open_project(request, slug, MEMBERS_VERB)
    members = Membership.objects.filter(project=opened.project).select_related("user", "project")
    membership = get_object_or_404(policies.visible(opened.user, members), pk=pk)
    subsets = policies.visible(opened.user, Subset.objects.filter(project=opened.project, training=False))

    def read_anew(now: Limits, data: QueryDict | None = None) -> LimitsForm:
        quotas = {row: now.quotas.get(row.name) for row in subsets}
        return LimitsForm(data, quotas=quotas, days_away=now.days_away)

    now, collision = noted(membership), None
    form = read_anew(now, request.POST or None)
    if form.is_valid():
        asked = form.limits()
        try:
            version = read(request.POST).version
            set_limits(actor=opened.user, membership=membership, **asked, version=version)
        except Invalid as error:
            form.add_error(None, translated(error.message))
        except StaleVersion:
            now = noted(membership)
            collision = collide(opened, membership, form, read_anew(now).shown(), take=request.path)
            quotas = form.limits(collision.values)["quotas"]
            theirs, away = set(now.days_away), set(asked["days_away"])
            began = set(form.periods_of(read(request.POST).values))
            merged = sorted((theirs | (away - began)) - (began - away))
            form = LimitsForm(None, quotas=quotas, days_away=merged)
        else:
            text = _("Quotas and days away of %(name)s are saved.")
            messages.success(request, text % {"name": membership.user})
            return redirect("frontend:members", slug)
    refused = form.is_bound and form.errors
    return opened.render(
        "projects/limits.html",
        "members",
        status=409 if collision else 400 if refused else 200,
        title=str(membership.user),
        form=form,
        began=request.POST.get(BEGAN, "") if refused else begun(now.version, read_anew(now).shown()),
        collision=collision,
    )


def _readable(values: dict[str, Any]) -> dict[str, Any]:
    return {name: unescape(value) if isinstance(value, str) else value for name, value in values.items()}


@never_cache
@require_POST
def invite(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Make an invitation for each line and show the links, once; they are mailed too where there is a mail
    server."""
    opened = open_project(request, slug, MEMBERS_VERB)
    form = InviteForm(request.POST, auto_id="invite_%s")
    if not form.is_valid():
        return _page(opened, invite=form)
    roles = {name: value for name, value in form.cleaned_data.items() if name != "people"}
    try:
        people = projects.people_listed(form.cleaned_data["people"]) or [("", "")]
        made = projects.invite_all(actor=opened.user, project=opened.project, people=people, **roles)
    except Invalid as error:
        add_errors(form, error)
        return _page(opened, invite=form)
    return with_links(opened, made)


@never_cache
@require_POST
def renew(request: HttpRequest, slug: str, pk: int) -> HttpResponseBase:
    """Make a new link for an invitation, and show it, once; the old one ends."""
    opened = open_project(request, slug, MEMBERS_VERB)
    invitations = Invitation.objects.filter(project=opened.project).select_related("project")
    invitation = get_object_or_404(policies.visible(opened.user, invitations), pk=pk)
    return with_links(opened, [projects.renew_invitation(actor=opened.user, invitation=invitation)])


def with_links(opened: ProjectPage, made: list[tuple[Invitation, str]]) -> HttpResponseBase:
    """The members page with the links of invitations just made, which it shows once."""
    links = []
    for invitation, secret in made:
        link = opened.request.build_absolute_uri(reverse("frontend:invitation", args=[secret]))
        name = unescape(invitation.name) or invitation.email
        mailed = mail.send_invitation(invitation, link)
        links.append({"invitation": invitation, "name": name, "link": link, "mailed": mailed})
    as_text = "\n".join(f"{row['name']}\t{row['link']}".strip() for row in links)
    return _page(opened, links=links, as_text=as_text)


@require_POST
def revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Make an unused link invalid."""
    opened = open_project(request, slug, MEMBERS_VERB)
    invitations = Invitation.objects.filter(project=opened.project).select_related("project")
    invitation = get_object_or_404(policies.visible(opened.user, invitations), pk=pk)
    projects.revoke_invitation(actor=opened.user, invitation=invitation)
    messages.success(request, _("Invitation revoked."))
    return redirect("frontend:members", slug)
