"""Calling a command as the operator does: what it says where, and how it ends."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command


@dataclass(frozen=True)
class Said:
    """The output of a command."""

    out: str
    err: str

    @property
    def document(self) -> Any:
        """Its standard output as the one JSON document it must be."""
        return json.loads(self.out)


def write(path: Path, data: bytes) -> Path:
    """A file for a command to read."""
    path.write_bytes(data)
    return path


def run(name: str, *arguments: str | Path) -> Said:
    """Run a command to its good end."""
    out, err = io.StringIO(), io.StringIO()
    call_command(name, *map(str, arguments), stdout=out, stderr=err)
    return Said(out.getvalue(), err.getvalue())


def fails(name: str, *arguments: str | Path) -> Said:
    """Run a command that must end badly: `out` is its one sentence, `err` what it wrote before."""
    err = io.StringIO()
    with pytest.raises(CommandError) as refusal:
        call_command(name, *map(str, arguments), stdout=io.StringIO(), stderr=err)
    sentence = str(refusal.value)
    assert sentence, "a command that fails says why"
    assert "\n" not in sentence
    return Said(sentence, err.getvalue())
