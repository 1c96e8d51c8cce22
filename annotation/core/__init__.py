"""The domain in pure Python: no Django, no DRF, no Celery below this line."""
