"""Typed reading of the environment: every setting that a deployment may change comes through here.

A value that cannot be read raises `BadEnvironment` with one sentence that names the variable.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit
from zoneinfo import available_timezones

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
MIN_FREE_BYTES = 256 * 1024**2
"""The room that the data folder needs, unless TRISTEP_MIN_FREE_BYTES says otherwise."""

# Pragmas of every SQLite connection. WAL lets readers go on while one writes; synchronous=FULL syncs the log
# at each commit, so that what was acknowledged survives a power cut; recursive_triggers makes INSERT OR
# REPLACE fire the delete triggers that protect frozen releases.
SQLITE_PRAGMAS = (
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA foreign_keys=ON;"
    "PRAGMA recursive_triggers=ON;"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA cache_size=-16000;"
)


# All that a public demo takes from the environment: nothing of it leads to another server.
PUBLIC_DEMO = frozenset(
    f"TRISTEP_{name}"
    for name in (
        *(
            "ACCESS_LOG",
            "ALLOWED_HOSTS",
            "BODY_SECONDS",
            "DATA_DIR",
            "HEAD_SECONDS",
            "HSTS_PRELOAD",
            "HSTS_SECONDS",
        ),
        *(
            "HTTPS",
            "LOG_LEVEL",
            "MAX_BODY_BYTES",
            "MIN_FREE_BYTES",
            "OLD_SECRET_KEYS",
            "PROXY_HOPS",
            "PUBLIC_ADDRESS",
        ),
        *("PUBLIC_DEMO", "SECRET_KEY", "SECRET_KEY_FILE", "STATIC_DIR", "THROTTLE_ANON", "THROTTLE_COSTLY"),
        *("THROTTLE_CROWD", "THROTTLE_PUBLIC", "THROTTLE_PUBLIC_FILES", "THROTTLE_USER", "TIME_ZONE"),
        *("TRUSTED_ORIGINS", "WEB_PROCESSES", "WEB_THREADS"),
    )
)


def of_public_demo(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of a public demo: without databases, keys and addresses of other servers."""
    ours = ("TRISTEP_", "DATABASE_URL", "REDIS_URL")
    return {
        name: value for name, value in variables.items() if name in PUBLIC_DEMO or not name.startswith(ours)
    }


class BadEnvironment(ValueError):
    """A variable of the environment holds something that cannot be used."""


