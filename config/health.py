"""`/healthz`: whether this process can serve."""

from __future__ import annotations

import errno
import logging
import shutil
import tempfile

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.models import frozen

log = logging.getLogger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers, its triggers, each as it was defined, protect releases and audit log,
    and the data folder can be written and has room; else 503.

    The broker is not asked: without it people still label, and jobs wait in the database.
    """
    disk = disk_problem()
    if disk:
        log.error("healthz: the data folder is in need", extra={"disk": disk})
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
    if disk:
        return JsonResponse({"status": "unavailable", "database": "up", "disk": disk}, status=503)
    return JsonResponse({"status": "ok", "database": "up", "records": "protected", "disk": "ok"})


def disk_problem() -> str | None:
    """The fault of the data folder: "full" below TRISTEP_MIN_FREE_BYTES, "read-only" when nothing can be
    written; None when all is well."""
    try:
        if shutil.disk_usage(settings.DATA_DIR).free < settings.MIN_FREE_BYTES:
            return "full"
        with tempfile.TemporaryFile(dir=settings.DATA_DIR) as file:
            file.write(bytes(4096))
            file.flush()
    except OSError as error:
        return "full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "read-only"
    return None
