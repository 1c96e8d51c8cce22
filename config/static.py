"""Storage of the collected static files: hashed names, compressed, served as immutable."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

# Comments on lines of their own: they are for those who read the sources, not for every visitor to fetch.
COMMENT_LINES = r"(?m)^[ \t]*(?:/\*(?:(?!\*/)[\s\S])*\*/|//[^\n]*)[ \t]*\n"


def in_comment(text: str, position: int) -> bool:
    """Does `position` of a script lie in a comment? (A `/*` inside of a string is not expected.)"""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line.lstrip().startswith("//") or text.rfind("/*", 0, position) > text.rfind("*/", 0, position)


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Rewrites `import` statements of ES modules too, so that a hashed module imports hashed modules."""

    support_js_module_import_aggregation = True
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("*.js", ((COMMENT_LINES, ""),)))
    # one pass for each storey of imports; Django allows five
    max_post_process_passes = 20

    def url_converter(
        self, name: str, hashed_files: dict[str, str], template: str | None = None
    ) -> Callable[[re.Match[str]], str]:
        """Leaves comments alone: types in JSDoc may refer to each other, and hashes cannot.

        An empty template takes the match away.
        """
        if template == "":
            return lambda _match: ""
        convert: Callable[[re.Match[str]], Any] = super().url_converter(name, hashed_files, template)

        def outside_comments(match: re.Match[str]) -> str:
            if name.endswith(".js") and in_comment(match.string, match.start()):
                return match.group()
            return str(convert(match))

        return outside_comments
