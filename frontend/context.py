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


def shell(request: HttpRequest) -> dict[str, Any]:
    """`shell.theme` and `shell.themes` (value, title, whether it is the present one)."""
    present = theme_of(request)

    def choices() -> list[dict[str, Any]]:
        return [
            {"value": value, "title": title, "current": value == present}
            for value, title in User.Theme.choices
        ]

    return {"shell": {"theme": present, "themes": SimpleLazyObject(choices)}}
