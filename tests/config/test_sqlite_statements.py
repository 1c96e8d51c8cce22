"""Statements of SQLite's that are kept as the driver takes them."""

from __future__ import annotations

import pytest
from django.db import connection

from config.sqlite3.base import LONGEST_KEPT, with_question_marks

pytestmark = [pytest.mark.once, pytest.mark.django_db]


@pytest.mark.parametrize(("length", "kept"), [(LONGEST_KEPT, True), (LONGEST_KEPT + 1, False)])
def test_statement_is_kept_unless_it_is_of_a_block_of_rows(length: int, kept: bool) -> None:
    start = "SELECT %s, '100%%' -- "
    with_question_marks.cache_clear()
    with connection.cursor() as cursor:
        for number in (1, 2):
            cursor.execute(start.ljust(length, "x"), [number])
            assert cursor.fetchall() == [(number, "100%")]
    assert with_question_marks.cache_info().currsize == kept
