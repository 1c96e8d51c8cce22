"""`/healthz`: whether this process can serve."""

from __future__ import annotations

import logging

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.models import frozen

log = logging.getLogger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers and its triggers, each as it was defined, protect releases and audit log;
    else 503.

    The broker is not asked: without it people still label, and jobs wait in the database.
    """
    try:
        unprotected = frozen.problems(connection)
    except DatabaseError as error:
        log.error("healthz: the database does not answer", extra={"kind": type(error).__name__})
        return JsonResponse({"status": "unavailable", "database": "down"}, status=503)
    if unprotected:
        log.error(
            "healthz: releases or the audit log are not protected", extra={"problems": ", ".join(unprotected)}
        )
        return JsonResponse({"status": "unavailable", "database": "up", "records": "unprotected"}, status=503)
    return JsonResponse({"status": "ok", "database": "up", "records": "protected"})