class Env:
    """Reader over a mapping of strings (the process's environment, unless told otherwise)."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        self._variables = os.environ if variables is None else variables

    def text(self, name: str, default: str = "") -> str:
        """The value without surrounding space; `default` when unset or empty.

        `NAME_FILE` may name a file that holds it, as containers are given secrets.
        """
        value = self._variables.get(name, "").strip()
        if not value and (path := self._variables.get(f"{name}_FILE", "").strip()):
            try:
                value = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeError) as error:
                why = type(error).__name__
                raise BadEnvironment(f"{name}_FILE: {path} cannot be read ({why}).") from None
        return value or default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """1/true/yes/on or 0/false/no/off, in any case."""
        raw = self._variables.get(name)
        if raw is None:
            return default
        word = raw.strip().lower()
        if word in TRUE:
            return True
        if word in FALSE:
            return False
        raise BadEnvironment(f"{name} must be 1 or 0, not {raw!r}.")

    def number(self, name: str, default: int, *, minimum: int = 0) -> int:
        """A whole number, at least `minimum`."""
        raw = self.text(name)
        if not raw:
            return default
        try:
            value = int(raw)
        except ValueError:
            raise BadEnvironment(f"{name} must be a whole number, not {raw!r}.") from None
        if value < minimum:
            raise BadEnvironment(f"{name} must be at least {minimum}, not {value}.")
        return value

    def words(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """A list separated by commas; empty items are dropped."""
        items = [item.strip() for item in self.text(name).split(",")]
        return [item for item in items if item] or list(default)

    def networks(self, name: str) -> list[str]:
        """A list of networks separated by commas: `10.0.0.0/8,fd00::/8`."""
        items = self.words(name)
        for item in items:
            try:
                ip_network(item, strict=False)
            except ValueError:
                raise BadEnvironment(f"{name} must list networks such as 10.0.0.0/8, not {item!r}.") from None
        return items

    def level(self, name: str) -> str:
        """A level of logging by its name, INFO when unset."""
        word = self.text(name, "INFO").upper()
        if word not in LEVELS:
            raise BadEnvironment(f"{name} must be one of {', '.join(LEVELS)}, not {word!r}.")
        return word

    def zone(self, name: str) -> str:
        """The name of a time zone, UTC when unset."""
        word = self.text(name, "UTC")
        if word not in available_timezones():
            raise BadEnvironment(f"{name} must name a time zone, such as Europe/Berlin, not {word!r}.")
        return word

    def rate(self, name: str, default: str) -> str:
        """A rate of requests in a second, minute, hour or day: `60/min`."""
        word = self.text(name, default)
        if not re.fullmatch(r"[1-9][0-9]*/[smhd][a-z]*", word):
            raise BadEnvironment(f"{name} must be a rate such as 60/min, not {word!r}.")
        return word

    def path(self, name: str, default: Path, *, base: Path) -> Path:
        """A path; a relative one is taken from `base`, whatever the working directory is."""
        raw = self.text(name)
        return (base / Path(raw).expanduser()).resolve() if raw else default


def make_folders(name: str, *folders: Path) -> None:
    """Make those that are not there, for their owner alone. Raises BadEnvironment, with `name` for the
    variable that says where they are."""
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise BadEnvironment(f"{name}: {folder} cannot be made ({error.strerror}).") from None


def _address(name: str, url: str) -> SplitResult:
    """The parts of an address, its port checked. What is wrong is not quoted: it may be half a password."""
    try:
        parts = urlsplit(url)
        _checked = parts.port
    except ValueError:
        raise BadEnvironment(
            f"{name} cannot be read as an address; write what is special in a password as %XX."
        ) from None
    return parts


def database(url: str, *, base: Path, password: str = "") -> dict[str, Any]:
    """Django's settings for one database.

    `sqlite:///relative/path` (from `base`), `sqlite:////absolute/path`,
    `postgres://user:password@host:port/name?option=value` (`postgresql://` too; a socket folder goes in
    `?host=`). Query items become connection options; `options=` leaves out ours, for a pooler that refuses
    them. `password` is for an address without one.
    """
    parts = _address("DATABASE_URL", url)
    if parts.scheme == "sqlite":
        if parts.netloc or len(parts.path) < 2:
            raise BadEnvironment("DATABASE_URL: write sqlite:///relative/path or sqlite:////absolute/path.")
        return {
            "ENGINE": "config.sqlite3",
            "NAME": str(base / unquote(parts.path[1:])),
            "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 10, "init_command": SQLITE_PRAGMAS},
            # opening a file with these pragmas takes milliseconds, a query microseconds
            "CONN_MAX_AGE": None,
        }
    if parts.scheme in {"postgres", "postgresql"}:
        if len(parts.path) < 2:
            raise BadEnvironment("DATABASE_URL: the name of the PostgreSQL database is missing.")
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        # hours by day take 0.1 s, and to compile their query (JIT) took PostgreSQL 0.4 s more, each time
        options.setdefault("options", "-c jit=off")
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or "") or password,
            "HOST": options.pop("host", "") or unquote(parts.hostname or ""),
            "PORT": options.pop("port", "") or str(parts.port or ""),
            "OPTIONS": options,
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
        }
    raise BadEnvironment(
        f"DATABASE_URL: {parts.scheme or 'no'} scheme; it must begin sqlite:/// or postgres://."
    )


def redis(url: str, password: str) -> str:
    """The address of Redis with a password in it, unless it has one or is a socket."""
    parts = _address("REDIS_URL", url)
    if not password or parts.password or not parts.hostname:
        return url
    server = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{parts.username or ''}:{quote(password, safe='')}@{server}").geturl()


def broker(url: str) -> str:
    """The address of a Redis-protocol server as kombu writes it (`unix:///path` becomes `redis+socket:///path`)."""
    scheme = _address("REDIS_URL", url).scheme
    if scheme == "unix":
        return "redis+socket" + url.removeprefix("unix")
    if scheme in {"redis", "rediss"}:
        return url
    raise BadEnvironment("REDIS_URL must begin redis://, rediss:// or unix://.")


def email(url: str) -> dict[str, Any]:
    """Django's mail settings from `smtp://user:password@host:port` (`smtps://` for TLS from the start).

    `smtp://…?starttls=1` upgrades the connection.
    """
    parts = _address("TRISTEP_EMAIL_URL", url)
    if parts.scheme not in {"smtp", "smtps"} or not parts.hostname:
        raise BadEnvironment("TRISTEP_EMAIL_URL must look like smtp://user:password@host:port.")
    starttls = dict(parse_qsl(parts.query)).get("starttls", "0") in TRUE
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if parts.scheme == "smtps" else 587 if starttls else 25),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_USE_TLS": starttls and parts.scheme == "smtp",
        "EMAIL_TIMEOUT": 20,
    }


def secret_key(path: Path) -> str:
    """The key kept in `path`, made there on first use, readable by its owner only.

    Safe when several processes start at once: the file appears complete or not at all.
    """
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="ascii").strip()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(64) + "\n")
    try:
        # link, unlike rename, never replaces a key that another process has just made
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    return path.read_text(encoding="ascii").strip()
