"""The Celery app. Tasks live in `annotation/jobs.py`; the job rows are the truth, not the broker."""

import importlib
import logging
import os
import threading

from celery import Celery, Task
from celery.signals import import_modules, setup_logging, worker_init, worker_ready, worker_shutting_down

from config.server.frames import with_room
from config.server.loading import keep_what_is_loaded, loading

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")


class Job(Task):
    """A task with room for its frames."""

    abstract = True
    __call__ = with_room(Task.__call__)


@import_modules.connect
def _load(**_: object) -> None:
    """Load Django and all tasks as cheaply as the web server does, before Celery would load them."""
    import django

    with loading():
        django.setup()
        importlib.import_module("annotation.jobs")


# connects its own ways of loading when it is made
app = Celery("tristep", task_cls=Job)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")

log = logging.getLogger(__name__)
_stopping = threading.Event()


@setup_logging.connect
def _keep_django_logging(**_: object) -> None:
    """Connecting this signal keeps Celery from replacing the logging that the settings configured."""


@worker_init.connect
def _keep_what_is_loaded(**_: object) -> None:
    """All tasks are loaded, and none has begun."""
    keep_what_is_loaded()


@worker_init.connect
def _can_use_the_bucket(**_: object) -> None:
    """Begin only with a bucket that can be used."""
    from config.bucket import check as bucket_check

    if sentence := bucket_check.problem():
        raise SystemExit(sentence)


@worker_ready.connect
def _start_reaping(**_: object) -> None:
    """Every worker sees to abandoned jobs, in a thread of its own: long jobs must not hold it up."""
    from django.conf import settings

    _stopping.clear()
    threading.Thread(target=_reap, args=(settings.REAP_SECONDS,), name="reaper", daemon=True).start()


@worker_shutting_down.connect
def _stop_reaping(**_: object) -> None:
    _stopping.set()


def _reap(seconds: float) -> None:
    """Run the job `annotation.reap` at once and then every `seconds`, whatever happens to it."""
    while True:
        try:
            app.tasks["annotation.reap"]()
        except Exception:
            # the database may be away for a while; the next round finds everything that this one missed
            log.exception("The reaper failed")
        if _stopping.wait(seconds):
            return
