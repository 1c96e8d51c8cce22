"""The web pages."""

from django.apps import AppConfig


class FrontendConfig(AppConfig):
    """Holds pages, templates and static files; it has no tables."""

    name = "frontend"
