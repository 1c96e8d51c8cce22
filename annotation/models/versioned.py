"""Rows that several people may edit at the same time."""

from typing import Any, ClassVar

from annotation.core.versions import version_of


class Versioned:
    """Mixed into a model: EDITED names the fields that people edit together, and `version` what they say."""

    EDITED: ClassVar[tuple[str, ...]]

    def edited(self) -> dict[str, Any]:
        """The fields that people may edit, by name."""
        return {name: getattr(self, name) for name in self.EDITED}

    @property
    def version(self) -> str:
        """Names the present values; whoever changes them says which version they began from."""
        return version_of(self.edited())
