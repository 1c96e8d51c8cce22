"""Prompts of a release in the browser: made, watched, read one by one, downloaded."""

from __future__ import annotations

import json

import pytest

from annotation.models import PromptSet, SuggestionRun
from annotation.services import asking
from tests.fixtures.judges import make_judge
from tests.fixtures.questions import KEY

SAID = {"name": "few", "shots": "2", "split": "0.5", "seed": "3", "tokens": "2000"}


@pytest.fixture
def made(browse, asked_release, at):
    """A set that was made in the browser."""
    sent = browse("admin").post(at("release-prompts", "asked", "1.0"), SAID)
    assert sent.url == at("release-prompt-set", "asked", "1.0", "few")
    return asking.run_prompts(set_id=PromptSet.objects.get().pk)


def test_prompts_are_asked_for_watched_and_read(browse, asked_release, at, text):
    client, url = browse("admin"), at("release-prompts", "asked", "1.0")
    assert url in text(client.get(at("release", "asked", "1.0")))
    assert "There are no prompts of this release yet." in text(client.get(url))

    sent = client.post(url, SAID)
    waiting = text(client.get(sent.url))
    assert "<progress" in waiting
    status = client.get(at("release-prompts-status", "asked", "1.0", "few")).json()
    assert status["jobs"][0]["finished"] is False

    asking.run_prompts(set_id=PromptSet.objects.get().pk)
    page = client.get(sent.url)
    assert page.context["counts"]["test"] == page.context["page"].paginator.count == 6
    assert page.context["tested"] is True
    pages = [client.get(f"{sent.url}?page={n}").context for n in (1, 6)]
    for shown in pages:
        before, cut, after = shown["parts"]
        asks_for_text = shown["line"].asked.kind == "answer"
        # two examples with the right text, and of a choice its own options
        assert (cut, after, before.count(KEY)) == ("", "", 2 if asks_for_text else 3)
        assert before.endswith("最终答案是[" if asks_for_text else "The right option is (")
    assert len({shown["line"].asked.kind for shown in pages}) == 2
    assert "There are none." in text(client.get(f"{sent.url}?show=cut"))
    assert client.get(f"{sent.url}?show=odd&page=nine").status_code == 200
    assert "few" in text(client.get(url))


def test_file_has_a_line_for_each_and_no_key(browse, made, at):
    answer = browse("judith").get(at("release-prompts-file", "asked", "1.0", "few"))
    lines = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    assert len(lines) == 12
    assert answer["Content-Disposition"] == 'attachment; filename="asked-1.0-few.jsonl"'
    assert {"key", "answer", "keys"}.isdisjoint(lines[0])


def test_history_is_marked_where_it_is_cut_and_what_does_not_fit_is_named(browse, asked_release, at, text):
    client, url = browse("admin"), at("release-prompts", "asked", "1.0")
    client.post(url, {**SAID, "shots": "0", "tokens": "700"})
    asking.run_prompts(set_id=PromptSet.objects.get().pk)
    page = client.get(at("release-prompt-set", "asked", "1.0", "few") + "?show=cut")
    before, mark, after = page.context["parts"]
    assert (page.context["counts"]["cut"], page.context["page"].paginator.count) == (1, 1)
    assert mark in text(page)
    assert '<mark id="cut">[… ' in page.content.decode()
    assert ("Question 7?" in before, "The right option is (" in after) == (True, True)

    own = "{{examples}} " + "Word " * 1_640 + " {{history}} {{options}}"
    client.post(url, {**SAID, "name": "long", "shots": "0", "templates.tiny": own})
    row = asking.run_prompts(set_id=PromptSet.objects.get(name="long").pk)
    assert row.parsed_counts["too_long"] == 8
    said = text(client.get(at("release-prompt-set", "asked", "1.0", "long")))
    assert "8 questions do not fit into the tokens of a prompt" in said


def test_form_says_by_field_what_is_wrong(browse, asked_release, at):
    client, url = browse("admin"), at("release-prompts", "asked", "1.0")
    for change, field in (
        ({"name": "no name"}, "name"),
        ({"shots": "6"}, "shots"),
        ({"split": "1"}, "split"),
        ({"seed": "-1"}, "seed"),
        ({"tokens": "1"}, "tokens"),
        ({"templates.tiny": "{{examples}} {{key}}"}, "templates.tiny"),
    ):
        refused = client.post(url, SAID | change)
        assert (refused.status_code, set(refused.context["form"].errors)) == (400, {field}), change
    assert not PromptSet.objects.exists()


def test_taken_name_failed_set_and_what_an_adjudicator_sees(browse, made, at, text):
    url = at("release-prompts", "asked", "1.0")
    taken = browse("admin").post(url, SAID | {"seed": "4"})
    assert (taken.status_code, set(taken.context["form"].errors)) == (409, {"name"})
    why = "This release has no question that can be asked."
    PromptSet.objects.update(state="failed", error=why, counts="")
    failed = text(browse("judith").get(at("release-prompt-set", "asked", "1.0", "few")))
    assert why in failed
    listed = text(browse("judith").get(url))
    assert "failed" in listed
    assert "<form" not in listed.split("<main")[1]


def test_judge_is_asked_and_its_run_is_followed(browse, asked_cast, made, at, text, judge_urls):
    client, url = browse("admin"), at("release-prompt-set", "asked", "1.0", "few")
    assert "This project has no judge on a server that could be asked." in text(client.get(url))
    judge = make_judge(asked_cast)
    assert client.post(url, {"judge": "0"}).status_code == 400
    sent = client.post(url, {"judge": judge.pk, "budget": "0.5"})
    run = SuggestionRun.objects.get()
    assert sent.url == at("run", "asked", run.pk)
    assert (run.progress_total, run.prompts.name, str(run.budget)) == (6, "few", "0.500000")
    assert client.get(sent.url).status_code == 200
    assert client.post(url, {"judge": judge.pk}).status_code == 409
    assert "Ask a judge" not in text(browse("judith").get(url))
