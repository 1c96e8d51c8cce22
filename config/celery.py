"""The Celery app. Tasks live in `annotation/jobs.py`; the job rows are the truth, not the broker."""

import os

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.base")

app = Celery("tristep")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")


@setup_logging.connect
def _keep_django_logging(**_: object) -> None:
    """Connecting this signal keeps Celery from replacing the logging that the settings configured."""
