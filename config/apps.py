"""The instance itself."""

from django.apps import AppConfig


class InstanceConfig(AppConfig):
    """Holds the operator's commands (accounts, backups, protection of releases); it has no tables."""

    name = "config"
