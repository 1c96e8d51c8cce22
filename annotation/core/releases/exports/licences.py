"""Names of licences, as SPDX, the Hugging Face Hub and a web address know them."""

from __future__ import annotations

import re
from typing import Final

HUB: Final = {
    "CC0-1.0": "cc0-1.0",
    "CC-BY-4.0": "cc-by-4.0",
    "CC-BY-SA-4.0": "cc-by-sa-4.0",
    "CC-BY-NC-4.0": "cc-by-nc-4.0",
    "CC-BY-NC-SA-4.0": "cc-by-nc-sa-4.0",
    "CC-BY-ND-4.0": "cc-by-nd-4.0",
    "CDLA-Permissive-2.0": "cdla-permissive-2.0",
    "ODC-By-1.0": "odc-by",
    "ODbL-1.0": "odbl",
    "PDDL-1.0": "pddl",
    "Apache-2.0": "apache-2.0",
    "MIT": "mit",
}
"""The Hub's identifier of each of core.releases.licences.LICENCES."""
_ADDRESS: Final = re.compile(r"https?://[^\s<>\"]+")


def hub_licence(licence: str) -> str:
    """The Hub's identifier; `other` for a licence that it has none for."""
    return HUB.get(licence, "other")


def licence_address(licence: str) -> str:
    """The address of a licence's text, if that is known, otherwise its own words."""
    if licence in HUB:
        return f"https://spdx.org/licenses/{licence}.html"
    return licence


def is_address(text: str) -> bool:
    """Whether a text is an address of the web and nothing else."""
    return _ADDRESS.fullmatch(text) is not None
