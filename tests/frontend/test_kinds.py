"""A project of decisions through all rooms: it goes the whole line, and what it lacks is refused by name."""

from __future__ import annotations

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.core.decisions.display import display_order
from annotation.core.errors import Conflict, Invalid
from annotation.models import Judge, Label, PredictionSet
from annotation.policies import OPERATOR
from annotation.reports.agreement.report import agreement, as_json
from annotation.reports.evaluation.leaderboard import leaderboard
from annotation.services import evaluate, suggest
from annotation.services.release import verify, verify_export
from tests import people
from tests.callers import Caller
from tests.commands.calling import fails
from tests.fixtures.decisions import import_decisions, make_decisions_cast
from tests.fixtures.judges import URL, make_judge
from tests.fixtures.shared_rows import shared_rows
from tests.frontend.every_page import WORKBENCH_QUERIES
from tests.people import change
from tests.services.predicting import bring, line
from tests.services.publishing import export, freeze
from tests.suggesting import suggest as suggests

LACKING = "A project of decisions has no"


@shared_rows
def cast():
    """A project of four decisions, two of which are unanimous and one disputed."""
    made = make_decisions_cast(4)
    for values in ((1, -1), (1, -1), (-1, -1)):
        people.label_next(made.ann, made.project, values)
        people.label_next(made.ben, made.project, (1, -1))
    return made


@shared_rows
def frozen(cast):
    """A release of the unanimous ones, all of whose options a model calls right."""
    made = freeze(cast.project)
    records = made.records.values_list("record_id", flat=True)
    bring(cast, made, *(line(labels={"3": 1, "4": 1}, record_id=record) for record in records))
    return made


@pytest.mark.postgres
def test_decisions_are_labelled_each_by_itself_and_disputed_but_not_for_a_first_error(cast):
    claimed = people.claim(cast.ann, cast.project)
    saved = people.label.save_labels(
        actor=cast.ann,
        assignment=claimed,
        op_id="a",
        changes=[change(3, -1), change(4, -1, root=3, root_pinned=True)],
    )
    assert [result["status"] for result in saved["results"]] == ["saved", "saved"]
    kept = Label.objects.filter(assignment=claimed).order_by("step")
    assert [label.root for label in kept] == [label.step for label in kept], "each −1 is an error of its own"
    refused = people.label.save_labels(
        actor=cast.ann,
        assignment=claimed,
        op_id="b",
        changes=[change(4, -1, version=1, source="propagated", root=3)],
    )
    assert refused["results"][0]["status"] == "refused"
    assert set(Label.objects.values_list("source", flat=True)) == {"explicit"}
    dispute = cast.project.trajectories.get(state="disputed").dispute
    assert (dispute.sign_flips, dispute.first_error) == (1, False)


def test_release_of_decisions_says_so_and_is_verified_and_exported_without_step_rewards(frozen, tmp_path):
    manifest = frozen.parsed_manifest()
    assert manifest["kind"] == "decisions" and verify(actor=OPERATOR, release=frozen).problems == ()
    figures = manifest["agreement"]["release"]["overall"]
    assert "kappa" in figures and not {"onset_kappa", "transition_kappa", "first_error_agreement"} & set(
        figures
    )
    export(frozen, tmp_path / "lines")
    assert verify_export(path=tmp_path / "lines").problems == ()
    export(frozen, tmp_path / "set", format="huggingface")
    card = (tmp_path / "set" / "README.md").read_text()
    assert "**+1** is the right next action here" in card and "ropagated" not in card
    for choices in ({"format": "training"}, {"format": "huggingface", "protocol": "independent"}):
        with pytest.raises(Conflict, match="project of decisions"):
            export(frozen, tmp_path / "none", **choices)


def test_figures_of_decisions_need_no_sequence(cast, frozen):
    found = as_json(agreement(viewer=cast.admin, project=cast.project))["overall"]
    assert found["n"] == 6 and found["first_errors"] is None and "onset_kappa" not in found["figures"]
    evaluate.fit_release(release_id=frozen.pk)
    board = leaderboard(actor=cast.admin, release=frozen)
    assert {row.name for row in board.baselines} == {"makes_call", "longer"} and not board.pending
    scores = board.models[0].overall
    assert scores.scores.figures["pair_accuracy"].value == 0.5, "right of all options: every pair is tied"
    assert not {"step_accuracy", "exact_match", "first_error_accuracy"} & scores.scores.figures.keys()


