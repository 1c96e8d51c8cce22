"""The schema, and the answer to addresses that do not exist."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.core.errors import NotFound

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


@extend_schema(exclude=True)
class Unknown(View):
    """Every address that is none of ours."""

    authentication_classes = []
    permission_classes = [AllowAny]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuse every request: there is nothing here. Raises NotFound."""
        rest = str(kwargs.get("rest", ""))
        hint = "" if rest.endswith("/") or "." in rest else " " + _("Addresses end with a slash.")
        raise NotFound(_("There is nothing at this address.") + hint)
