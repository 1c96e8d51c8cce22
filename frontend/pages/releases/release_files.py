"""What a release can be taken along as: its files, the data sets made of it, and how each is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.core.releases.exports.options import HUGGINGFACE, TRAINING, has_blind_labels, has_roots
from annotation.core.releases.exports.snippets import snippets
from annotation.core.releases.record_format import AGENTPROCESSBENCH, file_name
from frontend.forms.release_exports import ExportForm
from frontend.pages.shared.common import ProjectPage

SPLITS = {HUGGINGFACE: "test", TRAINING: "train"}


def export_form(opened: ProjectPage, manifest: Mapping[str, Any], data: Any = None) -> ExportForm:
    """The form of choices, as far as the release holds what they need and the viewer may have it."""
    may_compare = opened.may("agreement.pairs")
    return ExportForm(data, roots=has_roots(manifest), blind=may_compare and has_blind_labels(manifest))


def files_context(opened: ProjectPage, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What releases/release_files.html shows: size and checksum of each subset's file, the form, the
    snippets."""
    subset = min(manifest["subsets"], default="")
    return {
        "stated_files": {
            name: {"name": file_name(name), **manifest["files"].get(file_name(name), {})}
            for name in manifest["subsets"]
        },
        "export_form": export_form(opened, manifest),
        "has_roots": has_roots(manifest),
        "snippets": [
            {
                "format": format,
                "rows": [
                    {"title": title, "code": code, "lines": code.count("\n") + 1}
                    for title, code in snippets(format, subset, SPLITS.get(format, ""))
                ],
            }
            for format in (HUGGINGFACE, TRAINING, AGENTPROCESSBENCH)
        ],
    }
