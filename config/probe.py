"""`python -m config.probe`: asks /healthz of the server on this machine, for a container's health check."""

from __future__ import annotations

import os
import sys
import urllib.request

from config.env import Env

# The server is on this machine, whatever proxy the environment names for the way out.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def main() -> int:
    """Ask the server on this machine; exit status 0 when it is well."""
    port = os.environ.get("PORT", "8000")
    hosts = Env().words("TRISTEP_ALLOWED_HOSTS", ("localhost",))
    host = hosts[0].lstrip(".*") or "localhost"
    request = urllib.request.Request(f"http://127.0.0.1:{port}/healthz", headers={"Host": host})
    try:
        with DIRECT.open(request, timeout=5) as answer:
            return 0 if answer.status == 200 else 1
    except OSError as error:
        print(f"The server on port {port} is not well: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
