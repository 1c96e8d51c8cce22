"""Releases: frozen, signed, verified, exported, withdrawn; never changed (docs/design.md, "Releases")."""

from .archive import export_zip
from .background import cancel_freeze, reap, run_freeze, start_freeze
from .documents import documents
from .export import export_lines, export_release
from .freeze import freeze
from .signatures import SignatureCheck, check_release
from .staging import sweep_staged
from .verify import Verification, verify
from .verify_files import verify_export
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
