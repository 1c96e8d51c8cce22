"""Visits of the public demo: a visitor's own copy of the database, deleted when nobody has used it for hours.

The database that the copies are made of is never written to: outside of a visit it is opened as a file that
cannot change. Which of them a thread uses is decided at the beginning of each request.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils.crypto import salted_hmac

from annotation.core.errors import TooMany
from annotation.core.i18n import translatable

IDLE_HOURS = 2
# a visit that waits for room is over when nobody has used it for so long
SPARE_SECONDS = 10 * 60
VISITS = 200
VISITS_OF_AN_ADDRESS = 10
MAX_BYTES = 24 * 1024**2
"""The size in bytes to which one visit's database may grow; it begins with three megabytes."""

KEY = re.compile(r"[0-9a-f]{12}-[0-9a-f]{32}")
TOUCHED_SECONDS = 60.0
_of_this_thread = threading.local()


@dataclass(frozen=True)
class Visit:
    """One visit; `key` is its secret, which only the visitor's cookie holds."""

    key: str

    @property
    def folder(self) -> Path:
        """The folder of its database."""
        return folder() / self.key

    @property
    def database(self) -> Path:
        """The file of its database."""
        return self.folder / "db.sqlite3"


def folder() -> Path:
    """The folder of all visits."""
    return Path(settings.DATA_DIR) / "visits"


def current() -> Visit | None:
    """The visit of this thread's request."""
    return getattr(_of_this_thread, "visit", None)


def use(visit: Visit | None) -> None:
    """Send this thread's queries to the visit's database; without one, to that which never changes."""
    connection.close()
    _of_this_thread.visit = visit


def known(key: str) -> Visit | None:
    """The visit of that key, which is in use now; None when there is none any more."""
    if not KEY.fullmatch(key):
        return None
    visit = Visit(key)
    with contextlib.suppress(OSError):
        idle = time.time() - visit.folder.stat().st_mtime
        if idle > IDLE_HOURS * 3600:
            end(visit)
        elif idle > TOUCHED_SECONDS:
            os.utime(visit.folder)
        return visit if visit.database.exists() else None
    return None


def begin(origin: str) -> Visit:
    """A new visit from that address. The oldest of the same address gives way where there are many.

    Raises TooMany when there is no room.
    """
    place = folder()
    place.mkdir(mode=0o700, exist_ok=True)
    whose = salted_hmac("config.public_demo", origin, algorithm="sha256").hexdigest()[:12]
    _make_room(whose)
    if shutil.disk_usage(place).free < settings.MIN_FREE_BYTES + MAX_BYTES:
        raise _full()
    visit = Visit(f"{whose}-{secrets.token_hex(16)}")
    # whole, or not there
    draft = place / f".{visit.key}"
    draft.mkdir(mode=0o700)
    shutil.copyfile(settings.DATABASES["default"]["NAME"], draft / visit.database.name)
    draft.rename(visit.folder)
    return visit


def end(visit: Visit) -> None:
    """Throw it away."""
    shutil.rmtree(visit.folder, ignore_errors=True)


def cache_key(key: str, prefix: str, version: int) -> str:
    """Keys of the cache, for Django: what is counted in a visit is counted there alone."""
    visit = current()
    return f"{prefix}:{visit.key if visit else ''}:{version}:{key}"


def _make_room(whose: str) -> None:
    now = time.time()
    used = sorted(_used())
    over = [path for at, path in used if now - at > IDLE_HOURS * 3600]
    left = [(at, path) for at, path in used if path not in over]
    own = [path for _at, path in left if path.name.lstrip(".").startswith(whose)]
    over += own[: max(0, len(own) - VISITS_OF_AN_ADDRESS + 1)]
    left = [(at, path) for at, path in left if path not in over]
    if len(left) >= VISITS:
        oldest, path = left[0]
        if now - oldest < SPARE_SECONDS:
            raise _full()
        over.append(path)
    for path in over:
        shutil.rmtree(path, ignore_errors=True)


def _used() -> list[tuple[float, Path]]:
    visits = []
    for path in folder().iterdir():
        with contextlib.suppress(OSError):
            visits.append((path.stat().st_mtime, path))
    return visits


def _full() -> TooMany:
    sentence = translatable("Many people are trying the demo right now. Try again in a few minutes.")
    return TooMany(sentence, seconds=SPARE_SECONDS)
