"""The catalogues are whole and current, and are what a Chinese reader is told."""

from __future__ import annotations

import gettext
import json
import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog, Message
from django.conf import settings
from django.urls import reverse
from django.utils import translation

from annotation.core.errors import Conflict, ImportRefused
from annotation.core.i18n import Translatable, translatable
from annotation.language import joined, translated
from annotation.models import ImportFile
from annotation.services.label.reopen import TOO_LATE
from config.languages import offered
from tests import messages
from tests.callers import Caller
from tests.frontend.chinese import CHINESE, Words, english, speak_chinese
from tests.people import claim, import_file, import_records, jsonl, make_record

HOLES = re.compile(r"%\((\w+)\)([sd])|%%|\{(\w+)\}|<[^>]+>|\u00a0")
LATIN = re.compile(
    r"(?:[\W\dκα]|%\(\w+\)[sd]|\{\w+\}|Cohen|Krippendorff|Gwet|AC1|JSON|Lines|Top p|Token"
    r"|AgentProcessBench|StepAcc|FirstErrAcc|claim_key|op_id)+"
)
"""Texts that Chinese writes without a Chinese character."""

CATALOGUES = pytest.mark.parametrize("path", messages.catalogues(), ids=lambda path: path.parts[-3])


@pytest.fixture(scope="module")
def strings() -> Catalog:
    return messages.extracted()


def _key(message: Message) -> tuple[object, str | None]:
    return message.id, message.context


def _forms(text: object) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text or ())  # type: ignore[arg-type]


# ── The catalogues ────────────────────────
@CATALOGUES
def test_strings_of_the_sources_are_all_translated(path, strings):
    catalogue = messages.read(path)
    wanted, held = ({_key(message) for message in one if message.id} for one in (strings, catalogue))
    assert not wanted ^ held, f"make messages: {sorted(map(str, wanted ^ held))}"
    assert [message.id for message in messages.untranslated(catalogue)] == []
    assert [message.id for message in catalogue if message.id and message.fuzzy] == []


@CATALOGUES
def test_strings_are_filled_in_with_the_same_in_every_language(path):
    catalogue = messages.read(path)
    for message in catalogue:
        holes = {tuple(sorted(map(str, HOLES.findall(form)))) for form in _forms(message.id)}
        for form in _forms(message.string) if message.id else ():
            assert tuple(sorted(map(str, HOLES.findall(form)))) in holes, message.id
            assert form.strip() == form or message.id.strip() != message.id, message.id
            # a lone "%" in what is filled in breaks the page
            assert not message.python_format or "%" not in HOLES.sub("", form), form
        assert list(message.check(catalogue)) == []


@CATALOGUES
def test_catalogue_makes_what_runs(path):
    with path.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for message in messages.read(path):
        if not message.id:
            continue
        for number, form in enumerate(_forms(message.string)):
            one, many = _forms(message.id)[0], _forms(message.id)[-1]
            if isinstance(message.id, str):
                got = compiled.pgettext(message.context, one) if message.context else compiled.gettext(one)
            else:
                got = compiled.ngettext(one, many, number)
            assert got == form, "make messages compiles it"


HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!(]|[,;:?!)][\u4e00-\u9fff]")


def test_chinese_translation_is_chinese_with_its_own_punctuation_and_one_form_of_address():
    catalogue = messages.read(messages.LOCALES / "zh_Hans" / "LC_MESSAGES" / "django.po")
    forms = [form for message in catalogue if message.id for form in _forms(message.string)]
    assert [form for form in forms if not CHINESE.search(form) and not LATIN.fullmatch(form)] == []
    assert [form for form in forms if HALF_WIDTH.search(form) or "您" in form] == []


def test_language_is_made_by_one_file(tmp_path):
    for name in ("fr", "zh_Hans"):
        folder = tmp_path / name / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / "django.mo").touch()
    assert offered(tmp_path) == [("en", "English"), ("fr", "français"), ("zh-hans", "简体中文")]
    assert offered(messages.LOCALES) == settings.LANGUAGES


