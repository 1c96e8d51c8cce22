"""The routes of the web pages. Every page needs a signed-in person, except those listed as public."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, path

from frontend.pages import accounts, people, profile

app_name = "frontend"


def page(route: str, view: Callable[..., Any], name: str) -> URLPattern:
    """A page for signed-in people; everybody else is asked to sign in."""
    return path(route, login_required(view), name=name)


public = [
    path("sign-in/", accounts.SignIn.as_view(), name="sign-in"),
    path("sign-out/", LogoutView.as_view(http_method_names=["post", "options"]), name="sign-out"),
    path("password/reset/", accounts.PasswordReset.as_view(), name="password-reset"),
    path(
        "password/reset/<uidb64>/<token>/",
        accounts.PasswordResetConfirm.as_view(),
        name="password-reset-confirm",
    ),
    path("invitations/<str:token>/", accounts.invitation, name="invitation"),
    path("theme/", accounts.theme, name="theme"),
]

own = [
    page("password/", accounts.PasswordChange.as_view(), "password-change"),
    page("profile/", profile.profile, "profile"),
    page("profile/tokens/", profile.token_create, "token-create"),
    page("profile/tokens/<int:pk>/revoke/", profile.token_revoke, "token-revoke"),
    page("people/", people.people, "people"),
    page("people/<int:pk>/password-link/", people.password_link, "password-link"),
]

urlpatterns = [*public, *own]
