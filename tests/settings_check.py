"""The checks of `make check` that Django does itself, each in a process with an environment of its own.

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
CHECKS: tuple[tuple[str, dict[str, str]], ...] = (
    ("check --fail-level WARNING", PLAIN),
    ("check --deploy --fail-level WARNING", PRODUCTION),
    ("makemigrations --check --dry-run", PLAIN),
    (f"spectacular --validate --fail-on-warn --file {os.devnull}", PLAIN),
)


def run(arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """One `manage.py` command with the settings of a fresh deployment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TRISTEP_", "DJANGO_")) and name not in {"DATABASE_URL", "REDIS_URL"}
    }
    with tempfile.TemporaryDirectory(prefix="tristep-check-") as data:
        return subprocess.run(
            [sys.executable, "manage.py", *arguments.split()],
            cwd=ROOT,
            env=kept | environment | {"TRISTEP_DATA_DIR": data},
            capture_output=True,
            text=True,
            check=False,
        )


def main() -> int:
    for arguments, environment in CHECKS:
        print(f"manage.py {arguments}", flush=True)
        done = run(arguments, environment)
        if done.returncode:
            print(done.stdout + done.stderr, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
