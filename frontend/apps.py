"""The web pages."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in


class FrontendConfig(AppConfig):
    """Holds pages, templates and static files; it has no tables."""

    name = "frontend"

    def ready(self) -> None:
        """Note at each sign-in, by whichever door, who needs a second factor and has none."""
        from frontend.pages.second_factor.due import note

        user_logged_in.connect(note, dispatch_uid="second factor")
