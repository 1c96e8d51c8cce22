"""System checks of our own: the triggers of frozen releases."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import Error, Tags, register
from django.db import OperationalError, ProgrammingError, connections

from annotation.models import frozen


@register(Tags.database)
def releases_are_frozen(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[Error]:
    """The triggers of frozen releases are in place (run by `migrate`, `check --database default` and
    /healthz)."""
    errors = []
    for alias in databases or []:
        connection = connections[alias]
        try:
            if frozen.RELEASE not in connection.introspection.table_names():
                continue
            lacking = frozen.missing(connection)
        except (OperationalError, ProgrammingError):
            continue
        if lacking:
            errors.append(
                Error(
                    f"Frozen releases are not protected: {', '.join(lacking)}.",
                    hint="Run `manage.py migrate`, or after a restore by hand `manage.py protect_releases`.",
                    id="annotation.E001",
                )
            )
    return errors
