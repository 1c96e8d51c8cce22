"""Label fields stated once (`core.label_fields`); tables, rule, API and workbench have the same."""

import re
from dataclasses import fields
from typing import Any

import pytest

from annotation.core.label_fields import LABEL_FIELDS, OUTCOME_FIELDS
from annotation.core.propagation import StepInput, StepResult
from annotation.models import Label, OutcomeLabel
from annotation.services.label.changes import REFUSALS
from api.serializers import assignments
from tests.servers import ROOT

OF_THE_ROW = {"id", "assignment", "step", "blind_value", "exposed_at", "updated_at"}
OF_THE_STEP = {"message_index", "after_user_turn"}
OF_THE_RULE = {"proposal", "orphaned"}
OF_A_CHANGE = {"target", "message_index"}
LABELS_JS = ROOT / "frontend/static/frontend/js/workbench/state/labels.js"


@pytest.mark.parametrize(("model", "expected"), [(Label, LABEL_FIELDS), (OutcomeLabel, OUTCOME_FIELDS)])
def test_label_fields_are_the_columns_of_labels(model: Any, expected: tuple[str, ...]) -> None:
    assert {field.name for field in model._meta.fields} - OF_THE_ROW == set(expected)


@pytest.mark.parametrize("rule", [StepInput, StepResult])
def test_label_fields_are_what_the_rule_of_propagation_reads(rule: Any) -> None:
    assert {field.name for field in fields(rule)} - OF_THE_STEP - OF_THE_RULE < set(LABEL_FIELDS)


def test_label_fields_are_those_of_the_api() -> None:
    assert set(assignments.OutcomeLabel().fields) == set(OUTCOME_FIELDS)
    assert set(assignments.Label().fields) == {"message_index", *LABEL_FIELDS}
    assert set(assignments.Change().fields) == OF_A_CHANGE | set(LABEL_FIELDS)
    assert set(REFUSALS) == OF_A_CHANGE | set(LABEL_FIELDS)


def test_label_fields_are_those_of_the_workbench_which_keeps_versions_apart() -> None:
    none = re.search(r"NO_LABEL = Object\.freeze\(\{(.*?)\}\)", LABELS_JS.read_text("utf-8"), re.DOTALL)
    assert none is not None
    assert {"version", *re.findall(r"^  (\w+):", none[1], re.MULTILINE)} == set(LABEL_FIELDS)
