"""Assembly of the server: settings, URLs, the Celery app and the server that `make run` starts."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
