"""The Jinja2 environment of the macros in `frontend/jinja2`, for what a page holds hundreds of times."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from django.template import engines
from django.template.backends.jinja2 import Jinja2
from django.template.defaultfilters import date, truncatechars
from django.urls import reverse
from django.utils.timezone import localtime
from django.utils.translation import get_language, gettext, ngettext
from jinja2 import Environment, StrictUndefined

from annotation.models import Trajectory
from frontend.rendering.blocks import PictureBlock
from frontend.rendering.control_chars import escape_control_chars
from frontend.rendering.structure import Items, Node, Passage, Passages

_LONG_DECIMALS: Final = re.compile(r"(-?\d+\.\d{4})\d{3,}")


class Macros:
    """The macros of one file, as methods that answer with markup."""

    def __init__(self, file: str) -> None:
        self._file = f"frontend/macros/{file}.html"

    def __getattr__(self, name: str) -> Callable[..., str]:
        engine = engines["jinja2"]
        assert isinstance(engine, Jinja2)
        return getattr(engine.env.get_template(self._file).module, name)


def environment(**options: Any) -> Environment:
    """Made by Django's backend, which asks for escaping. A name that is not there is an error, not a gap."""
    options |= {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    env = Environment(**options, extensions=["jinja2.ext.i18n"])
    env.install_gettext_callables(_gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]
    env.globals["url"] = lambda name, *args: reverse(name, args=args)
    env.globals["image_address"] = _image_address
    env.globals["whole_address"] = _whole_address
    env.filters |= {
        "date": lambda at, form: date(localtime(at), form),
        "readable": lambda value: escape_control_chars(value if isinstance(value, str) else str(value)),
        "facts_line": _facts_line,
        "truncatechars": truncatechars,
    }
    env.tests["documents"] = _is_documents
    return env


def _image_address(trajectory: Any, picture: PictureBlock) -> str:
    """The address of an image, given by the thing itself unless it is a trajectory of the project."""
    own = getattr(trajectory, "image_address", None)
    place = (picture.message_index, picture.part_index)
    return own(*place) if own else reverse("frontend:trajectory-image", args=(trajectory.pk, *place))


def _whole_address(trajectory: Any) -> str:
    """The address of all that a viewer may see of a trajectory; "" for what is not a trajectory of the
    project."""
    return reverse("api:trajectory", args=(trajectory.pk,)) if isinstance(trajectory, Trajectory) else ""


def _gettext(text: str) -> str:
    return _translation(get_language(), text)


@cache
def _translation(_language: str | None, text: str) -> str:
    return gettext(text)  # a page asks a thousand times, and Django goes through its catalogues each time


def _facts_line(one: Passage) -> str:
    return " · ".join(
        f"{escape_control_chars(name)} {_LONG_DECIMALS.sub(_shortened, escape_control_chars(value))}"
        for name, value in one.facts
    )


def _shortened(number: re.Match[str]) -> str:
    return f"{number[1]}…"


def _is_documents(node: Node) -> bool:
    lists = node.items if isinstance(node, Items) else (node,)
    return all(isinstance(one, Passages) for one in lists)
