"""The macros of `frontend/jinja2` in Django's templates."""

from __future__ import annotations

from typing import Any

from django import template

from frontend.rendering.jinja import Macros

register = template.Library()


@register.simple_tag
def macro(name: str, *values: Any) -> str:
    """The output of a macro for these values: `{% macro "message.text" block %}`."""
    file, function = name.split(".")
    return getattr(Macros(file), function)(*values)
