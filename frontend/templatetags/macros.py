"""The macros of `frontend/jinja2` in Django's templates."""

from __future__ import annotations

from typing import Any

from django import template
from django.template import engines
from django.template.backends.jinja2 import Jinja2

register = template.Library()


@register.simple_tag
def macro(name: str, *values: Any) -> str:
    """What a macro makes of these values: `{% macro "message.text" block %}`."""
    file, function = name.split(".")
    engine = engines["jinja2"]
    assert isinstance(engine, Jinja2)
    return getattr(engine.env.get_template(f"frontend/macros/{file}.html").module, function)(*values)
