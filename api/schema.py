"""The OpenAPI schema: what drf-spectacular cannot know by itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers
from rest_framework.permissions import AllowAny


class ErrorDetail(serializers.Serializer[Any]):
    """An error. `code` is stable and for programs; `message` is one sentence for people; `fields` has a
    reason for each field; `details` holds anything else of use."""

    code = serializers.CharField()
    message = serializers.CharField()
    fields = serializers.DictField(child=serializers.CharField())  # type: ignore[assignment]
    details = serializers.JSONField(allow_null=True)


class Error(serializers.Serializer[Any]):
    """Every error has this shape."""

    error = ErrorDetail()


WORDS = {
    "400": "The request cannot be accepted as it is.",
    "401": "Nobody is signed in, or the token is not valid.",
    "403": "You may see this, but not do that to it.",
    "404": "There is no such thing, or it is not for you to see.",
    "409": "The request was fine, but not in the present state.",
    "411": "The body has no Content-Length.",
    "413": "Too large.",
    "415": "The body has a content type that is not understood here.",
    "429": "Too many requests; Retry-After says when to come back.",
    "503": "The database or the store of files is busy or away; Retry-After says when to come back.",
}
WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Schema(AutoSchema):
    """Adds the error responses to every operation, and groups operations by the noun of their view."""

    def get_tags(self) -> list[str]:
        """The noun of the view."""
        return [getattr(self.view, "noun", "api")]

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        """The operation with the errors it may end in."""
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        error = self.resolve_serializer(Error, "response").ref
        for status in self._statuses(operation):
            content = {"application/json": {"schema": error}}
            operation["responses"].setdefault(status, {"content": content, "description": WORDS[status]})
        operation["responses"] = dict(sorted(operation["responses"].items()))
        return operation

    def _statuses(self, operation: dict[str, Any]) -> list[str]:
        statuses = ["400", "429", "503"]
        if AllowAny not in self.view.permission_classes:
            statuses += ["401", "403", "404"]
        elif "{" in self.path:
            statuses += ["404"]
        if self.method in WRITING:
            statuses += ["409", "411", "413"]
        elif getattr(self.view, "reading_may_conflict", False):
            statuses += ["409"]
        if "requestBody" in operation:
            statuses += ["415"]
        return statuses


class TokenScheme(OpenApiAuthenticationExtension):
    """Personal tokens."""

    target_class = "api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """A bearer token."""
        return {"type": "http", "scheme": "bearer", "description": "A personal token: tri_…"}


class BrowserScheme(SessionScheme):
    """The browser's session."""

    target_class = "api.authentication.SessionAuthentication"
    name = "session"
