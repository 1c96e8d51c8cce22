"""Refusals and stored failures in Chinese for readers of Chinese."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from string import Formatter
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation
from django.utils.html import escape

from annotation.core.baseline.explanations import sentence_for
from annotation.core.baseline.features import FEATURES
from annotation.core.errors import ImportRefused
from annotation.core.i18n import translatable
from annotation.core.kinds import KINDS
from annotation.core.vocabulary import ImportState
from annotation.language import translated
from annotation.models import ImportFile, SuggestedLabel, Suggestion
from annotation.policies import OPERATOR
from annotation.providers import Failure
from annotation.providers.http_errors import AskedModel, Complaint, refusal
from annotation.services import label
from annotation.services.ingest import reaper
from annotation.services.label.changes import MAX_NOTE, REFUSALS
from tests import messages
from tests.callers import Caller
from tests.fixtures.judges import Scripted, do, install, make_judge, question_of, start
from tests.frontend.chinese import CHINESE, Words, english, speak_chinese
from tests.people import Cast, change, claim, import_file, import_records, jsonl, make_record, make_records
from tests.services.receiving import received
from tests.services.revealing import opened

CHINESE_READER = {"HTTP_ACCEPT_LANGUAGE": "zh-hans"}
# words of the API's own language: names of fields and what may stand in them
MACHINE = re.compile(
    r"\b(?:target|message_index|version|value|source|root|root_pinned|closes|note|reason|unsure|flagged|step"
    r"|outcome|role|null|explicit|propagated|corrected|independent|true|false|op_id|scripted|slow down)\b"
)


def in_chinese(sentence: str) -> bool:
    return bool(CHINESE.search(sentence)) and not english([MACHINE.sub("", sentence)])


# ── Saves ─────────────────────────────────
UNREADABLE = {
    "target": {"target": "other"},
    "message_index": {"message_index": -1},
    "version": {"version": "one"},
    "value": {"value": 2},
    "source": {"source": "guessed"},
    "root": {"root": "two"},
    "closes": {"closes": "later"},
    "note": {"note": "x" * (MAX_NOTE + 1)},
    "reason": {"reason": "unknown"},
    "root_pinned": {"root_pinned": 1},
    "unsure": {"unsure": 1},
    "flagged": {"flagged": 1},
}
UNFIT = (
    change(2, 1, version=7),
    change(1, 1),
    change(2, -1, source="propagated", root=2),
    change(2, -1, root=4, root_pinned=True),
)


def test_a_refused_save_says_why_in_chinese_again_when_it_is_repeated(cast: Cast) -> None:
    import_records(cast.project, [make_record(steps=2)])
    where = f"/assignments/{claim(cast.ann, cast.project).pk}/labels/"
    assert set(UNREADABLE) == set(REFUSALS)
    changes = [*(change(2, 1) | wrong for wrong in UNREADABLE.values()), *UNFIT]
    batch = {"op_id": "one", "changes": changes}
    caller = Caller(cast.ann)
    first, again = (caller.post(where, batch, **CHINESE_READER).json()["results"] for _ in range(2))
    said = [one["reason"] for one in first]
    assert len(said) == len(changes) and [one for one in said if not in_chinese(one)] == []
    assert [one["reason"] for one in again] == said
    assert caller.post(where, batch).json()["results"][0]["reason"] == "target: step or outcome."


def test_a_batch_that_is_refused_as_a_whole_is_refused_in_chinese(cast: Cast) -> None:
    import_records(cast.project, [make_record(steps=2)])
    pk = claim(cast.ann, cast.project).pk
    caller = Caller(cast.ann)
    caller.post(f"/assignments/{pk}/labels/", {"op_id": "one", "changes": [change(2, 1)]})
    asked: list[tuple[str, Any]] = [
        (f"/assignments/{pk}/labels/", {"op_id": "a b", "changes": []}),
        (f"/assignments/{pk}/labels/", {"op_id": "one", "changes": [change(2, -1)]}),
        (f"/assignments/{pk}/submit/", {}),
        (f"/assignments/{pk}/return/", {"reason": ""}),
        ("/assignments/0/labels/", {"op_id": "two", "changes": []}),
        ("/projects/bench/claim/", {}),
    ]
    for where, data in asked:
        answer = caller.post(where, data, **CHINESE_READER).json()["error"]
        told = [answer["message"], *(str(why) for why in answer.get("fields", {}).values())]
        assert all(map(in_chinese, told)), (where, told)


# ── What is stored, and shown later ───────
def test_a_file_that_was_refused_says_why_in_chinese(cast: Cast, browse: Callable[[str], Client], at) -> None:
    speak_chinese(cast)
    admin, caller = browse("admin"), Caller(cast.admin)
    twice = jsonl([make_record(), make_record() | {"query_index": 7}, make_record()])
    broken = jsonl([make_record()]) + b"[" * 500 + b'\n{"a": 1,}\n{"a"}\n{"a": "\\x"}\n"\n\xff\n'
    unfit = jsonl([make_record() | {"query_index": "x", "messages": [1], "step_labels": {"0": 1, "9": 3}}])
    for content in (twice, broken, unfit, b"[]"):
        with pytest.raises(ImportRefused):
            import_file(cast.project, content, filename="bad.jsonl", format="agentprocessbench")
        row = ImportFile.objects.latest("pk")
        told = caller.get(f"/imports/{row.pk}/", **CHINESE_READER).json()
        page = admin.get(at("import-detail", "bench", row.pk)).content.decode()
        assert told["errors"] and in_chinese(told["error"].replace("bad.jsonl", ""))
        for error in told["errors"]:
            assert in_chinese(error["reason"]), error
            assert escape(error["reason"]) in page


LINES = {
    "no labels": {"step_labels": {}},
    "no step": {"step_labels": {"2": 1, "3": 1, "4": 1}},
    "no number": {"step_labels": {"x": 1, "2": 3, "4": 1}},
    "failed": {"step_labels": {"2": None, "4": None}, "comment": "llm_annotate_failed"},
    "nowhere": {"query_index": 7},
    "no record": {"query_index": "x"},
    "no outcome": {"final_label": None},
    "no key": {"final_label": ...},
}


@pytest.mark.parametrize("changes", LINES.values(), ids=LINES)
def test_line_of_labels_that_is_refused_says_why_in_chinese(cast: Cast, changes: dict[str, Any]) -> None:
    """As the page says it at once, and as it is known again where it was stored."""
    import_records(cast.project, [make_record()])
    whole = {**make_record(), "step_labels": {"2": 1, "4": 1}, "final_label": 1, **changes}
    line = {key: value for key, value in whole.items() if value is not ...}
    with pytest.raises(ImportRefused) as refused:
        label.import_labels(
            actor=OPERATOR,
            project=cast.project,
            annotator="ann",
            stream=io.BytesIO(jsonl([line])),
            filename="bad.jsonl",
        )
    with translation.override("zh-hans"):
        for error in refused.value.report["errors"]:
            stored = json.loads(json.dumps(error["reason"]))
            said = translated(error["reason"])
            assert translated(stored) == said
            known = re.sub(r"data_source|query_index|sample_index|tiny:0:0|tiny:7:0", "", said)
            assert in_chinese(known), said


def test_an_import_that_died_says_so_in_chinese(cast: Cast, browse: Callable[[str], Client], at) -> None:
    source = received(cast, jsonl(make_records(1)))
    ImportFile.objects.filter(pk=source.pk).update(
        state=ImportState.RUNNING, attempt=reaper.MAX_ATTEMPTS, lease_until=timezone.now()
    )
    reaper.reap(now=timezone.now() + timedelta(seconds=1))
    speak_chinese(cast)
    page = browse("admin").get(at("import-detail", "bench", source.pk)).content.decode()
    assert "导入意外停止了 3 次" in page
    told = Caller(cast.admin).get(f"/imports/{source.pk}/", **CHINESE_READER).json()
    assert in_chinese(told["error"])


@pytest.mark.usefixtures("judge_urls")
def test_a_run_says_what_went_wrong_in_chinese(
    cast: Cast, browse: Callable[[str], Client], at, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_records(cast.project, 2)
    asked, complaint = AskedModel("scripted", "KEY"), Complaint.of({"error": {"message": "slow down"}})

    def script(request: Any) -> Failure:
        return refusal(400 if question_of(request) else 401, complaint, asked)

    install(monkeypatch, Scripted(script))
    run = do(start(make_judge(cast)))
    speak_chinese(cast)
    page = browse("admin").get(at("run", "bench", run.pk)).content.decode()
    caller = Caller(cast.admin)
    failures = caller.get(f"/runs/{run.pk}/failures/", **CHINESE_READER).json()["results"]
    told = caller.get(f"/runs/{run.pk}/", **CHINESE_READER).json()
    for sentence in [told["stop_reason"], *(failure["message"] for failure in failures)]:
        assert in_chinese(sentence.replace("$KEY", "")) and escape(sentence) in page, sentence


BAD_FORMS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "project-create": ((), {"name": "", "annotators_per_trajectory": "0", "claim_limit": "x"}),
    "project-settings": (("bench",), {"name": "", "claim_limit": "0", "retest_percent": "101"}),
    "triage": (("bench",), {"batch_size": "0"}),
    "guidelines-edit": (("bench",), {"text": "x" * 200_001}),
    "invite": (("bench",), {"email": "nobody"}),
    "people": ((), {"username": "two words", "email": "nobody"}),
    "profile": ((), {"email": "nobody", "timezone": "Moon"}),
    "profile-keys": ((), {"flag": "1", "note": "1"}),
    "token-create": ((), {"name": "", "days": "0"}),
    "password-change": ((), {"old_password": "wrong", "new_password1": "1", "new_password2": "2"}),
    "imports": (("bench",), {}),
    "judge-create": (
        ("bench", "openai_compatible"),
        {"name": "", "temperature": "9", "extra": "[", "path": "?"},
    ),
    "release-freeze": (
        ("bench",),
        {"version": "one two", "unresolved": "on", "doubtful": "on", "final": "on"},
    ),
}


@pytest.mark.usefixtures("judge_urls")
@pytest.mark.parametrize("name", BAD_FORMS)
def test_a_form_says_what_is_wrong_with_it_in_chinese(
    cast: Cast, browse: Callable[[str], Client], at, name: str
) -> None:
    import_records(cast.project, 1)
    speak_chinese(cast)
    where, body = BAD_FORMS[name]
    answer = browse("root" if name in ("people", "project-create") else "admin").post(
        at(name, *where), body, follow=True
    )
    page = answer.content.decode()
    assert 'class="errorlist' in page or "alert--error" in page or "field__error" in page
    examples = ("gpt-4.1-mini", '"reasoning_effort": "low"')
    assert [one for one in english(Words(page).found) if not any(name in one for name in examples)] == []


def test_reasons_of_the_baseline_are_given_in_chinese(cast: Cast) -> None:
    assignment = opened(cast, "always")
    given = [sentence_for(name, value, 0.5) for name in FEATURES for value in (0, 1)]
    SuggestedLabel.objects.update(reason=" ".join(filter(None, given)))
    Suggestion.objects.update(reason="From its last step and the average of all; probability 0.93.")
    answer = Caller(cast.ann).post(f"/assignments/{assignment.pk}/reveals/", {"all": True}, **CHINESE_READER)
    reasons = {one["reason"] for step in answer.json()["revealed"] for one in step["suggestions"]}
    assert reasons and all(in_chinese(reason) for reason in reasons), reasons


# Too short to be told from a text of somebody's making; they are never stored.
SAID_AT_ONCE = {
    "One of {choices}.",
    "One of {known}.",
    "op_id: {op_id_rule}",
    "{record}: {problem}",
    "Only {names}.",
    "{one} or {other}",
    "{one}; {other}",
    *(name for kind in KINDS.values() for name in (kind.names.title, kind.names.inside)),
}


def test_every_sentence_of_the_domain_is_known_again_when_it_was_stored() -> None:
    sentences = [
        one.id
        for one in messages.extracted()
        if isinstance(one.id, str)
        and "{" in one.id
        and any(at.startswith("annotation/") for at, _ in one.locations)
    ]
    assert len(sentences) > 60
    with translation.override("zh-hans"):
        unknown = set()
        for pattern in sentences:
            names = [name for _, name, _, _ in Formatter().parse(pattern) if name]
            sentence = translatable(pattern, **{name: f"x{n}" for n, name in enumerate(names)})
            unknown |= {pattern} if translated(str(sentence)) != translated(sentence) else set()
    assert unknown == SAID_AT_ONCE
