"""The checks of `make check` that Django does itself, in one process for each environment.

`python -m tests.settings_check` runs them on a throw-away data folder and stops at the first that fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from tests.servers import ROOT

PLAIN: dict[str, str] = {}
PRODUCTION = {"TRISTEP_HTTPS": "1", "TRISTEP_PROXY_HOPS": "1", "TRISTEP_ALLOWED_HOSTS": "tristep.example"}
CHECKS: tuple[tuple[dict[str, str], tuple[str, ...]], ...] = (
    (
        PLAIN,
        (
            "check --fail-level WARNING",
            # what `check` has found need not be found again
            "makemigrations --check --dry-run --skip-checks",
        ),
    ),
    (PRODUCTION, ("check --deploy --fail-level WARNING",)),
)
MANAGE = """
import os, sys
from django.core.management import execute_from_command_line
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.base"
for line in sys.argv[1:]:
    print(f"manage.py {line}", flush=True)
    execute_from_command_line(["manage.py", *line.split()])
"""


def run(environment: dict[str, str], commands: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """`manage.py` commands one after the other, with the settings of a fresh deployment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TRISTEP_", "DJANGO_")) and name not in {"DATABASE_URL", "REDIS_URL"}
    }
    with tempfile.TemporaryDirectory(prefix="tristep-check-") as data:
        return subprocess.run(
            [sys.executable, "-c", MANAGE, *commands],
            cwd=ROOT,
            env=kept | environment | {"TRISTEP_DATA_DIR": data},
            capture_output=True,
            text=True,
            check=False,
        )


def main() -> int:
    for environment, commands in CHECKS:
        done = run(environment, commands)
        print(done.stdout, end="", flush=True)
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