def test_what_decisions_lack_is_refused_in_a_sentence(browse, cast, frozen, at, text):
    row = cast.project.trajectories.filter(state="unanimous")[0]
    client, api = browse("admin"), Caller(cast.admin)
    for address in (
        at("release-best-of-n", "bench", "1.0"),
        at("release-benchmark", "bench", "1.0"),
        at("size-plan", "bench"),
        at("trajectory-atif", "bench", row.pk),
        at("judge-create", "bench", "baseline"),
    ):
        page = client.get(address)
        assert page.status_code == 409 and LACKING in text(page), address
    for answer in (
        api.get("/projects/bench/releases/1.0/best-of-n/"),
        api.get("/projects/bench/releases/1.0/benchmark/"),
        api.get("/projects/bench/size-plan/"),
        api.get(f"/trajectories/{row.pk}/atif/"),
        api.post("/projects/bench/judges/", {"name": "Base", "kind": "baseline"}),
        api.get("/projects/bench/releases/1.0/all.zip", {"format": "training"}),
    ):
        assert answer.status_code == 409 and LACKING in text(answer), text(answer)
        assert '"not_of_this_kind"' in text(answer)
    assert LACKING in fails("best_of_n", "bench", "1.0").out
    assert LACKING in fails("export_atif", "bench").out
    assert LACKING in fails("export_release", "bench", "1.0", "--format", "training", "--output", "x").out
    with pytest.raises(Conflict):
        suggest.create_judge(actor=cast.admin, project=cast.project, name="Base", kind="baseline")


def test_prompts_are_those_of_the_kind_at_every_door(browse, cast, frozen, at, text, judge_urls):
    client, api, new = browse("admin"), Caller(cast.admin), at("judge-create", "bench", "openai_compatible")
    page = text(client.get(new))
    assert '<option value="decision-v1"' in page and '<option value="v3"' not in page
    refused = "Judges of this project can have these prompts: decision-v1."
    values = {"name": "Old", "kind": "openai_compatible", "model": "m", "base_url": URL}
    answer = api.post("/projects/bench/judges/", {**values, "prompt_version": "v3"})
    assert answer.status_code == 400 and answer.json()["error"]["fields"]["prompt_version"] == refused
    hot = api.post("/projects/bench/judges/", {**values, "sampling": {"temperature": 1}})
    assert hot.json()["error"]["fields"]["temperature"] == "A decision is asked about at temperature 0."
    judge = make_judge(cast)
    assert judge.prompt_version == "decision-v1"
    # of whole runs the other way round
    steps = people.make_project("runs")
    with pytest.raises(Invalid) as of_steps:
        suggest.create_judge(actor=OPERATOR, project=steps, **values, prompt_version="decision-v1")
    assert "v1, v2, v3" in of_steps.value.fields["prompt_version"]

    suggests(judge, cast.project.trajectories.filter(state="unanimous")[0], (1, -1))
    sample = suggest.draw_sample(actor=cast.admin, judge=judge, size=1)
    tried = text(client.get(at("workshop-sample", "bench", sample.pk)))
    assert '<option value="decision-v1"' in tried and '<option value="v3"' not in tried
    for act in ("estimate", "runs"):
        assert refused in text(api.post(f"/samples/{sample.pk}/{act}/", {"prompt_version": "v3"}))
        assert api.post(f"/samples/{sample.pk}/{act}/", {"prompt_version": "decision-v1"}).status_code < 300
    assert refused in fails("workshop", "bench", "--judge", "Sage", "--prompt", "v3").out
    # one that was made when there was no other prompt is not asked
    Judge.objects.filter(pk=judge.pk).update(prompt_version="v3")
    with pytest.raises(Invalid, match="decision-v1"):
        suggest.start_run(actor=OPERATOR, judge=judge)
    assert "v3" in text(client.get(at("judge-edit", "bench", judge.pk)))


def test_pages_of_decisions_leave_out_what_they_lack_and_say_what_labels_mean(browse, cast, frozen, at, text):
    client, model = browse("admin"), PredictionSet.objects.get()
    pages = {
        name: text(client.get(at(name, "bench", *more)))
        for name, more in (
            ("agreement", ()),
            ("leaderboard", ("1.0",)),
            ("model", ("1.0", model.pk)),
            ("release-errors", ("1.0", model.pk)),
            ("release", ("1.0",)),
            ("judges", ()),
            ("trajectory", (cast.project.trajectories.filter(state="unanimous")[0].pk,)),
            ("project-settings", ()),
            ("adjudication-queue", ()),
        )
    }
    for words in (
        "FirstErrAcc",
        "irst error",
        "Best-of-N",
        "ATIF",
        "Baseline",
        "Step rewards",
        "Onset",
        "Propose +1",
        "StepAcc",
        "Recalibrated",
        "wrong steps",
    ):
        assert not [name for name, page in pages.items() if words in page], words
    assert "fit for use" in pages["release"] and "Pair accuracy" in pages["leaderboard"]
    claimed = people.claim(cast.ann, cast.project)
    bench = text(browse("ann").get(at("workbench", claimed.pk)))
    assert "the right next action here" in bench and "correct and effective" not in bench
    state = json.loads(
        bench.split('<script id="workbench-state" type="application/json">')[1].split("</script>")[0]
    )
    assert state["rules"]["propagates"] is False
    assert state["rules"]["others"] is False and state["kind"] == "pair"
    assert not {"root", "closes_corrected"} & {row["id"] for row in state["keys"]}
    assert state["preset"] == 1 and state["outcome"]["value"] is None, "it stands there, and is no label"
    assert state["words"]["missing_step"] == "Option {n} has no label yet."
    assert not [page for page in (bench, pages["trajectory"]) if "Step 1" in page or "Option 1" not in page]
    case = people.open_case(cast.judith, cast.project.trajectories.get(state="disputed"))
    page = text(browse("judith").get(at("adjudication", case.pk)))
    assert "Where the error began" not in page and "Kind of error" in page
    assert "Step 1" not in page and "Decision on option 1" in page


