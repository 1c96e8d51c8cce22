"""The versions of a judge's prompt: one file of text each, from v1 on.

A version that suggestions were made with is never edited: a change of words is a new file here, and the
newest is what a new judge takes (tests hold each version to its digest, and the newest to the label scheme).

A file has two parts, "## system" and "## user". In the second these places are filled in: `{{guidelines}}`,
`{{mark}}`, `{{record}}`, `{{steps}}` and, from v2 on, `{{earlier}}` (what was labelled before, of a run that
is asked about in parts). How the record is written belongs to the version too: from v3 on it says which tool
results the log marks as errors. The versions called `decision-…` are those for decisions: `{{steps}}` are
then the numbers of the actions. `distractor-v1` asks for actions instead of labels: `{{count}}` of the kinds
that `{{steps}}` lists. No judge is made with it; runs that want distractors take it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature, ProjectKind, available

_FOLDER: Final = Path(__file__).parent
VERSIONS: Final = tuple(
    sorted((path.stem for path in _FOLDER.glob("v*.md")), key=lambda version: int(version[1:]))
)
"""All versions, the oldest first."""
LATEST: Final = VERSIONS[-1]
"""The version that a new judge takes."""
DECISION_VERSIONS: Final = ("decision-v1",)
"""All versions for decisions, the oldest first."""
DISTRACTORS: Final = "distractor-v1"
"""The version that asks for distractors."""


@dataclass(frozen=True, slots=True)
class PromptVersion:
    """A version of the prompt, and the feature of a project without which nobody can ask with it."""

    name: str
    needs: Feature


PROMPTS: Final = {
    **{name: PromptVersion(name, Feature.SEQUENCE) for name in VERSIONS},
    **{name: PromptVersion(name, Feature.PAIRS) for name in DECISION_VERSIONS},
}
"""All versions by name; those of one feature stand together, the oldest first."""
_WITHOUT_ERRORS: Final = frozenset({"v1", "v2"})


def versions_of(kind: ProjectKind) -> tuple[str, ...]:
    """The versions that judges of projects of this kind can have, the oldest first: new ones take the
    last."""
    return tuple(available(kind, PROMPTS))


def check_version(kind: ProjectKind, prompt_version: str) -> None:
    """Raises `Invalid`, in a sentence, for a version that judges of projects of this kind do not have."""
    if prompt_version not in versions_of(kind):
        problem = translatable(
            "Judges of this project can have these prompts: {versions}.",
            versions=", ".join(versions_of(kind)),
        )
        raise Invalid(problem, fields={"prompt_version": problem})


def in_both_orders(prompt_version: str) -> bool:
    """Whether it asks about alternatives, in an order and in its reverse."""
    prompt = PROMPTS.get(prompt_version)
    return prompt is not None and prompt.needs is Feature.PAIRS


def tells_errors(prompt_version: str) -> bool:
    """Whether the record of this version says which tool results the log marks as errors."""
    return prompt_version not in _WITHOUT_ERRORS


@cache
def template(prompt_version: str) -> tuple[str, str]:
    """The system text and the user template of a version. Raises `Invalid`."""
    if prompt_version not in PROMPTS and prompt_version != DISTRACTORS:
        raise Invalid(
            translatable(
                "Unknown prompt version “{version}”; choose from {versions}.",
                version=prompt_version[:40],
                versions=", ".join(PROMPTS),
            ),
            fields={"prompt_version": translatable("must be one of {choices}", choices=", ".join(PROMPTS))},
        )
    text = (_FOLDER / f"{prompt_version}.md").read_text(encoding="utf-8")
    system, _, user = text.removeprefix("## system\n").partition("\n## user\n")
    return system.strip(), user.strip() + "\n"
