"""Releases: frozen, signed, verified, exported, withdrawn; never changed (docs/design.md, "Releases")."""

from .archive import export_zip
from .background import cancel_freeze, reap, run_freeze, start_freeze
from .export import documents, export_lines, export_release, verify_export
from .freeze import freeze
from .signatures import SignatureCheck, check_release
from .staging import sweep_staged
from .verify import Verification, verify
from .withdraw import withdraw

__all__ = [
    "SignatureCheck",
    "Verification",
    "cancel_freeze",
    "check_release",
    "documents",
    "export_lines",
    "export_release",
    "export_zip",
    "freeze",
    "reap",
    "run_freeze",
    "start_freeze",
    "sweep_staged",
    "verify",
    "verify_export",
    "withdraw",
]
