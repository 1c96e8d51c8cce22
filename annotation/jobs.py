"""Celery tasks, thin: each claims a row by a guarded UPDATE in its service, and is safe to deliver twice."""

import logging

from celery import shared_task
from django.db import close_old_connections

from annotation.core.errors import ImportRefused, TristepError
from annotation.services import ingest

log = logging.getLogger(__name__)


@shared_task(name="annotation.run_import")
def run_import(source_id: int) -> None:
    """Import a received file; what is wrong with it stands in its row."""
    try:
        ingest.run_import(source_id=source_id, resumable=True)
    except ImportRefused as refused:
        log.info("import %s refused: %s errors", source_id, refused.report.get("count"))
    except TristepError as stopped:
        log.info("import %s stopped: %s", source_id, stopped.code)
    finally:
        close_old_connections()


@shared_task(name="annotation.reap")
def reap() -> None:
    """See to jobs whose worker died and to what was never sent."""
    try:
        ingest.reap()
    finally:
        # a connection that broke must not be met again in the next round
        close_old_connections()
