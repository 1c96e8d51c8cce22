"""The reference of the REST API, as a page."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from frontend import openapi

ERROR_EXAMPLE = (
    '{"error": {"code": "stale_version", "message": "…", "fields": {"name": "…"}, "details": null}}'
)


@require_GET
def api_reference(request: HttpRequest) -> HttpResponse:
    """Every operation of the API with its parameters, body, answers and examples, made from its schema.

    A script searches them and sends one with the reader's own token.
    """
    context = {
        "count": sum(len(group.operations) for group in openapi.groups()),
        "operations": operations(get_language()),
        "rates": settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"],
        "error_example": ERROR_EXAMPLE,
        "words": words(),
        "base": request.build_absolute_uri("/api/v1/"),
    }
    return render(request, "frontend/api_reference.html", context)


@require_GET
def llms(request: HttpRequest) -> HttpResponse:
    """A short guide to the use of this server by programs, for agents that write them. Open to all, as the
    schema is."""
    context = {"home": request.build_absolute_uri("/"), "base": request.build_absolute_uri("/api/v1/")}
    return render(request, "frontend/llms.txt", context, content_type="text/plain; charset=utf-8")


@cache
def operations(language: str | None) -> SafeString:
    """The operations as HTML in the language that is active, made once in a process.

    They depend on the code alone, and rendering them takes six times as long as the rest of the page.
    """
    groups = openapi.groups()
    to_try = {operation.id: operation.to_try() for group in groups for operation in group.operations}
    return render_to_string("frontend/partials/api_operations.html", {"groups": groups, "operations": to_try})


def words() -> dict[str, str]:
    """Every word the script shows, translated. {…} is filled in by the script."""
    return {
        "body": _("Body"),
        "file": _("File"),
        "required": _("required"),
        "send": _("Send {method}"),
        "changes": _("This is the real server: what you send is done."),
        "curl": _("As curl"),
        "copy": _("Copy"),
        "copied": _("Copied"),
        "token": _("Enter a token first, at the top of the page."),
        "missing": _("{name} is missing."),
        "not_json": _("The body is not JSON: {reason}"),
        "sending": _("Sending…"),
        "failed": _("No answer came: {reason}"),
        "answer": _("{status} in {time} ms"),
        "no_body": _("An answer without a body."),
        "binary": _("{bytes} bytes of {type}; not shown."),
        "cut": _("The first {n} characters of {all}."),
        "response": _("Response"),
    }
