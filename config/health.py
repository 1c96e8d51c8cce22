"""`/healthz`: can this process serve? And `python -m config.health`, which asks it (for containers)."""

from __future__ import annotations

import logging
import os
import sys
import urllib.request

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

log = logging.getLogger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, 503 when it does not.

    The broker is not asked: without it people still label, and jobs wait in the database.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        log.error("healthz: the database does not answer", extra={"kind": type(error).__name__})
        return JsonResponse({"status": "unavailable", "database": "down"}, status=503)
    return JsonResponse({"status": "ok", "database": "up"})


def main() -> int:
    """Ask the server on this machine; exit status 0 when it is well."""
    port = os.environ.get("PORT", "8000")
    hosts = os.environ.get("TRISTEP_ALLOWED_HOSTS", "").split(",")
    host = hosts[0].strip().lstrip(".*") or "localhost"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz", headers={"Host": host})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return 0 if answer.status == 200 else 1
    except OSError as error:
        print(f"The server on port {port} is not well: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
