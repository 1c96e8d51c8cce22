"""System checks of our own: the database's history, the triggers of releases and of the audit log, the log's
chain, the hardening list of docs/operations.md.

`manage.py check --deploy` asks what the settings tell, `check --deploy --database default` the database too.
"""

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, OperationalError, ProgrammingError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotation.models import frozen
from annotation.services import audit

CHAINED_WITHIN = timedelta(hours=1)
OLDEST = "1aeae231"
"""The last commit with the migrations that `0001_user` and `0002_tables` take the place of."""


@register(Tags.database)
def history_is_whole(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[Error]:
    """No database from before `OLDEST`, which `migrate` would take for one without our tables."""
    errors = []
    for alias in databases or []:
        connection = connections[alias]
        try:
            recorded = MigrationRecorder(connection).applied_migrations()
            older = (
                any(app == "annotation" for app, _ in recorded)
                and ("annotation", "0001_user") not in recorded
            )
            if not older or ("annotation", "0002_tables") in MigrationLoader(connection).applied_migrations:
                continue
        except OperationalError:
            continue
        errors.append(
            Error(
                f"This database is too old for this version: check out commit {OLDEST}, run its "
                "`manage.py migrate`, and then this version's.",
                id="annotation.E002",
            )
        )
    return errors


@register(Tags.database)
def releases_are_frozen(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[Error]:
    """The triggers of frozen releases and of the audit log are in place, each as it was defined (run by
    `migrate` and `check --database default`; /healthz asks the same).

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
                    f"Frozen releases or the audit log are not protected: {', '.join(problems)}.",
                    hint="Run `manage.py migrate`, or after a restore by hand `manage.py protect_releases`.",
                    id="annotation.E001",
                )
            )
    return errors


@register(Tags.database)
def audit_log_fits_its_chain(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """No row of the audit log was changed, taken away, put in or moved since it was chained, and none has
    waited long for that (run by `migrate` and `check --database default`)."""
    if DEFAULT_DB_ALIAS not in (databases or []):
        return []
    try:
        if not _migrated(connections[DEFAULT_DB_ALIAS]):
            return []
        chain = audit.verify()
    except (OperationalError, ProgrammingError):
        return []
    messages: list[CheckMessage] = []
    if chain.misfit:
        sentence = f"The audit log was changed: it does not fit its chain from {chain.misfit_text} on."
        messages.append(Error(sentence, hint="Compare it with a backup.", id="annotation.E003"))
    if chain.waiting_since and timezone.now() - chain.waiting_since > CHAINED_WITHIN:
        sentence = f"{chain.waiting} rows of the audit log are not chained since {chain.waiting_since:%F %T}."
        messages.append(Warning(sentence, hint="Is a worker running?", id="annotation.W001"))
    return messages


def _migrated(connection: BaseDatabaseWrapper) -> bool:
    loader = MigrationLoader(connection)
    ours = {key for key in loader.disk_migrations if key[0] == "annotation"}
    return ours <= set(loader.applied_migrations or ())


# ── The hardening list (docs/operations.md, "Hardening") ──
def _elsewhere(host: str | None) -> bool:
    """Is this a server that is reached over a network of others? A name without a dot is a container's."""
    name = (host or "").strip("[]")
    try:
        return not ipaddress.ip_address(name).is_loopback
    except ValueError:
        return "." in name and not name.startswith("/")


def _no_proxy() -> Iterator[str]:
    if settings.HTTPS and not settings.PROXY_HOPS:
        yield "TRISTEP_PROXY_HOPS is 0, though only a proxy can speak the HTTPS that TRISTEP_HTTPS promises."


def _any_host() -> Iterator[str]:
    if "*" in settings.ALLOWED_HOSTS:
        yield "TRISTEP_ALLOWED_HOSTS is *: reset links can be made to lead anywhere."


def _open_files() -> Iterator[str]:
    keys = (settings.DATA_DIR / "secret.key", settings.RELEASE_KEY_FILE)
    for path in (settings.DATA_DIR, settings.UPLOAD_DIR, *keys):
        if Path(path).exists() and Path(path).stat().st_mode & 0o077:
            yield f"{Path(path).name} can be read by other users of this machine."


def _plain_database() -> Iterator[str]:
    database = settings.DATABASES["default"]
    secure = {"require", "verify-ca", "verify-full"}
    if _elsewhere(database.get("HOST")) and database.get("OPTIONS", {}).get("sslmode") not in secure:
        yield "DATABASE_URL leads to another machine without ?sslmode=verify-full."


def _plain_redis() -> Iterator[str]:
    parts = urlsplit(settings.REDIS_URL)
    if parts.hostname and _elsewhere(parts.hostname) and parts.scheme != "rediss":
        yield "REDIS_URL leads to another machine without TLS (rediss://)."
    if parts.hostname and not parts.password:
        yield "Redis has no password: whoever reaches it can give the workers tasks."


def _plain_mail() -> Iterator[str]:
    encrypted = settings.EMAIL_USE_TLS or settings.EMAIL_USE_SSL
    if settings.MAIL_ENABLED and _elsewhere(settings.EMAIL_HOST) and not encrypted:
        yield "TRISTEP_EMAIL_URL sends reset links in the clear; use smtps:// or ?starttls=1."


def _plain_servers() -> Iterator[str]:
    for url in settings.JUDGE_URLS:
        if urlsplit(url).scheme == "http" and _elsewhere(urlsplit(url).hostname):
            yield "TRISTEP_JUDGE_URLS has an http:// address on another machine: keys go in the clear."
    for url in settings.WEBHOOK_URLS:
        if urlsplit(url).scheme == "http" and _elsewhere(urlsplit(url).hostname):
            yield "TRISTEP_WEBHOOK_URLS has an http:// address on another machine: events go in the clear."


def _patience() -> Iterator[str]:
    if settings.AXES_FAILURE_LIMIT > 20 or settings.SIGN_IN_FAILURES_ADDRESS > 500:
        yield "TRISTEP_SIGN_IN_FAILURES… let so many wrong passwords in that weak ones can be guessed."


def _keys_of_one_machine() -> Iterator[str]:
    if settings.STORAGES["default"]["BACKEND"].startswith("django."):
        return
    for file, variable in (("secret.key", "TRISTEP_SECRET_KEY"), ("release.key", "TRISTEP_RELEASE_KEY")):
        if (settings.DATA_DIR / file).exists():
            yield f"Uploads lie in a bucket for several machines, and {file} on this one: set {variable}."


HARDENING: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
    ("annotation.W010", _no_proxy),
    ("annotation.W011", _any_host),
    ("annotation.W012", _open_files),
    ("annotation.W013", _plain_database),
    ("annotation.W014", _plain_redis),
    ("annotation.W015", _plain_mail),
    ("annotation.W016", _plain_servers),
    ("annotation.W017", _patience),
    ("annotation.W020", _keys_of_one_machine),
)


@register(Tags.security, deploy=True)
def hardened(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Warnings about settings on the hardening list."""
    return [Warning(sentence, id=name) for name, look in HARDENING for sentence in look()]


@register(Tags.database, deploy=True)
def hardened_database(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """Warnings about the database on the hardening list: well-known passwords, and a role that may do more
    than it needs."""
    from annotation.management import demo

    warnings: list[CheckMessage] = []
    for alias in databases or []:
        connection = connections[alias]
        try:
            if not _migrated(connection):
                continue
            usernames = ", ".join(account["username"] for account in demo.well_known())
            owner = connection.vendor == "postgresql" and _owns_releases(connection)
        except (OperationalError, ProgrammingError):
            continue
        if usernames:
            sentence = f"Demo accounts have passwords that everybody can read in the source: {usernames}."
            hint = "Change them, or close the accounts."
            warnings.append(Warning(sentence, hint=hint, id="annotation.W018"))
        if owner:
            sentence = "The application's role owns the tables: it could drop the triggers of releases."
            hint = "Use two roles: docs/operations.md."
            warnings.append(Warning(sentence, hint=hint, id="annotation.W019"))
    return warnings


def _owns_releases(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_has_role(relowner, 'MEMBER') FROM pg_class WHERE oid = %s::regclass", [frozen.RELEASE]
        )
        row = cursor.fetchone()
    return bool(row and row[0])
