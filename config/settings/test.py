"""Settings of the tests: nothing from the developer's environment, nothing left behind.

`TRISTEP_TEST_DB` picks the database, `sqlite` (a file, so that threads and processes can share it) or
`postgres` (see tests/servers.py for where that comes from).
"""

import os
import tempfile
from pathlib import Path

_KEEP = ("TRISTEP_TEST_DB", "TRISTEP_REQUIRE_ALL")
for _name in [name for name in os.environ if name.startswith("TRISTEP_") and name not in _KEEP]:
    del os.environ[_name]
for _name in ("DATABASE_URL", "REDIS_URL"):
    os.environ.pop(_name, None)

_HOME = tempfile.TemporaryDirectory(prefix="tristep-test-")
os.environ["TRISTEP_DATA_DIR"] = _HOME.name
os.environ["TRISTEP_SECRET_KEY"] = "a key for tests alone, which no server ever uses 0123456789"

from config import env as reading  # noqa: E402
from config.settings.base import *  # noqa: E402, F403
from config.settings.base import BASE_DIR, DATABASES, REST_FRAMEWORK, STATICFILES_FINDERS  # noqa: E402

POSTGRES_MISSING = ""
if os.environ.get("TRISTEP_TEST_DB", "sqlite") == "postgres":
    from tests.servers import ServerMissing, postgres_for_tests

    try:
        DATABASES["default"] = reading.database(postgres_for_tests(), base=BASE_DIR)
        DATABASES["default"]["CONN_MAX_AGE"] = 0
    except ServerMissing as error:
        POSTGRES_MISSING = str(error)
if not POSTGRES_MISSING and DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    # the order in which SQLite's waiters get the lock is chance, and a test machine may be very busy
    DATABASES["default"]["OPTIONS"]["timeout"] = 120
    # no test cuts this process's power; what synchronous=FULL is for is shown with the real settings
    DATABASES["default"]["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
    DATABASES["default"]["TEST"] = {"NAME": str(Path(_HOME.name) / "test.sqlite3")}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Manifest storage answers 404 for hashed files under pytest-django's live server.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "tests.joined_files.JoinedStorage"},
}
STATICFILES_FINDERS = ["tests.joined_files.JoinedFinder", *STATICFILES_FINDERS]
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"] = {
    "anon": "100000/min",
    "user": "100000/min",
    "costly": "100000/min",
    "crowd": "100000/min",
    "sign_in": "100000/min",
    "public": "100000/min",
    "public_files": "100000/min",
}
CELERY_BROKER_URL = "memory://"