def test_strings_are_found_in_modules_templates_and_the_domain(strings):
    for text in (
        "Choose at least one role.",
        "Skip to the content",
        "No arguments",
        "Tool call %(name)s",
        "Builds on an earlier error",
    ):
        assert strings.get(text) is not None
    assert strings.get("Import", context="navigation") is not None
    assert strings.get(("%(n)s step", "%(n)s steps")) is not None
    lines = (
        "Show all (%(lines)s line, %(size)s characters)",
        "Show all (%(lines)s lines, %(size)s characters)",
    )
    assert strings.get(lines) is not None


# ── Sentences of the domain ───────────────
def test_sentence_of_the_domain_is_english_and_is_said_anew(chinese):
    sentence = translatable("Keep the note under {note} characters.", note="1,000")
    assert sentence == "Keep the note under 1,000 characters."
    assert translated(sentence) == "备注请少于 1,000 个字符。"
    assert translated(
        translatable("{record}: {problem}", record="a.jsonl", problem=translatable("The file is empty."))
    ) == ("a.jsonl：文件为空。")
    assert translated(str(translatable("The file is empty."))) == "文件为空。"
    assert translated("anything {else}") == "anything {else}"
    assert translated("") == ""
    assert isinstance(TOO_LATE, Translatable) and str(Conflict(TOO_LATE)) == TOO_LATE
    # the full-width stop needs no space; one that ends a paragraph keeps what stands before the next tag
    assert joined("一。", "", "二。\n  三。", "</p>") == "一。二。三。 </p>"
    assert joined("One.", "", "Two.") == "One. Two."


@pytest.fixture
def chinese() -> Iterator[None]:
    with translation.override("zh-hans"):
        yield


def test_findings_in_a_file_are_said_in_the_readers_language(cast, browse, chinese):
    speak_chinese(cast)
    bad = make_record() | {"query_index": -1, "messages": None}
    with pytest.raises(ImportRefused):
        import_file(cast.project, jsonl([bad]))
    row = ImportFile.objects.get()
    page = browse("admin").get(reverse("frontend:import-detail", args=["bench", row.pk])).content.decode()
    assert "必须是从 0 起的整数，而不是 -1" in page and "缺失" in page
    assert "2 个错误" in page and "tiny.jsonl 被拒绝" in page
    assert {translated(error["reason"]) for error in row.errors} == {"必须是从 0 起的整数，而不是 -1", "缺失"}


def test_api_refuses_in_the_language_that_is_asked_for(cast):
    caller = Caller(cast.ann)
    answer = caller.post("/projects/bench/claim/", {}, HTTP_ACCEPT_LANGUAGE="zh-Hans").json()["error"]
    assert (answer["code"], answer["message"]) == ("nothing_left", "此项目中没有剩余的轨迹可供你标注。")
    answer = caller.post("/projects/bench/claim/", {}).json()["error"]
    assert answer["message"] == "There is nothing left for you to label in this project."


# ── The pages ─────────────────────────────
def test_workbench_in_chinese_speaks_chinese(cast, browse):
    import_records(cast.project, [make_record(steps=3)])
    assignment = claim(cast.ann, cast.project)
    speak_chinese(cast)
    page = browse("ann").get(f"/assignments/{assignment.pk}/").content.decode()
    state = json.loads(re.search(r'id="workbench-state"[^>]*>(.*?)</script>', page, re.S)[1])
    spoken = [*state["words"].values(), *(reason["title"] for reason in state["reasons"])]
    told = english(Words(page).found)
    assert not told, "\n".join(told)
    assert english([re.sub(r"\{\w+\}", "", text) for text in spoken]) == []
    assert '<html lang="zh-Hans"' in page


def test_language_of_a_visitor_is_that_of_the_browser(client, db):
    page = client.get("/sign-in/", headers={"accept-language": "zh-CN,zh;q=0.9,en;q=0.5"}).content.decode()
    assert '<html lang="zh-Hans"' in page and "登录" in page and english(Words(page).found) == []
    page = client.get("/sign-in/", headers={"accept-language": "de"}).content.decode()
    assert '<html lang="en"' in page and "Sign in" in page
