"""What every template needs: the theme, and the choices for it."""

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from annotation.models import User

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
