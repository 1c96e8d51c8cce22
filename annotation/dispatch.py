"""Sending jobs by name, on commit. A broker that is away never fails a request: the reaper sends what was
missed."""

import logging
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

PREFIX = "annotation."


def send(name: str, *args: Any) -> None:
    """Enqueue the job `annotation.<name>` when the present transaction commits (at once outside of one)."""
    transaction.on_commit(lambda: _send(name, args))


def _send(name: str, args: tuple[Any, ...]) -> None:
    if settings.PUBLIC_DEMO:
        return  # nobody works there, and visitors would fill the queue
    try:
        current_app.send_task(PREFIX + name, args=args, retry=False, ignore_result=True)
    except (OperationalError, ConnectionError, OSError) as error:
        log.warning("job %s was not sent (%s); the reaper will", name, type(error).__name__)
