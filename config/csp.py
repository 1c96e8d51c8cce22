"""Content-Security-Policy: one strict policy for the server, and a narrower exception for Django's admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from csp.constants import NONE, SELF
from csp.middleware import CSPMiddleware, PolicyParts

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

ADMIN_PREFIX = "/admin/"

DIRECTIVES: dict[str, list[str]] = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
    "require-trusted-types-for": ["'script'"],
    "trusted-types": [NONE],
}

# Django's admin brings jQuery, which writes markup itself: no Trusted Types there, all else as strict.
ADMIN_DIRECTIVES: dict[str, list[str]] = {
    name: values for name, values in DIRECTIVES.items() if "trusted-types" not in name
} | {"img-src": [SELF, "data:"]}


class PolicyMiddleware(CSPMiddleware):
    """Writes the policy that fits the path."""

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if not report_only and request.path_info.startswith(ADMIN_PREFIX):
            parts.config = dict(ADMIN_DIRECTIVES)
        return parts
