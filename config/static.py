"""Storage of the collected static files: hashed names, compressed, served as immutable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from frontend import scripts, stylesheets


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Collects a page's modules into one file, and scripts and style sheets without what only readers of the
    sources need (docs/decisions/0085); the sources stay beside them under their own names.
    """

    joins_modules = True
    # a hashed script imports a hashed one
    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], *args: Any, **options: Any) -> Iterator[Any]:
        """Hash and compress what is served; modules that are part of another's file are left out."""
        served = InMemoryStorage()
        paths = {name: path for name, path in paths.items() if not name.startswith("frontend/js/")}
        for name, text in (*scripts.joined_files(), *stylesheets.light_files()):
            served.save(name, ContentFile(text.encode()))
            paths[name] = (served, name)
        yield from super().post_process(paths, *args, **options)
