"""Files on their way into a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import models as m
from .connection import Progress, Source
from .nouns import Items, Noun, Pages, Work

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Import(Work[m.ImportDetail]):
    """One file on its way into a project. `wait()` ends once it is published, or stored for its preview."""

    _done = frozenset({"published", "uploaded"})

    def get(self) -> m.ImportDetail:
        """Follow an import."""
        return self._get()

    def preview(self) -> m.ImportPreview:
        """Preview an import."""
        return self._get("preview/")

    def label_preview(self) -> m.LabelPreview:
        """Preview an import of labels."""
        return self._get("label-preview/")

    def start(self) -> m.ImportDetail:
        """Start a previewed import."""
        return self._post("start/")

    def abandon(self) -> m.ImportDetail:
        """Abandon an import."""
        return self._post("abandon/")

    def import_suggestions(self, **fields: Unpack[m.JudgeNameRequest]) -> m.SuggestionImport:
        """Make labels in a file suggestions."""
        return self._post("suggestions/", fields)


class Imports(Items[Import]):
    """Imports, by id."""

    _item = Import


class ProjectImports(Noun):
    """The files that came into a project."""

    def list(self) -> Pages[m.Import]:
        """List imports."""
        return self._list()

    def create(
        self, file: Source, progress: Progress | None = None, **options: Unpack[m.ProjectsImportsCreateQuery]
    ) -> m.Import:
        """Import a file."""
        return self._upload("", file, options, progress)

    def archive(
        self,
        file: Source,
        progress: Progress | None = None,
        **options: Unpack[m.ProjectsImportsArchiveCreateQuery],
    ) -> m.ReceivedArchive:
        """Import an archive of files."""
        return self._upload("archive/", file, options, progress)

    def labels(
        self,
        file: Source,
        progress: Progress | None = None,
        **options: Unpack[m.ProjectsImportsLabelsCreateQuery],
    ) -> m.Import:
        """Import a person's labels."""
        return self._upload("labels/", file, options, progress)

    def discard_previews(self) -> m.Discarded:
        """Discard all previews."""
        return self._post("discard-previews/")
