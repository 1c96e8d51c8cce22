"""Accounts of the whole site, for those who administer it."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import policies
from annotation.core.errors import Invalid
from annotation.models import User
from annotation.services import accounts
from frontend.forms import add_errors
from frontend.forms.accounts import PersonForm
from frontend.pages.shared.list_page import ListPage, act, show_site
from frontend.rendering.tables import Column, at, cells


def _columns(request: HttpRequest) -> list[Column]:
    def name(row: User) -> str:
        site_admin = cells.badge(_("site admin")) if row.is_superuser else ""
        closed = "" if row.is_active else cells.badge(_("closed"), "badge--outline")
        shown = cells.beside(row.username, site_admin, closed)
        return cells.lines(shown, cells.soft(row.display_name) if row.display_name else "")

    def actions(row: User) -> str:
        link = act(request, _("Create password link"), at("password-link", row.pk), of=row.username)
        address = at("account-state", row.pk)
        if row.pk == request.user.pk:
            return link
        if row.is_active:
            danger = {"look": "button--small button--danger", "name": "close"}
            return cells.cluster(link, act(request, _("Close account"), address, of=row.username, **danger))
        return cells.cluster(link, act(request, _("Reopen account"), address, of=row.username, name="open"))

    return [
        Column("user_name", _("User name"), "username", name, "main", "username"),
        Column("name", value="display_name"),
        Column("email", _("E-mail address"), sort="email"),
        Column("last_signed_in", _("Last signed in"), "last_login", sort="-last_login"),
        Column("", _("Actions"), cell=actions, look="actions"),
    ]


def _page(request: HttpRequest, form: PersonForm, **context: Any) -> HttpResponseBase:
    rows = policies.visible(cast(User, request.user), User.objects.order_by("username"))
    listed = ListPage(request, _columns(request), rows, order="username", file="people")
    about = _("All accounts on this site. Project admins invite people to their own projects.")
    return show_site(
        request,
        _("People"),
        listed,
        "accounts/people.html",
        about=about,
        form=form,
        status=400 if form.errors else 200,
        **context,
    )


@require_http_methods(["GET", "POST"])
def people(request: HttpRequest) -> HttpResponseBase:
    """All accounts; a form for a new one."""
    actor = cast(User, request.user)
    policies.require(actor, "account.create")
    form = PersonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = accounts.create_user(actor=actor, **form.cleaned_data)
        except Invalid as error:
            add_errors(form, error)
        else:
            messages.success(
                request,
                _("Account %(name)s created. Give its owner a one-time link.") % {"name": user.username},
            )
            return redirect("frontend:people")
    return _page(request, form)


@require_POST
def account(request: HttpRequest, pk: int) -> HttpResponse:
    """Close an account, or open it again."""
    actor = cast(User, request.user)
    person = get_object_or_404(policies.visible(actor, User.objects.all()), pk=pk)
    if "close" in request.POST:
        accounts.close_account(actor=actor, user=person)
        messages.success(request, _("Account %(name)s closed.") % {"name": person.username})
    else:
        accounts.open_account(actor=actor, user=person)
        messages.success(request, _("Account %(name)s reopened.") % {"name": person.username})
    return redirect("frontend:people")


@never_cache
@require_POST
def password_link(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Make a one-time link with which a person sets a password, and show it, once."""
    actor = cast(User, request.user)
    person = get_object_or_404(policies.visible(actor, User.objects.filter(is_active=True)), pk=pk)
    uid, token = accounts.make_password_link(actor=actor, user=person)
    path = reverse("frontend:password-reset-confirm", kwargs={"uidb64": uid, "token": token})
    return _page(request, PersonForm(), link=request.build_absolute_uri(path), link_for=person)
