"""A command whose output somebody stops reading."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.servers import ROOT

pytestmark = pytest.mark.once

SCRIPT = """
import django
django.setup()
from annotation.management.base import OperatorCommand

class Wordy(OperatorCommand):
    def run(self, **options):
        for number in range(100_000):
            self.stdout.write(str(number))

Wordy().handle()
"""


def test_command_that_is_piped_into_head_ends_without_a_traceback() -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.test"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None and running.stderr is not None
    assert running.stdout.readline() == b"0\n"
    running.stdout.close()
    assert running.stderr.read() == b""
    assert running.wait() == 1
