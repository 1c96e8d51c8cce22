"""Signing in and out, passwords, themes, and joining by invitation."""

from __future__ import annotations

from datetime import timedelta

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from annotation.core.errors import Invalid
from annotation.core.text import unescape
from annotation.models import Invitation, User
from annotation.services import accounts, projects
from frontend.context import THEME_COOKIE
from frontend.forms import add_errors
from frontend.forms.accounts import JoinForm, SignInForm
from frontend.pages.organisation.accounts import BACKEND

YEAR = timedelta(days=365)


def safe_next(request: HttpRequest, fallback: str) -> str:
    """The page after a form or a link: the one it names, when that is one of ours."""
    address = (request.POST if request.method == "POST" else request.GET).get("next", "")
    ours = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    # `redirect` takes a word without a slash for the name of a page
    return address if ours and address.startswith("/") else fallback


def remember_theme(response: HttpResponse, theme: str) -> HttpResponse:
    """Keep the theme in a cookie, which also serves people who are not signed in."""
    return _remember(response, THEME_COOKIE, theme if theme in User.Theme.values else "")


def remember_language(response: HttpResponse, language: str) -> HttpResponse:
    """Keep the language in the cookie that Django's LocaleMiddleware reads; "" leaves it to the browser."""
    return _remember(response, settings.LANGUAGE_COOKIE_NAME, language if known_language(language) else "")


def known_language(code: str) -> bool:
    """Whether pages are offered in this language."""
    return code in dict(settings.LANGUAGES)


def _remember(response: HttpResponse, cookie: str, value: str) -> HttpResponse:
    """Set the cookie for a year, or delete it when there is no value."""
    if not value:
        response.delete_cookie(cookie, samesite="Lax")
        return response
    response.set_cookie(
        cookie, value, max_age=YEAR, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=True
    )
    return response


def remember_choices(response: HttpResponse, user: object) -> HttpResponse:
    """Bring the theme and the language of somebody who has just signed in along."""
    theme, language = getattr(user, "theme", ""), getattr(user, "language", "")
    response = remember_theme(response, theme) if theme else response
    return remember_language(response, language) if language else response


class SignIn(views.LoginView):
    """Sign in; failures are counted and lead to the lockout page."""

    template_name = "frontend/accounts/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """The organisation, where there is one."""
        return super().get_context_data(organisation=settings.ORGANISATION, **kwargs)

    def form_valid(self, form: object) -> HttpResponse:
        """Sign in, or ask for the second factor first; bring the person's own theme and language along."""
        assert isinstance(form, SignInForm)
        answer = perform_login(self.request, form.get_user(), redirect_url=self.get_success_url())
        return remember_choices(answer, self.request.user)


class PasswordChange(views.PasswordChangeView):
    """Change one's own password."""

    template_name = "frontend/accounts/password_change.html"
    success_url = reverse_lazy("frontend:profile")

    def form_valid(self, form: object) -> HttpResponse:
        """Say that it worked."""
        messages.success(
            self.request,
            _("Your password has been changed, and your API tokens were revoked. Create new ones here."),
        )
        with transaction.atomic():
            return super().form_valid(form)  # type: ignore[arg-type]


class PasswordReset(views.PasswordResetView):
    """Ask for a link by mail; without a mail server, the page says whom to ask instead."""

    template_name = "frontend/accounts/password_reset.html"
    email_template_name = "frontend/mail/password_reset.txt"
    subject_template_name = "frontend/mail/password_reset_subject.txt"
    success_url = reverse_lazy("frontend:sign-in")

    def get_context_data(self, **kwargs: object) -> dict[str, object]:
        """Whether there is a mail server."""
        return super().get_context_data(mail=settings.MAIL_ENABLED, **kwargs)

    def form_valid(self, form: object) -> HttpResponse:
        """The same answer whether the address is known or not."""
        if not settings.MAIL_ENABLED:
            return self.render_to_response(self.get_context_data(form=form))
        messages.success(self.request, _("If an account has this address, a link has been sent to it."))
        return super().form_valid(form)  # type: ignore[arg-type]


class PasswordResetConfirm(views.PasswordResetConfirmView):
    """Set a new password with a one-time link, from a mail or from an admin."""

    template_name = "frontend/accounts/password_reset_confirm.html"
    success_url = reverse_lazy("frontend:sign-in")
    reset_url_token = "new"

    def form_valid(self, form: object) -> HttpResponse:
        """Say that it worked."""
        messages.success(self.request, _("Your new password is set. Sign in with it."))
        with transaction.atomic():
            return super().form_valid(form)  # type: ignore[arg-type]


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Choose light, dark or the system's own; kept in a cookie, and in one's profile."""
    choice = request.POST.get("theme", "")
    if choice not in User.Theme.values:
        choice = ""
    if isinstance(request.user, User) and request.user.theme != choice:
        accounts.update_profile(actor=request.user, user=request.user, values={"theme": choice})
    return remember_theme(redirect(safe_next(request, reverse("frontend:home"))), choice)


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose the language of the pages, signed in or not; kept in a cookie, and in one's profile. One that is
    not offered changes nothing."""
    choice = request.POST.get("language", "")
    response = redirect(safe_next(request, reverse("frontend:home")))
    if not known_language(choice):
        return response
    if isinstance(request.user, User) and request.user.language != choice:
        accounts.update_profile(actor=request.user, user=request.user, values={"language": choice})
    return remember_language(response, choice)


@sensitive_post_parameters("password", "password_again")
@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Answer an invitation: decline it, or join as the account that is signed in, or with a new one."""
    invited = projects.invitation_of(secret=token)
    if request.method == "POST" and request.POST.get("answer") == "decline":
        projects.decline_invitation(secret=token)
        sentence = _("You have declined the invitation to %(project)s.")
        messages.success(request, sentence % {"project": invited.project.name})
        return redirect("frontend:home")
    signed_in = request.user if isinstance(request.user, User) else None
    if signed_in is not None:
        if request.method == "POST":
            projects.accept_invitation(secret=token, user=signed_in)
            messages.success(request, _("Welcome to %(project)s.") % {"project": invited.project.name})
            return redirect("frontend:project", invited.project.slug)
        return _invitation_page(request, invited)
    if settings.ORGANISATION is not None and settings.ORGANISATION.only:
        return _invitation_page(request, invited)
    form = JoinForm(
        request.POST if request.method == "POST" else None,
        called=unescape(invited.name),
        email=invited.email,
    )
    if form.is_valid():
        values = {key: form.cleaned_data[key] for key in ("username", "password", "display_name")}
        try:
            user, _membership = projects.accept_invitation(secret=token, **values)
        except Invalid as error:
            add_errors(form, error)
        else:
            login(request, user, backend=BACKEND)
            sentence = _("Welcome to %(project)s. You sign in as %(name)s.")
            messages.success(request, sentence % {"project": invited.project.name, "name": user.username})
            return redirect("frontend:project", invited.project.slug)
    return _invitation_page(request, invited, form)


def _invitation_page(
    request: HttpRequest, invitation: Invitation, form: JoinForm | None = None
) -> HttpResponse:
    status = 400 if form is not None and form.errors else 200
    context = {"invitation": invitation, "form": form, "organisation": settings.ORGANISATION}
    return render(request, "frontend/accounts/invitation.html", context, status=status)
