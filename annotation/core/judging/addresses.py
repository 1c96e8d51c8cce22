"""Permitted servers: the operator's list, compared exactly."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

_PORTS: Final = {"http": 80, "https": 443}
_PLAIN: Final = re.compile(r"[!-~]+")  # printable ASCII without the space
_HOST: Final = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_PATH: Final = re.compile(r"(/[A-Za-z0-9._~@:+,=-]+)*")


def normalised(url: str) -> str | None:
    """`url` as scheme, lower-case host, port where it is not the scheme's own, and path without a slash at
    its end; `None` for anything but a plain http(s) address: user names, queries, fragments, `..`, `%`,
    backslashes, spaces, other letters than ASCII."""
    if not _PLAIN.fullmatch(url) or "\\" in url or "%" in url:
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    path = parts.path.rstrip("/")
    if scheme not in _PORTS or "@" in parts.netloc or "?" in url or "#" in url or port == 0:
        return None
    if not _HOST.fullmatch(host) or not _PATH.fullmatch(path) or {".", ".."} & set(path.split("/")):
        return None
    return f"{scheme}://{host}{'' if port in (None, _PORTS[scheme]) else f':{port}'}{path}"


def allowed(base_url: str, allow_list: Iterable[str]) -> bool:
    """Whether an entry of `allow_list` is `base_url` or a beginning of it that ends at a slash, both
    normalised: scheme, host and port are compared as wholes, paths by their segments. An entry that is no
    plain address allows nothing. To what a name resolves is the operator's business."""
    address = normalised(base_url)
    if address is None:
        return False
    entries = (normalised(entry.strip()) for entry in allow_list)
    return any(entry and (address == entry or address.startswith(entry + "/")) for entry in entries)
