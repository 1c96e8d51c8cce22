"""Choices of a form for the root and the reason of a −1, in a discussion or in a case."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from annotation.core.vocabulary import REASON_CODES
from annotation.language import translated
from frontend.pages.shared.common import whole_number


def error_reasons() -> list[tuple[str, str]]:
    """The reason codes of a −1, each with its title."""
    return [(reason.code, translated(reason.title)) for reason in REASON_CODES if reason.value == -1]


def error_origin(request: HttpRequest, value: int | None) -> dict[str, Any]:
    """The root (a message index) and the reason code that a form names; of anything but a −1 none, whatever
    stands in fields that are not shown then."""
    if value != -1:
        return {}
    return {"root": whole_number(request, "root"), "reason": request.POST.get("reason", "")}
