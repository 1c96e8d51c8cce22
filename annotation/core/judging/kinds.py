"""The registry of kinds of judges. A new kind is one declaration here, and its module in
`annotation.providers` when a run can ask it.

What a kind can do is asked of its declaration, and nowhere is a kind compared by its name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKind:
    """A kind of judge: where its suggestions come from, and what it can do.

    `name` is stored and sent. `title` says what a judge is; `heading`, `about` and `button` offer to set one
    up. All are English, for translation. `provider` is the module of `annotation.providers` that answers; a
    kind without one is never asked.
    """

    name: str
    title: str
    heading: str
    about: str
    button: str
    provider: str = ""
    served: bool = False
    """It is called over the network, at an address and with a key that the operator allows, and has all
    settings of `core.judging.settings`. Any other has its name, and a model for reference."""
    prompted: bool = False
    """It reads a prompt, of which there are versions to compare."""
    priced: bool = False
    """Its tokens cost money; without prices, what a run costs is unknown. Any other costs nothing."""
    trained: bool = False
    """It is made anew for each run from the project's resolved labels, by `services.suggest.baseline`."""
    takes_files: bool = False
    """Its suggestions are brought in as files."""
    needs: Feature | None = None
    """Only kinds of projects with this feature have it."""

    @property
    def runnable(self) -> bool:
        """Whether a run can ask it."""
        return bool(self.provider)


SERVER: Final = JudgeKind(
    name="openai_compatible",
    title=translatable("chat-completions server"),
    heading=translatable("Judge on a server"),
    about=translatable(
        "Any chat-completions server: a commercial service, vLLM, Ollama. It judges one trajectory after "
        "another; you see the estimated cost first."
    ),
    button=translatable("Set up a server"),
    provider="openai_compatible",
    served=True,
    prompted=True,
    priced=True,
)
BASELINE: Final = JudgeKind(
    name="baseline",
    title=translatable("baseline"),
    heading=translatable("Baseline"),
    about=translatable(
        "A small model trained here on this project’s own resolved labels. Needs no network and costs "
        "nothing."
    ),
    button=translatable("Add the baseline"),
    provider="baseline",
    trained=True,
    needs=Feature.BASELINE,
)
FILE: Final = JudgeKind(
    name="imported",
    title=translatable("from a file"),
    heading=translatable("Judge from a file"),
    about=translatable("Suggestions made elsewhere: one JSON line for each trajectory."),
    button=translatable("Import from a file"),
    takes_files=True,
)

KINDS: Final[dict[str, JudgeKind]] = {kind.name: kind for kind in (SERVER, BASELINE, FILE)}


def by_name(name: str) -> JudgeKind:
    """The kind called `name`. Raises Invalid, listing the known names."""
    try:
        return KINDS[name]
    except KeyError:
        raise Invalid(
            translatable(
                "Unknown kind of judge “{kind}”; choose from {kinds}.",
                kind=name[:40],
                kinds=", ".join(KINDS),
            ),
            fields={"kind": translatable("must be one of {choices}", choices=", ".join(KINDS))},
        ) from None


def runnable_kinds() -> list[str]:
    """The names of the kinds that a run can ask."""
    return [kind.name for kind in KINDS.values() if kind.runnable]
