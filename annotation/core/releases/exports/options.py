"""The choices of an export."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping
from typing import Any, Final

from annotation.core.errors import Invalid
from annotation.core.i18n import translatable

from .formats import BY_NAME, FORMATS, PLAIN, ExportOptions
from .formats.base import ZERO_TRUE, ZEROS
from .formats.protocols import PROPAGATED, PROTOCOLS

MAX_SEED: Final = 2**63 - 1
_SHARE: Final = re.compile(r"0?\.[0-9]{1,6}", re.ASCII)
_SEED: Final = re.compile(r"[0-9]{1,19}", re.ASCII)
_TRUE: Final = ("true", "1", "on")
_FALSE: Final = ("", "false", "0")


def export_options(given: Mapping[str, Any]) -> ExportOptions:
    """The choices under the names `format`, `split`, `seed`, `protocol`, `blind_labels`, `zero`, each as text
    or of its own type; what is missing, None or empty has its default.

    Raises Invalid, with the field, for a value that cannot be or that the format does not know.
    """
    chosen = {key: value for key, value in given.items() if value not in (None, "")}
    unknown = sorted(chosen.keys() - {"format", "split", "seed", "protocol", "blind_labels", "zero"})
    if unknown:
        raise _invalid(unknown[0][:40], translatable("An export has no such option."))
    name = str(chosen.get("format", PLAIN.format.name))
    _one_of("format", name, BY_NAME, [format.name for format in FORMATS])
    options = ExportOptions(
        format=BY_NAME[name],
        split=share(chosen["split"]) if "split" in chosen else None,
        seed=seed_of(chosen["seed"]) if "seed" in chosen else 0,
        protocol=str(chosen.get("protocol", PROPAGATED)),
        blind_labels=_yes(chosen.get("blind_labels", "")),
        zero=str(chosen.get("zero", ZERO_TRUE)).lower(),
    )
    _one_of("protocol", options.protocol, PROTOCOLS, PROTOCOLS)
    _one_of("zero", options.zero, ZEROS, ZEROS)
    if not options.format.options and options != ExportOptions(options.format):
        raise _invalid(
            "format",
            translatable(
                "The {title} are exported as they were frozen; choose another format to "
                "split them or to change their labels.",
                title=options.format.title,
            ),
        )
    if options.blind_labels and "blind_labels" not in options.format.options:
        having = ", ".join(format.name for format in FORMATS if "blind_labels" in format.options)
        raise _invalid(
            "blind_labels", translatable("Blind labels go with the format “{formats}” only.", formats=having)
        )
    return options


def _invalid(field: str, message: str) -> Invalid:
    return Invalid(message, fields={field: message})


def _one_of(field: str, value: str, accepted: Container[str], choices: Iterable[str]) -> None:
    if value not in accepted:
        raise _invalid(
            field,
            translatable(
                "“{value}” is no {field} of an export; choose {choices}.",
                value=value[:40],
                field=field,
                choices=", ".join(choices),
            ),
        )


def share(given: Any) -> float:
    """The share of tasks for the test split, from text or a number. Raises Invalid with the field `split`."""
    text = given if isinstance(given, str) else repr(given)
    number = float(text) if _SHARE.fullmatch(text.strip()) else math.nan
    if not 0 < number < 1:
        raise _invalid(
            "split",
            translatable(
                "The share of tasks for the test split must be a number between 0 and 1 with at most six "
                "decimals, such as 0.2."
            ),
        )
    return number


def seed_of(given: Any) -> int:
    """A seed, from text or a number. Raises Invalid with the field `seed`."""
    text = str(given).strip()
    seed = int(text) if _SEED.fullmatch(text) else -1
    if not 0 <= seed <= MAX_SEED:
        raise _invalid("seed", translatable("The seed must be a whole number from 0."))
    return seed


def _yes(given: Any) -> bool:
    text = str(given).lower()
    if text not in (*_TRUE, *_FALSE):
        raise _invalid("blind_labels", translatable("Choose true or false."))
    return text in _TRUE
