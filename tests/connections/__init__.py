"""Connections, from traces on a server to labels on their spans."""

import pytest

pytest.register_assert_rewrite("tests.connections.walking")
