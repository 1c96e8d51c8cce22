"""The name of a step on a page, in the reader's language: by its kind of project, and its number."""

from annotation.core.kinds import ProjectKind
from annotation.language import translated


def step_title(number: int | str, kind: ProjectKind) -> str:
    """A step by its number where a line or a sentence begins: “Step 3”, “Option 2”."""
    return translated(kind.step_title(number))


def step_inside(number: int | str, kind: ProjectKind) -> str:
    """The same within a sentence."""
    return translated(kind.step_inside(number))
