"""System checks of our own: the triggers of frozen releases."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import Error, Tags, register
from django.db import OperationalError, ProgrammingError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

from annotation.models import frozen


@register(Tags.database)
def releases_are_frozen(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[Error]:
    """The triggers of frozen releases are in place, each as it was defined (run by `migrate` and
    `check --database default`; /healthz asks the same).

    Before `migrate` has brought the database up to date there is nothing to compare with.
    """
    errors = []
    for alias in databases or []:
        connection = connections[alias]
        try:
            if not _migrated(connection):
                continue
            problems = frozen.problems(connection)
        except (OperationalError, ProgrammingError):
            continue
        if problems:
            errors.append(
                Error(
                    f"Frozen releases are not protected: {', '.join(problems)}.",
                    hint="Run `manage.py migrate`, or after a restore by hand `manage.py protect_releases`.",
                    id="annotation.E001",
                )
            )
    return errors


def _migrated(connection: BaseDatabaseWrapper) -> bool:
    loader = MigrationLoader(connection)
    ours = {key for key in loader.graph.nodes if key[0] == "annotation"}
    return ours <= set(loader.applied_migrations or ())
