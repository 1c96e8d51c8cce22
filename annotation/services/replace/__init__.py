"""Replace an item by one with other options, as importing its record again does: what was said of it ends."""

from .options import edit_options, replace_options

__all__ = ["edit_options", "replace_options"]
