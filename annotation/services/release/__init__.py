"""Releases: frozen, verified, exported, withdrawn; never changed (docs/design.md, "Releases")."""

from .export import export_lines, export_release, verify_export
from .freeze import freeze, withdraw
from .verify import Verification, verify

__all__ = [
    "Verification",
    "export_lines",
    "export_release",
    "freeze",
    "verify",
    "verify_export",
    "withdraw",
]
