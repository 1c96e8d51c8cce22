"""The licences that data is usually given under, by their SPDX identifiers (https://spdx.org/licenses/)."""

from typing import Final

LICENCES: Final = {
    "CC0-1.0": "Creative Commons Zero 1.0",
    "CC-BY-4.0": "Creative Commons Attribution 4.0",
    "CC-BY-SA-4.0": "Creative Commons Attribution Share Alike 4.0",
    "CC-BY-NC-4.0": "Creative Commons Attribution Non Commercial 4.0",
    "CC-BY-NC-SA-4.0": "Creative Commons Attribution Non Commercial Share Alike 4.0",
    "CC-BY-ND-4.0": "Creative Commons Attribution No Derivatives 4.0",
    "ODC-By-1.0": "Open Data Commons Attribution 1.0",
    "ODbL-1.0": "Open Data Commons Open Database License 1.0",
    "PDDL-1.0": "Open Data Commons Public Domain Dedication and License 1.0",
    "CDLA-Permissive-2.0": "Community Data License Agreement Permissive 2.0",
    "Apache-2.0": "Apache License 2.0",
    "MIT": "MIT License",
}
"""Title by identifier. A release may also have a licence of its own, in words."""
