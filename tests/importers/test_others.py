"""Formats of other packages: taken by entry point, and left out when they are broken."""

from importlib.metadata import EntryPoint

import pytest

from annotation.importers import OWN
from annotation.importers.chats.openai_chat import OpenAIChat
from annotation.importers.external_importers import GROUP, with_others


class Theirs(OpenAIChat):
    name = "theirs"


class Taken(OpenAIChat):
    name = "inspect"


def point(name: str, value: str) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{value}", GROUP)


def test_format_of_another_package_comes_before_plain_chats() -> None:
    found = with_others(OWN, [point("theirs", "Theirs")])
    assert [importer.name for importer in found[-2:]] == ["theirs", "openai_chat"]


@pytest.mark.parametrize(
    ("value", "warning"),
    [
        ("Taken", "takes a name that is in use: inspect"),
        ("missing", "cannot be loaded"),
        ("EntryPoint", "cannot be loaded"),
        ("object_", "is not an importer"),
    ],
)
def test_format_that_is_broken_is_left_out_with_a_warning(
    value: str, warning: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert with_others(OWN, [point("x", value)]) == list(OWN)
    assert warning in caplog.text


class object_:
    """No importer."""
