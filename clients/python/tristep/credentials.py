"""The address and the token that are used: given, from the environment, or kept by the command `login`."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path

from .errors import NotConfigured

URL, TOKEN = "TRISTEP_URL", "TRISTEP_TOKEN"


def place() -> Path:
    """The file of the command `login`, in the user's folder for configuration."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    return (Path(base) if base else Path.home() / ".config") / "tristep" / "credentials.json"


def kept() -> tuple[str, str]:
    """Address and token that `login` kept; empty without one."""
    try:
        stored = json.loads(place().read_text(encoding="utf-8"))
        return str(stored["url"]), str(stored["token"])
    except FileNotFoundError:
        return "", ""
    except (OSError, ValueError, KeyError, TypeError):
        raise NotConfigured(f"{place()} cannot be read: run the command `login` again.") from None


def keep(url: str, token: str) -> Path:
    """Store them so that nobody else on this machine can read them; returns the file."""
    file = place()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes a file that its owner alone can read and write, and the renaming leaves no half of one
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=".credentials-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            json.dump({"url": url.rstrip("/"), "token": token}, opened)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return file


def found(url: str = "", token: str | None = None) -> tuple[str, str]:
    """The address and the token to use. A kept token is sent to no other server than its own.

    Raises NotConfigured without an address.
    """
    address = url or os.environ.get(URL, "")
    secret = os.environ.get(TOKEN, "") if token is None else token
    if not address or (token is None and not secret):
        own, its = kept()
        if token is None and not secret and (address or own).rstrip("/") == own:
            secret = its
        address = address or own
    if not address:
        raise NotConfigured(f"No server is known: run the command `login ADDRESS`, or set {URL} and {TOKEN}.")
    return address, secret
