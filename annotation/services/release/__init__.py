"""Releases: frozen, signed, verified, exported, withdrawn; never changed (docs/design.md, "Releases")."""

from .archive import export_zip
from .background import cancel_freeze, reap, run_freeze, start_freeze
from .compare import Comparison, ShownChange, compare, shown
from .compare import as_json as diff_as_json
from .documents import documents
from .export import admit, export_lines, export_release, write_export
from .freeze import freeze
from .outline import outline, statistics
from .public import PublicSwitches, public_lines, public_statistics, public_zip, set_public, switches
from .signatures import SignatureCheck, check_release
from .staging import sweep_staged
from .verify import Verification, verify
from .verify_files import verify_export
from .withdraw import withdraw

__all__ = [
    "Comparison",
    "PublicSwitches",
    "ShownChange",
    "SignatureCheck",
    "Verification",
    "admit",
    "cancel_freeze",
    "check_release",
    "compare",
    "diff_as_json",
    "documents",
    "export_lines",
    "export_release",
    "export_zip",
    "freeze",
    "outline",
    "public_lines",
    "public_statistics",
    "public_zip",
    "reap",
    "run_freeze",
    "set_public",
    "shown",
    "start_freeze",
    "statistics",
    "sweep_staged",
    "switches",
    "verify",
    "verify_export",
    "withdraw",
    "write_export",
]
