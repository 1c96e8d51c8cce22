"""Accounts of the whole site, for those who administer it."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
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

PER_PAGE = 50


def _page(request: HttpRequest, form: PersonForm, **context: object) -> HttpResponse:
    people = policies.visible(cast(User, request.user), User.objects.order_by("username"))
    page = Paginator(people, PER_PAGE).get_page(request.GET.get("page"))
    context |= {"form": form, "page": page}
    return render(request, "frontend/accounts/people.html", context, status=400 if form.errors else 200)


@require_http_methods(["GET", "POST"])
def people(request: HttpRequest) -> HttpResponse:
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
def password_link(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a one-time link with which a person sets a password, and show it, once."""
    actor = cast(User, request.user)
    person = get_object_or_404(policies.visible(actor, User.objects.filter(is_active=True)), pk=pk)
    uid, token = accounts.make_password_link(actor=actor, user=person)
    path = reverse("frontend:password-reset-confirm", kwargs={"uidb64": uid, "token": token})
    return _page(request, PersonForm(), link=request.build_absolute_uri(path), link_for=person)
