"""The settings of production in another environment, read in this process: a process of its own costs fifty
times as much. That a command reads them is in `test_env.py`."""

from __future__ import annotations

import os
import runpy
from collections.abc import Mapping
from typing import Any
from unittest import mock

from tests.servers import ROOT


def read_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The names of config/settings/base.py; no other variables are there. Raises BadEnvironment."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with mock.patch.dict(os.environ, kept | dict(environment), clear=True):
        return runpy.run_path(str(ROOT / "config" / "settings" / "base.py"))
