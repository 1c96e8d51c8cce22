"""The context of every template: the theme and the language, and the choices for them."""

from functools import cache
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import get_language

from annotation.models import User
from annotation.reports.cases.notices import unread

THEME_COOKIE = "tristep_theme"


def theme_of(request: HttpRequest) -> str:
    """The theme to write on the root element: the cookie's, or "" when the system decides."""
    wanted = request.COOKIES.get(THEME_COOKIE, "")
    return wanted if wanted in User.Theme.values else ""


def theme(request: HttpRequest) -> dict[str, Any]:
    """`theme` (the present one, or "") and `themes` (value, title, whether it is the present one)."""
    present = theme_of(request)

    def choices() -> list[dict[str, Any]]:
        return [
            {"value": value, "title": title, "current": value == present}
            for value, title in User.Theme.choices
        ]

    return {"theme": present, "themes": SimpleLazyObject(choices)}


def language_tag(code: str) -> str:
    """A language as pages and browsers write it: `en`, `zh-Hans`."""
    return "-".join(part.title() if len(part) == 4 else part for part in code.split("-"))


def languages(_request: HttpRequest) -> dict[str, Any]:
    """`languages` (code, tag, name in itself, whether it is the present one)."""

    def choices() -> list[dict[str, Any]]:
        return [
            {"code": code, "tag": language_tag(code), "name": name, "current": code == get_language()}
            for code, name in settings.LANGUAGES
        ]

    return {"languages": SimpleLazyObject(choices)}


def notices(request: HttpRequest) -> dict[str, Any]:
    """`unread_notices`: how many the signed-in person has not read; asked for once, where it is shown."""
    user = getattr(request, "user", None)
    if not isinstance(user, User):
        user = User.objects.filter(pk=user.pk).first() if user is not None and user.is_authenticated else None
    return {"unread_notices": cache(lambda: unread(user)) if user is not None else 0}


def public_demo(_request: HttpRequest) -> dict[str, Any]:
    """`public_demo`: whether this is one, which every page says."""
    return {"public_demo": settings.PUBLIC_DEMO}
