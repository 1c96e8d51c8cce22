"""One shape for every error: {"error": {"code", "message", "fields", "details"}}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, SuspiciousOperation
from django.http import Http404, HttpRequest, JsonResponse, UnreadablePostError
from django.utils.translation import gettext as _
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from annotation.core import errors
from annotation.language import translated

STATUS: tuple[tuple[type[errors.TristepError], int], ...] = (
    (errors.Denied, status.HTTP_403_FORBIDDEN),
    (errors.NotFound, status.HTTP_404_NOT_FOUND),
    (errors.Conflict, status.HTTP_409_CONFLICT),
    (errors.TooLarge, status.HTTP_413_REQUEST_ENTITY_TOO_LARGE),
    (errors.TooMany, status.HTTP_429_TOO_MANY_REQUESTS),
    (errors.Unavailable, status.HTTP_503_SERVICE_UNAVAILABLE),
    (errors.Invalid, status.HTTP_400_BAD_REQUEST),
)

# DRF's codes, where ours are other words
CODES = {
    "authentication_failed": "not_authenticated",
    "permission_denied": "denied",
    "parse_error": "unreadable",
    "error": "invalid",
}


def body(
    code: str, message: str, *, fields: Mapping[str, str] | None = None, details: Any = None
) -> dict[str, Any]:
    """The one shape of an error."""
    return {"error": {"code": code, "message": message, "fields": dict(fields or {}), "details": details}}


def problem(request: HttpRequest, code: str, message: str, status_code: int) -> JsonResponse:
    """An error outside of any view of the API: an unknown address, a refused request, a failure of ours."""
    return JsonResponse(body(code, message), status=status_code)


def status_of(error: errors.TristepError) -> int:
    """The HTTP status that an expected failure becomes."""
    return next((code for kind, code in STATUS if isinstance(error, kind)), status.HTTP_400_BAD_REQUEST)


def refused(error: errors.TristepError) -> JsonResponse:
    """An expected failure before any view of the API is reached."""
    return JsonResponse(_of_ours(error), status=status_of(error))


def _of_ours(error: errors.TristepError) -> dict[str, Any]:
    fields = error.fields if isinstance(error, errors.Invalid) else {}
    reasons = {name: translated(why) for name, why in fields.items()}
    return body(error.code, translated(error.message), fields=reasons, details=error.details)


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    """DRF's hook: an answer for every expected failure, None (a 500) for anything else."""
    if isinstance(exc, errors.TristepError):
        answer = Response(_of_ours(exc), status=status_of(exc))
        if isinstance(exc, (errors.TooMany, errors.Unavailable)):
            answer["Retry-After"] = str(exc.seconds)
    elif isinstance(exc, exceptions.APIException):
        answer = _of_drf(exc)
    elif isinstance(exc, Http404):
        answer = Response(body("not_found", _("Not found.")), status=status.HTTP_404_NOT_FOUND)
    elif isinstance(exc, PermissionDenied):
        answer = Response(
            body("denied", _("You are not allowed to do this.")), status=status.HTTP_403_FORBIDDEN
        )
    elif isinstance(exc, (SuspiciousOperation, BadRequest, UnreadablePostError)):
        answer = Response(
            body("unreadable", _("The request cannot be read.")), status=status.HTTP_400_BAD_REQUEST
        )
    else:
        return None
    set_rollback()
    return answer


def _of_drf(exc: exceptions.APIException) -> Response:
    headers: dict[str, str] = {}
    if header := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if (wait := getattr(exc, "wait", None)) is not None:
        headers["Retry-After"] = str(int(wait))
    if isinstance(exc, exceptions.ValidationError):
        fields = flatten(exc.detail)
        general = fields.pop("", None)
        if general is None and fields:
            name, why = next(iter(fields.items()))
            general = f"{name}: {why}"
        content = body("invalid", general or _("The request cannot be accepted."), fields=fields)
    else:
        codes = exc.get_codes()
        code = codes if isinstance(codes, str) else exc.default_code
        content = body(CODES.get(code, code), _sentence(exc.detail))
    return Response(content, status=exc.status_code, headers=headers)


def _sentence(detail: Any) -> str:
    if isinstance(detail, Mapping):
        detail = detail.get("detail") or next(iter(detail.values()), "")
    if isinstance(detail, (list, tuple)):
        detail = detail[0] if detail else ""
    return str(detail)


def flatten(detail: Any, path: str = "") -> dict[str, str]:
    """DRF's nested messages as {"changes.0.value": "why"}; what concerns no field stands under ""."""
    if isinstance(detail, Mapping):
        problems: dict[str, str] = {}
        for name, inner in detail.items():
            part = "" if name in ("non_field_errors", "") else str(name)
            problems.update(flatten(inner, ".".join(piece for piece in (path, part) if piece)))
        return problems
    if isinstance(detail, (list, tuple)):
        if all(not isinstance(item, (Mapping, list, tuple)) for item in detail):
            return {path: " ".join(str(item) for item in detail)} if detail else {}
        problems = {}
        for position, inner in enumerate(detail):
            problems.update(flatten(inner, f"{path}.{position}" if path else str(position)))
        return problems
    return {path: str(detail)}
