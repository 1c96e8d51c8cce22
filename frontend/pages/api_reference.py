"""The reference of the REST API, as a page."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from frontend import openapi

ERROR_EXAMPLE = (
    '{"error": {"code": "stale_version", "message": "…", "fields": {"name": "…"}, "details": null}}'
)


@require_GET
def api_reference(request: HttpRequest) -> HttpResponse:
    """Every operation of the API with its parameters, body and answers, made from the OpenAPI schema."""
    context = {
        "groups": openapi.groups(),
        "info": openapi.document().get("info", {}),
        "rates": settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"],
        "error_example": ERROR_EXAMPLE,
        "base": request.build_absolute_uri("/api/v1/"),
    }
    return render(request, "frontend/api_reference.html", context)
