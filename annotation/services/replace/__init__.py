"""Replace an item by one with other options, as importing its record again does: what was said of it ends."""

from .options import may_replace, replace_options
from .standing import Standing, standing

__all__ = ["Standing", "may_replace", "replace_options", "standing"]
