"""The options of a freeze: version, title, note, licence, and the subsets that are left out."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotation.core.decisions.difficulty import DifficultyBand
from annotation.core.errors import Invalid
from annotation.core.i18n import translatable
from annotation.core.kinds import Feature
from annotation.models import Project, Subset

MAX_NOTE = 20_000
MAX_TITLE = 200
MAX_LICENCE = 2_000
VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,39}", re.ASCII)
BAD_VERSION = translatable(
    "Use letters, digits, dots, hyphens and underscores, at most 40, beginning with a letter or digit."
)


@dataclass(frozen=True, slots=True)
class FreezeRequest:
    """A release as it was asked for. `licence` is an identifier of core.releases.licences or somebody's own
    words;
    `leave_out` are names of subsets, sorted; `difficulty` picks decisions, None: all."""

    version: str
    note: str
    title: str
    licence: str
    leave_out: tuple[str, ...]
    difficulty: DifficultyBand | None


def wanted(
    *,
    project: Project,
    version: str,
    note: str,
    title: str,
    licence: str,
    leave_out: Collection[str],
    difficulty: Sequence[float] | None,
) -> FreezeRequest:
    """Check what was asked for. Raises Invalid that names the field, and Conflict for a band of difficulty
    where there are no pairs of options."""
    version, title, licence = version.strip(), title.strip(), licence.strip()
    if not VERSION.fullmatch(version):
        raise Invalid(
            translatable(
                "“{version}” cannot be a version. {bad_version}",
                version=version[:60],
                bad_version=BAD_VERSION,
            ),
            fields={"version": BAD_VERSION},
        )
    if len(note) > MAX_NOTE:
        message = translatable("Keep the note under {note} characters.", note=f"{MAX_NOTE:,}")
        raise Invalid(message, fields={"note": message})
    if len(title) > MAX_TITLE or not title.isprintable():
        message = translatable("Give a title in one line, at most {n} characters.", n=MAX_TITLE)
        raise Invalid(message, fields={"title": message})
    if len(licence) > MAX_LICENCE:
        message = translatable("Keep the licence under {n} characters.", n=f"{MAX_LICENCE:,}")
        raise Invalid(message, fields={"licence": message})
    names = set(Subset.objects.filter(project=project, name__in=leave_out).values_list("name", flat=True))
    for name in leave_out:
        if name not in names:
            message = translatable("There is no subset “{name}” here.", name=name[:64])
            raise Invalid(message, fields={"leave_out": message})
    if difficulty is not None:
        project.of_kind.require(Feature.PAIRS)
    band = None if difficulty is None else DifficultyBand.of(difficulty)
    return FreezeRequest(version, note, title, licence, tuple(sorted(names)), band)
