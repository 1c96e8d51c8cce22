"""The schema, and the answer to addresses that do not exist."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import requires_csrf_token
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from ..errors import problem
from .base import View


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document; it only changes with the code."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return made


class Schema(View):
    """`/schema/`"""

    noun = "schema"
    permission_classes = [AllowAny]

    @extend_schema(summary="Read this schema", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """This document: OpenAPI 3, as JSON. Open to everybody."""
        return Response(document())


@requires_csrf_token
def unknown(request: HttpRequest, rest: str = "") -> JsonResponse:
    """404 for an address that is none of ours."""
    hint = "" if rest.endswith("/") or "." in rest else " " + _("Addresses end with a slash.")
    return problem(request, "not_found", _("There is nothing at this address.") + hint, 404)
