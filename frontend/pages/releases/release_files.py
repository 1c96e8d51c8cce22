"""Downloads of a release: its files, the data sets made of it, and how each is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.core.releases.exports import FORMATS
from annotation.core.releases.record_format import file_name
from annotation.language import translated
from frontend.forms.release_exports import ExportForm
from frontend.pages.shared.common import ProjectPage


def export_form(opened: ProjectPage, data: Any = None) -> ExportForm:
    """The form of choices, as far as the viewer may have them."""
    return ExportForm(data, blind=opened.may("agreement.pairs"))


def files_context(opened: ProjectPage, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The context of releases/release_files.html: size and checksum of each subset's file, the form, the
    snippets."""
    subset = min(manifest["subsets"], default="")
    return {
        "stated_files": {
            name: {"name": file_name(name), **manifest["files"].get(file_name(name), {})}
            for name in manifest["subsets"]
        },
        "export_form": export_form(opened),
        "snippets": [
            {
                "format": format.name,
                "title": translated(format.title),
                "rows": [
                    {"title": title, "code": code, "lines": code.count("\n") + 1}
                    for title, code in format.snippets(subset, format.whole)
                ],
            }
            for format in sorted(FORMATS, key=lambda format: not format.options)
        ],
    }
