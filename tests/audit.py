"""`make audit`: the locked packages against the known vulnerabilities, by pip-audit.

pip-audit ends well when it could compare nothing ("No known vulnerabilities found", every package skipped).
Here that is a failure: exit status 0 means that every package was compared, 1 that one is vulnerable, 3 that
some or all could not be compared.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from tests.servers import ROOT

LOCKS = ("requirements.lock", "requirements-dev.lock")
NOT_COMPARED = 3


def verdict(report: Mapping[str, Any]) -> tuple[int, str]:
    """The exit status and what to say of one report of pip-audit."""
    packages = report["dependencies"]
    skipped = sorted(package["name"] for package in packages if "skip_reason" in package)
    found = [
        (package["name"], package["version"], bug) for package in packages for bug in package.get("vulns", ())
    ]
    lines = [
        f"{name} {version}: {bug['id']}, mended in {', '.join(bug['fix_versions']) or 'no version yet'}"
        for name, version, bug in found
    ]
    if len(skipped) == len(packages):
        return NOT_COMPARED, unreachable("it answered for none of the packages")
    if skipped:
        lines.append(
            f"{len(skipped)} of {len(packages)} packages could not be compared: {', '.join(skipped)}."
        )
    else:
        lines.append(f"{len(packages)} packages compared, {len(found)} known vulnerabilities.")
    return 1 if found else NOT_COMPARED if skipped else 0, "\n".join(lines)


def unreachable(why: str) -> str:
    """The message that nothing was compared."""
    return (
        f"The data on vulnerabilities cannot be reached ({why}): NOTHING WAS COMPARED. Try again elsewhere."
    )


def audit(lock: str) -> tuple[int, str]:
    """Compare one lock file."""
    flags = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
    done = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--requirement", lock, *flags, "--timeout", "20"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return verdict(json.loads(done.stdout))
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return NOT_COMPARED, unreachable(last[-200:])


def main() -> int:
    worst = 0
    for lock in LOCKS:
        status, words = audit(lock)
        print(f"{lock}\n{words}", flush=True)
        # a vulnerability is worse than not to know
        worst = 1 if 1 in (status, worst) else max(worst, status)
    return worst


if __name__ == "__main__":
    raise SystemExit(main())