def test_options_stand_in_an_order_of_each_person_and_keep_their_names_and_addresses(browse, cast, at, text):
    import_decisions(cast.project, 12, subset="more")
    orders, queries = [], set()
    for user in (cast.cleo, cast.oscar):
        people.make_member(cast.project, user, "annotator")
        for _ in range(12):
            claimed = people.claim(user, cast.project)
            client = browse(user.username)
            with CaptureQueriesContext(connection) as asked:
                page = client.get(at("workbench", claimed.pk))
            queries.add(len(asked))
            state = page.context["state"]
            order = display_order(
                [3, 4],
                seed=cast.project.recheck_seed,
                item=claimed.trajectory.record_id,
                person=user.pk,
            )
            assert [step["message_index"] for step in state["steps"]] == order
            shown = re.findall(r'<h3 class="msg__role" id="h(\d)">Option (\d)<', text(page))
            assert shown == [(str(index), str(index - 2)) for index in order]
            assert [step.get("ordinal", at_) for at_, step in enumerate(state["steps"])] == [
                index - 3 for index in order
            ]
            orders.append(order)
            people.label_all(claimed, [1, -1], outcome=1)
            people.label.submit(actor=user, assignment=claimed)
    assert [3, 4] in orders and [4, 3] in orders
    assert queries == {WORKBENCH_QUERIES}, "as many as with steps"


def test_annotator_is_sent_what_differs_and_neither_key_origin_source_reason_nor_author(
    browse, cast, at, text
):
    def option(value: str, key: int, hidden: str) -> dict:
        function = {"name": "search", "arguments": json.dumps({"query": value, "<b>top</b>": 3})}
        return {
            "message": {"role": "assistant", "tool_calls": [{"type": "function", "function": function}]},
            "key": key,
            "origin": "written",
            "source": {"author": f"canary-{hidden}-author"},
            "reason": f"canary-{hidden}-reason",
        }

    people.import_records(
        cast.project,
        [
            {
                "format": "tristep-decision/1",
                "question": "When?",
                "history": [{"role": "user", "content": "When?"}],
                "options": [option("<i>noon</i>", 1, "better"), option("night", -1, "worse")],
                "category": "canary-category",
                "about": {"note": "canary-about"},
            }
        ],
        subset="other",
        format="tristep_decision",
    )
    row = cast.project.trajectories.get(subset__name="other")
    assert row.content.raw_bytes().decode().count("canary-") == 6
    claimed = people.assign.claim_this(actor=cast.ann, trajectory=row)
    client, api = browse("ann"), Caller(cast.ann)
    bench = at("workbench", claimed.pk)
    sent = {
        url: text(client.get(url))
        for url in (
            bench,
            f"{bench}?only=run",
            f"{bench}?find=canary",
            at("history", row.pk),
            *(at("trajectory-message", row.pk, index) for index in (0, 1, 2)),
            *(f"{at('trajectory-message', row.pk, index)}?as=markdown" for index in (1, 2)),
        )
    } | {
        f"api:{url}": text(api.get(url))
        for url in (f"/assignments/{claimed.pk}/", f"/trajectories/{row.pk}/")
    }
    for url, answer in sent.items():
        assert "canary-" not in answer and '"origin": ' not in answer, url
        assert '"key": 1' not in answer and '"key": -1' not in answer, url
    page = sent[bench]
    assert page.count('<code class="differs">query</code>') == 2 and "&lt;i&gt;noon&lt;/i&gt;" in page
    assert '<mark class="differs__part">night</mark>' in page
    assert "<code >&lt;b&gt;top&lt;/b&gt;</code>" in page, "what is the same is not marked"
