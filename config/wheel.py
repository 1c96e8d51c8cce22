"""The command `tristep` of the wheel: `serve`, `manage`, and the commands of the Python client.

In the wheel this file is the package `tristep_server`, beside the rooms of the code. The command puts them
onto its path as `config`, `annotation` and so on; other programs do not see them (decision 76). So nothing
of them is imported before `main`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

COMMANDS = {
    "serve": "Serve Tristep on this machine, with the demo project when its database is empty.",
    "manage": "Run a command of the server: `tristep manage help` lists them.",
}


def data_folder(environment: Mapping[str, str]) -> Path:
    """The folder of TRISTEP_DATA_DIR (from the working directory), else one in the user's folder for data."""
    if named := environment.get("TRISTEP_DATA_DIR", "").strip():
        return Path(named).expanduser().resolve()
    return Path(environment.get("XDG_DATA_HOME") or "~/.local/share").expanduser().resolve() / "tristep"


def main() -> int:
    """Run one command; returns its exit code."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    os.environ["TRISTEP_DATA_DIR"] = str(data_folder(os.environ))
    name, rest = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if name == "serve":
        from config import serve

        return serve.main(rest, prog="tristep serve")
    if name == "manage":
        from config.management.command_line import main as managed

        sys.argv = ["tristep manage", *rest]
        managed()
        return 0
    from tristep import commands

    return int(commands.main(prog="tristep", beside=COMMANDS))
