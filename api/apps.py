"""The REST API."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """Holds serializers and views; it has no tables."""

    name = "api"
