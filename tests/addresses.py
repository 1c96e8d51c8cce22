"""Every address of the server, with what to put into it and what to send there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.models import CrowdLink
from frontend.rendering.began import begun
from tests.address import Address, answer, chosen, kind, looks, pk, run_action, seen, slug, within
from tests.canaries import canary
from tests.release_addresses import release_api, release_pages
from tests.world import World

FIRST_PART = {"message": 0, "part": 0}
PART, FIND = "at=4&only=run", "find=a"
"""A part of a run, as a page fetches it, and a search of all of it."""

INSIDERS = ("rita-held", "emil-left")


def _pages() -> Iterator[Address]:
    f = "frontend:"
    for name in ("home", "api-reference", "llms", "sign-in", "sign-out"):
        yield Address(f + name)
    yield from (Address(f + name) for name in ("password-reset", "password-change"))
    for name in ("", "s", "-confirm", "-app", "-picture", "-passkey", "-codes"):
        yield Address(f"{f}second-factor{name}")
    yield Address(f + "second-factor-remove", pk("second-factor"))
    # without an organisation, as here, they are not there; tests/organisation asks them with one
    for name in ("begin", "callback", "link", "unlink"):
        yield Address(f"{f}organisation-{name}")
    yield Address(f + "password-reset-confirm", lambda world: {"uidb64": "MQ", "token": "x-y"})
    yield Address(f + "invitation", lambda world: {"token": world.link}, "good")
    yield Address(f + "invitation", lambda world: {"token": "no-such"}, "bad")
    yield Address(f + "theme", body={"theme": "dark"})
    yield Address(f + "language", body={"language": "en"})
    yield Address(f + "profile", body={"display_name": "Me"})
    yield Address(f + "profile-keys", body={"flag": "y"})
    yield Address(f + "token-create", body={"name": "t", "days": "7", "scope": "read"})
    yield Address(f + "token-revoke", pk("token"))
    yield Address(f + "people", body={"username": "newcomer"})
    yield Address(f + "password-link", pk("ann"))
    yield Address(f + "account-state", pk("ann"), body={"close": "1"})
    yield Address(f + "projects")
    yield Address(
        f + "project-create",
        body={
            "name": "N",
            "annotators_per_trajectory": "2",
            "claim_limit": "2",
            "second_reader": "person",
            "suggestion_policy": "never",
            "retest_percent": "5",
            "retest_days": "7",
        },
    )
    for name in ("project", "project-settings", "guidelines", "audit", "members", "imports"):
        yield Address(f + name, slug)
    yield Address(f + "audit-export", slug)
    for name in ("trajectories", "trajectories-export"):
        yield Address(f + name, slug, "labels", query="labels=1")
    yield Address(f + "trajectories-export", slug)
    yield Address(f + "trajectories-tag", slug, body=lambda world: {**chosen("free")(world), "name": "odd"})
    to_assign = {"assignee": "*evenly"}
    yield Address(f + "trajectories-assign", slug, body=lambda world: {**chosen("free")(world), **to_assign})
    for place in ("free", "held"):
        yield Address(f + "trajectory-tag", pk(place, of_project=True), place, body={"tag": "odd"})
    yield Address(f + "tags", slug)
    yield Address(f + "tutorial", slug)
    for name in ("tests", "test-new"):
        yield Address(f + name, slug)
    for name in ("test-detail", "test-edit", "test"):
        yield Address(f + name, lambda world: {**slug(world), "number": 1})
    for whose in ("ann", "ben"):
        yield Address(f + "attempt", pk(f"attempt-{whose}"), whose)
        yield Address(f + "attempt-stop", pk(f"attempt-{whose}"), whose)
        yield Address(f + "attempt-grant", pk(f"attempt-{whose}"), whose)
    yield Address(f + "tag-rename", pk("tag", of_project=True), body={"name": "other"})
    yield Address(f + "tag-delete", pk("tag", of_project=True))
    view = {"act": "save", "name": "Tiny ones", "shared": "on"}
    yield Address(f + "trajectories", slug, "view", body=view, query="q=tiny")
    yield Address(f + "palette", query="project=bench")
    yield Address(f + "palette", tag="named", query="project=bench&q=tiny")
    yield Address(f + "search", slug)
    yield Address(f + "remarks", slug, query="state=all")
    yield Address(f + "remark", pk("remark"), "shared", body={"answer": "No."})
    yield Address(f + "remark", pk("remark-dispute"), "dispute", body={"answer": "No."})
    yield Address(f + "remark-write", pk("ann-shared"), body={"text": "Look.", "message_index": "4"})
    yield Address(f + "search", slug, "canary", query="q=canary")
    yield Address(f + "first-steps-close", slug)
    yield Address(f + "board", slug)
    yield Address(f + "hours", slug, query="days=all")
    yield Address(f + "claims", slug)
    for whose in ("ann-shared", "ben-theirs", "ben-shared"):
        yield Address(f + "claims-take-back", slug, whose, body=chosen(whose))
    yield Address(f + "cases-take-back", slug, body=chosen("case"))
    yield Address(f + "imports-discard", slug)
    yield Address(f + "label-imports", slug)
    yield Address(f + "guidelines-edit", slug, body={"text": "New", "began": "1"})
    yield from looks(f, "look-again-undo", "1")
    yield Address(f + "subset", pk("subset", of_project=True), body=seen("subset", suspend_on_user_turn="on"))
    yield Address(f + "invite", slug, body={"is_annotator": "on"})
    yield Address(f + "invitation-renew", pk("invitation", of_project=True))
    yield Address(f + "invitation-revoke", pk("invitation", of_project=True))
    yield Address(f + "member", pk("member", of_project=True), body=seen("member", is_annotator="on"))

    def token(world: World) -> dict[str, str]:
        there = CrowdLink.objects.filter(pk=world.ids["crowd-link"]).values_list("token", flat=True)
        return {"token": there.first() or "no-such"}

    yield Address(f + "crowd-arrival", token, "new", body={"participant": "new"}, query="PID=new")
    known = canary("outside")
    yield Address(f + "crowd-arrival", token, "known", body={"participant": known}, query=f"PID={known}")
    yield Address(f + "crowd-arrival", lambda world: {"token": "no-such"}, "bad")
    yield Address(f + "connections", slug)
    place = {"name": "B", "kind": "mlflow", "base_url": "http://elsewhere.example.org", "source": "demo"}
    yield Address(f + "connection-new", slug, body={**place, "subset": "runs"})
    files = {**place, "kind": "s3", "source": "**/*.jsonl", "export_format": "huggingface"}
    yield Address(f + "connection-new-store", slug, body={**files, "subset": "runs"})
    for name in ("connection", "connection-delete"):
        yield Address(f + name, pk("connection", of_project=True))
    yield Address(f + "connection-edit", pk("connection", of_project=True), body={**place, "subset": "runs"})
    yield Address(f + "connection-ask", pk("connection", of_project=True), body={"dry-pull": "1"})
    for name in ("connection-transfer", "connection-status", "connection-stop"):
        yield Address(f + name, pk("transfer", of_project=True))
    yield Address(f + "webhooks", slug)
    hook = {"name": "House", "url": "http://elsewhere.example.org/", "events": ["run.finished"]}
    yield Address(f + "webhook-new", slug, body=hook)
    for name in ("webhook", "webhook-secret", "webhook-delete"):
        yield Address(f + name, pk("webhook", of_project=True))
    yield Address(f + "webhook-act", pk("webhook", of_project=True), body={"pause": "1"})
    yield Address(f + "webhook-edit", pk("webhook", of_project=True), body=seen("webhook", **hook))
    yield Address(f + "delivery-send", pk("delivery", of_project=True))
    yield Address(f + "crowd-place", pk("crowd-place"))
    yield Address(f + "crowd-links", slug)
    yield Address(f + "crowd-link-new", slug, body={"name": "Study"})
    for name in ("crowd-link", "crowd-link-close"):
        yield Address(f + name, pk("crowd-link", of_project=True))
    edited = seen("crowd-link", **dict.fromkeys(("places", "minutes", "trajectories"), "1"))
    yield Address(f + "crowd-link-edit", pk("crowd-link", of_project=True), body=edited)
    noted = seen("qualification", degree="master")
    yield Address(f + "member-limits", pk("member", of_project=True), body={"away_0_first": ""})
    yield Address(f + "qualifications", pk("member", of_project=True), body=noted)
    yield Address(f + "training", slug, body={"name": "exercises"})
    copied = {"into": "training"}
    yield Address(f + "training-make", slug, body=lambda world: {**chosen("agreed")(world), **copied})
    yield Address(f + "training-examples", slug)
    yield Address(f + "training-items", pk("training-subset", of_project=True))
    yield Address(f + "training-unmark", pk("training-subset", of_project=True))
    yield Address(f + "gold", slug, body={"source": "training", "subset": "tiny"})
    yield Address(f + "gold-end", slug, body={"subset": "tiny"})
    yield Address(f + "pilot", slug, body={"subset": "training", "bound": "0.6"})
    yield Address(f + "pilot-stop", slug)
    yield Address(f + "member-pause", pk("member", of_project=True))
    yield Address(f + "member-resume", pk("member", of_project=True))
    yield Address(f + "member-look-again", pk("member", of_project=True), body={"expected": "1"})
    yield Address(
        f + "training-item", pk("keyed", of_project=True), body={"value": "1", "message_index": "2"}
    )
    yield Address(f + "trajectory-message", lambda world: {**pk("keyed")(world), "message": 2}, "keyed")
    yield Address(f + "import-status", slug)
    yield Address(f + "import-detail", pk("import", of_project=True))
    for name in ("import-abandon", "import-options", "import-start", "import-suggestions"):
        yield Address(f + name, pk("import", of_project=True))
    yield Address(f + "import-image", lambda world: {**pk("import", of_project=True)(world), **FIRST_PART})
    for name in ("trajectories", "work", "claim", "adjudication-queue", "agreement", "releases"):
        yield Address(f + name, slug)
    yield Address(f + "agreement-steps", slug)
    yield Address(f + "agreement-csv", lambda world: {**slug(world), "chart": "annotators"})
    yield Address(f + "annotator-figures", pk("ann", of_project=True))
    yield from (Address(f + name, slug) for name in ("label-quality", "influence", "experiment", "size-plan"))
    yield Address(f + "label-audit-begin", slug, body={"wished": "1", "mixed": "1", "draws": "5"})
    yield Address(f + "label-audit-add", pk("label-audit"), body={"draws": "5"})
    yield Address(f + "label-audit-end", pk("label-audit"))
    yield Address(f + "audit-case-take", slug)
    yield Address(f + "audit-case", pk("audit-case"), body={"value-4": "-1"})
    yield Address(f + "triage", slug, body={"batch_size": "2"})
    for place in ("dispute", "seen", "free"):
        yield Address(f + "item-options", pk(place, of_project=True), place, body={"ends": "0"})
    for place in ("shared", "seen", "held", "free"):
        yield Address(f + "trajectory", pk(place, of_project=True), place)
        yield Address(f + "trajectory", pk(place, of_project=True), f"part-{place}", query=PART)
        yield Address(f + "trajectory-atif", pk(place, of_project=True), place)
    for place in ("dispute", "settled", "talked", "shared", "held", "free"):
        yield Address(f + "history", pk(place), place)
    yield from (Address(f + "history-export", pk(place), place) for place in ("talked", "shared"))
    for place in ("shared", "free"):
        yield Address(f + "trajectory-image", within(place, message=2, part=0), place)
        yield Address(f + "trajectory-message", within(place, message=2), place)
    for whose in (
        "ann-shared",
        "ann-dispute",
        "ben-theirs",
        "admin-seen",
        "cleo-agreed",
        "cleo-returned",
        *INSIDERS,
    ):
        yield Address(f + "workbench", pk(whose), whose)
        yield Address(f + "workbench", pk(whose), f"part-{whose}", query=PART)
        yield Address(f + "workbench", pk(whose), f"find-{whose}", query=FIND)
    for whose in ("ann-shared", "ben-theirs"):
        yield Address(f + "workbench-guidelines", pk(whose), whose, body={"version": "1"})
    for whose in ("ann-shared", "ann-dispute", "cleo-agreed"):
        yield Address(f + "own-consensus", pk(whose), whose)
    yield Address(f + "resume", pk("cleo-returned"))
    for whose in ("ann-shared", "ben-shared"):
        yield Address(f + "assignment-reopen", pk(whose), whose)
    for name in ("corrections", "correction-take"):
        yield Address(f + name, slug)
    yield from (Address(f + "corrections", slug, tag, query=f"list={tag}") for tag in ("all", "waiting"))
    said = {"choice": "nothing_wrong", "error": "none", "began": begun("1", {})}
    yield Address(f + "correction", pk("correction"), body=said)
    for name in ("correction-check", "correction-withdraw", "correction-restore", "correction-reveal"):
        yield Address(f + name, pk("correction"), body={"choice": "written", "written-text": "Look."})
    yield Address(f + "adjudication-take", pk("waiting", of_project=True))
    yield Address(f + "adjudication-assign", slug, body=chosen("waiting"))
    for case in ("case", "settled"):
        key = "case" if case == "case" else "decided"
        yield Address(f + "adjudication", pk(key), case)
        yield Address(f + "adjudication", pk(key), f"part-{case}", query=PART)
        yield Address(f + "adjudication", pk(key), f"find-{case}", query=FIND)
    yield Address(
        f + "adjudicate-decide", pk("case"), body={"message_index": "4", "value": "1", "version": "1"}
    )
    body = {"message_index": "4", "version": "1"}
    yield Address(f + "adjudicate-withdraw", pk("case"), body=body)
    yield Address(f + "adjudicate-majority", pk("case"), body=body)
    yield Address(f + "adjudicate-reveal", pk("case"), body={"message_index": "2"})
    yield Address(f + "adjudicate-close", pk("case"))
    yield Address(f + "adjudicate-release", pk("case"))
    yield Address(f + "adjudicate-reopen", pk("decided"))
    for case in ("case", "decided"):
        yield Address(f + "example-mark", pk(case), case, body={"title": "T", "text": "Text"})
    yield Address(f + "example-remove", pk("example"))
    yield from _talking_pages()
    yield from _judging_pages()
    yield from release_pages()


def _judging_pages() -> Iterator[Address]:
    f = "frontend:"
    for name in ("judges", "judge-new", "runs"):
        yield Address(f + name, slug)
    yield Address(f + "judges-first", slug, body=lambda world: {"judges": world.ids["judge"]})
    yield Address(f + "judges-first-send-back", slug)
    yield Address(f + "judge-create", kind("imported"), "file", body={"name": "J"})
    yield Address(f + "judge-create", kind("openai_compatible"), "server")
    yield Address(f + "judge-create", kind("oracle"), "none")
    for whose in ("judge", "judge-server"):
        yield Address(f + "judge", pk(whose, of_project=True), whose)
    yield Address(f + "judge-edit", pk("judge", of_project=True), body=seen("judge", name="Other"))
    for name in ("judge-retire", "judge-restore", "judge-import", "judge-recalibration"):
        yield Address(f + name, pk("judge", of_project=True))
    yield Address(f + "judge-workshop", pk("judge-server", of_project=True), body={"size": "1", "seed": "1"})
    yield Address(f + "workshop-sample", pk("sample", of_project=True), body={"prompt_version": "v2"})
    yield Address(f + "run-new", slug, body=lambda world: {"judges": world.ids["judge-server"]})
    yield Address(f + "run", pk("run", of_project=True))
    yield Address(f + "run-status", pk("run", of_project=True))
    for what in ("pause", "resume", "cancel", "retry", "burn"):
        yield Address(f + "run-action", run_action(what), what)
    for place in ("shared", "seen", "held"):
        yield Address(f + "judge-answer", answer(place, of_project=True), place)
        yield Address(f + "judge-answer-file", answer(place, of_project=True, part="response"), place)


def _judging_api() -> Iterator[Address]:
    a = "api:"
    yield Address(a + "judges", slug, body={"name": "J", "kind": "imported"})
    for name in ("judges-first", "judges-first-preview"):
        yield Address(a + name, slug, body=lambda world: {"judges": [world.ids["judge"]]})
    yield Address(a + "judges-first-send-back", slug)
    yield Address(a + "judge", pk("judge"), body={"name": "Other"})
    for name in ("judge-retire", "judge-restore", "judge-suggestions"):
        yield Address(a + name, pk("judge"))
    yield Address(a + "judge-recalibration", pk("judge"), body={"on": False})
    yield Address(a + "judge-samples", pk("judge-server"), body={"size": 1})
    yield Address(a + "sample", pk("sample"))
    for name in ("sample-estimate", "sample-runs"):
        yield Address(a + name, pk("sample"), body={"prompt_version": "v2"})
    yield Address(a + "sample-changes", pk("sample"))
    for name in ("runs", "run-estimate"):
        yield Address(a + name, slug, body=lambda world: {"judge": world.ids["judge-server"]})
    for name in ("run", "run-failures", "run-pause", "run-cancel", "run-retry"):
        yield Address(a + name, pk("run"))
    yield Address(a + "run-resume", pk("run"), body={"budget": None})
    for place in ("shared", "seen", "held"):
        yield Address(a + "answer", answer(place), place)


def _talking_pages() -> Iterator[Address]:
    f = "frontend:"
    yield Address(f + "discussions")
    yield Address(f + "notices")
    yield Address(f + "notices-read", body={"newest": "1"})
    yield Address(f + "notice", pk("notice"))
    yield Address(f + "discussion", pk("discussion"))
    yield Address(f + "discussion", pk("discussion"), "part", query=PART)
    yield Address(f + "discussion-comment", pk("discussion"), body={"text": "Look.", "message_index": "4"})
    changed = {"message_index": "2", "value": "0", "note": "Neither here nor there."}
    yield Address(f + "discussion-revise", pk("discussion"), body=changed)
    yield Address(f + "comment-retract", pk("comment"))
    for place in ("dispute", "waiting", "talked", "agreed", "held"):
        yield Address(f + "discussion-start", pk(place), place)


def _talking_api() -> Iterator[Address]:
    a = "api:"
    yield Address(a + "my-discussions")
    yield Address(a + "my-notices", body={"notice": 1})
    for place in ("dispute", "waiting", "talked", "agreed", "held"):
        yield Address(a + "discussion-open", pk(place), place)
    for place in ("dispute", "settled", "talked", "shared", "held"):
        yield Address(a + "history", pk(place), place, query="message_index=4")
    yield Address(a + "history", pk("talked"), "all", query="everything=true")
    yield Address(a + "discussion", pk("discussion"))
    yield Address(a + "comments", pk("discussion"), body={"text": "Look.", "message_index": 4})
    yield Address(a + "discussion-read", pk("discussion"), body={"comment": 0})
    changed = {"message_index": 2, "value": 0, "note": "Neither here nor there."}
    yield Address(a + "revisions", pk("discussion"), body=changed)
    yield Address(a + "comment-retract", pk("comment"))
    yield Address(a + "case-majority", pk("case"), body={"message_index": 4, "version": 1})
    yield Address(a + "case-withdraw", pk("case"), body={"message_index": 4, "version": 1})


def _api() -> Iterator[Address]:
    a = "api:"
    yield Address(a + "schema")
    yield Address(a + "me", body={"display_name": "Me"})
    yield Address(a + "my-invitations", body=lambda world: {"token": world.link, "answer": "accept"})
    yield Address(a + "tokens", body={"name": "t"})
    yield Address(a + "token", pk("token"))
    yield Address(a + "projects", body={"name": "New"})
    yield Address(a + "project", slug, body={"name": "Other"})
    yield Address(a + "guidelines", slug, body={"text": "New"})
    yield Address(a + "subsets", slug, body={"name": "more"})
    yield Address(
        a + "subset", lambda world: {**slug(world), "name": "tiny"}, body={"suspend_on_user_turn": True}
    )
    for name in (
        *("progress", "board", "own-work", "hours", "audit", "trajectories", "agreement", "agreement-steps"),
        *("disputes", "assignments", "claim", "claims"),
    ):
        yield Address(a + name, slug)
    yield from (Address(a + name, slug) for name in ("label-quality", "influence", "experiment", "size-plan"))
    yield Address(a + "label-audits", slug, body={"wished": 0.01, "draws": 5})
    yield Address(a + "label-audit-plan", slug, query="wished=0.1")
    yield Address(a + "label-audit-draws", pk("label-audit"), body={"draws": 5})
    yield Address(a + "label-audit-end", pk("label-audit"))
    yield Address(a + "audit-cases", slug)
    yield Address(a + "audit-case", pk("audit-case"), body={"rulings": [{"message_index": 4, "value": -1}]})
    yield Address(a + "triage", slug, body={"batch_size": 2})
    yield Address(a + "members", slug)
    yield Address(a + "annotator-figures", pk("ann", of_project=True))
    yield Address(a + "member", pk("member", of_project=True), body={"roles": ["annotator"]})
    yield Address(a + "training-subsets", slug, body={"name": "exercises"})
    yield Address(a + "training-examples", slug, body={"language": "en"})
    made = chosen("agreed", "trajectories")
    for name, body in (("training-items", made), ("training-subset", None)):
        yield Address(a + name, lambda world: {**slug(world), "name": "training"}, body=body)
    yield Address(a + "training-key", pk("keyed"), body={"value": 1, "message_index": 2})
    yield Address(a + "gold", slug, body=lambda world: {"items": [int(world.ids["keyed"])], "subset": "tiny"})
    yield Address(a + "pilot", slug, body={"subset": "training", "bound": 0.6})
    yield Address(a + "member-pause", pk("member", of_project=True))
    yield Address(a + "member-look-again", pk("member", of_project=True), body={"expected": 1})
    values = {"name": "B", "places": 1, "minutes": 1, "trajectories": 1}
    codes = {"completed_code": "A", "screened_code": "B"}
    hook = {"name": "B", "url": "http://elsewhere.example.org/", "events": ["run.finished"]}
    place = {"name": "B", "kind": "mlflow", "base_url": "http://elsewhere.example.org", "source": "demo"}
    yield Address(a + "connections", slug, body={**place, "subset": "runs"})
    yield Address(a + "connection", pk("connection", of_project=True), body={"name": "B"})
    yield Address(a + "transfers", pk("connection", of_project=True), body={"direction": "pull"})
    for name in ("transfer", "transfer-stop"):
        yield Address(a + name, pk("transfer", of_project=True))
    yield Address(a + "webhooks", slug, body=hook)
    yield Address(a + "webhook", pk("webhook", of_project=True), body={"paused": True})
    for name in ("webhook-secret", "webhook-test", "deliveries"):
        yield Address(a + name, pk("webhook", of_project=True))
    yield Address(a + "delivery-send", pk("delivery", of_project=True))
    yield Address(a + "crowd-links", slug, body={**values, **codes})
    yield Address(a + "crowd-link", pk("crowd-link", of_project=True), body={"closed": True})
    yield Address(a + "crowd-places", pk("crowd-link", of_project=True))
    yield Address(a + "crowd-place", pk("crowd-place"), body={"act": "return"})
    yield Address(a + "qualifications", pk("member", of_project=True), body={"degree": "master"})
    yield Address(a + "skip-tutorial", pk("member", of_project=True))
    yield Address(a + "tutorial", slug, body={"trajectories": []})
    yield Address(a + "tests", slug, body={"trajectories": [1], "agreement": 0.8})
    yield Address(a + "test-proposal", slug)
    for name, body in (
        ("test", {"attempts": 2}),
        ("test-opens", {"subset": "tiny"}),
        ("attempts", None),
        ("test-standing", None),
    ):
        yield Address(a + name, lambda world: {**slug(world), "number": 1}, body=body)
    for whose in ("ann", "ben"):
        yield Address(a + "attempt", pk(f"attempt-{whose}"), whose)
        yield Address(a + "attempt-stop", pk(f"attempt-{whose}"), whose)
        yield Address(a + "attempt-grant", pk(f"attempt-{whose}"), whose)
    yield Address(a + "invitations", slug, body={"roles": ["annotator"]})
    yield Address(a + "invitation", pk("invitation", of_project=True))
    yield Address(a + "invitation-link", pk("invitation", of_project=True))
    yield Address(a + "imports", slug)
    yield Address(a + "imports-archive", slug)
    yield Address(a + "imports-labels", slug)
    yield Address(a + "import", pk("import"))
    for name in ("import-abandon", "import-preview", "import-label-preview", "import-start"):
        yield Address(a + name, pk("import"))
    yield Address(a + "import-suggestions", pk("import"), body={"judge": "J"})
    for place in ("shared", "dispute", "waiting", "seen", "held", "left", "free"):
        yield Address(a + "trajectory", pk(place), place)
        yield Address(a + "trajectory-raw", pk(place), place)
        yield Address(a + "trajectory-atif", pk(place), place)
        yield Address(a + "judgements", pk(place), place)
    for whose in ("ann-shared", "ben-theirs", "ben-shared"):
        yield Address(a + "claims-take-back", slug, whose, body=chosen(whose, "assignments"))
    yield Address(a + "cases-take-back", slug, body=chosen("case", "adjudications"))
    to_tag = {"add": "odd"}
    yield Address(a + "tags", slug, body=lambda world: {**chosen("free", "trajectories")(world), **to_tag})
    yield Address(a + "tag", pk("tag"), body={"name": "other"})
    yield Address(a + "member-limits", pk("member", of_project=True), body={"days_away": []})
    yield Address(a + "reservations", slug, body=chosen("free", "trajectories"))
    yield Address(a + "reservations-withdraw", slug, body=chosen("free", "trajectories"))
    yield Address(a + "disputes-assign", slug, body=chosen("waiting", "trajectories"))
    yield Address(a + "imports-discard", slug)
    save = {"op_id": "m", "changes": []}
    everybodys = ("ann-shared", "ann-dispute", "ben-shared", "admin-seen", "cleo-agreed", "cleo-returned")
    for whose in (*everybodys, *INSIDERS):
        yield Address(a + "assignment", pk(whose), whose)
        yield Address(a + "labels", pk(whose), whose, body=save)
        yield Address(a + "submit", pk(whose), whose)
        yield Address(a + "return", pk(whose), whose, body={"reason": "tired"})
        yield Address(a + "resume", pk(whose), whose)
        yield Address(a + "assignment-reopen", pk(whose), whose)
        yield Address(a + "marks", pk(whose), whose, body={"needs_discussion": True, "broken": False})
        yield Address(a + "activity", pk(whose), whose, body={"active_ms": 5})
        yield Address(a + "reveals", pk(whose), whose, body={"message_index": 4})
        yield Address(a + "feedback", pk(whose), whose)
        yield Address(a + "own-remarks", pk(whose), whose, body={"text": "Look.", "message_index": 4})
    yield Address(a + "remarks", slug, query="state=all")
    yield Address(a + "remark-close", pk("remark"), "shared", body={"answer": "No."})
    yield Address(a + "remark-close", pk("remark-dispute"), "dispute", body={"answer": "No."})
    yield Address(a + "search", slug)
    yield Address(a + "search", slug, "canary", query="q=canary")
    for whose in ("ann-shared", "ann-dispute", "cleo-agreed"):
        yield Address(a + "own-consensus", pk(whose), whose)
    for place in ("dispute", "seen", "free"):
        yield Address(a + "item-options", pk(place), place, body={"options": [{"text": "Look."}]})
    for name in ("corrections", "first-errors"):
        yield Address(a + name, slug)
    said = {"version": 1, "answer": "nothing_wrong"}
    yield Address(a + "correction", pk("correction"), body=said)
    yield Address(a + "correction-check", pk("correction"), body={"text": "Look."})
    for name in ("correction-withdraw", "correction-restore", "correction-proposals"):
        yield Address(a + name, pk("correction"))
    proposed = {"message_index": 4, "answer": "nothing_wrong"}
    yield Address(
        a + "judge-corrections",
        pk("judge"),
        body=lambda world: {"proposals": [{"trajectory": world.at["settled"].pk, **proposed}]},
    )
    yield Address(a + "cases", slug, body=lambda world: {"trajectory": world.at["waiting"].pk})
    for case in ("case", "decided"):
        yield Address(a + "case", pk(case), case)
    yield Address(a + "decisions", pk("case"), body={"message_index": 4, "value": 1, "version": 1})
    yield Address(a + "case-close", pk("case"))
    yield Address(a + "case-release", pk("case"))
    yield Address(a + "case-reopen", pk("decided"))
    yield Address(a + "case-reveals", pk("case"), body={"message_index": 4})
    yield from looks(a, "look-again-batch", 1)
    marked = {"title": "T", "text": "Text"}
    yield Address(a + "examples", slug, body=lambda world: {"adjudication": world.ids["decided"], **marked})
    yield Address(a + "example", pk("example"))
    yield from _talking_api()
    yield from _judging_api()
    yield from release_api()
    yield Address(a + "unknown", lambda world: {"rest": "nothing/here/"})


def _djangos_admin() -> Iterator[Address]:
    """Its own pages, and of each model that is registered the list and one row: with its history, and what
    would go when it was deleted."""
    for name in ("index", "login", "logout", "password_change", "password_change_done", "jsi18n"):
        yield Address(f"admin:{name}")
    yield Address("admin:autocomplete", query="app_label=annotation&model_name=label&field_name=assignment")
    yield Address("admin:app_list", lambda world: {"app_label": "annotation"})
    yield Address("admin:view_on_site", lambda world: {"content_type_id": 1, "object_id": 1})
    for model in admin.site._registry:
        place = f"admin:{model._meta.app_label}_{model._meta.model_name}"

        def one(world: World, model: type[Model] = model) -> Mapping[str, Any]:
            # a person with labels rather than the first row
            row = (
                world.cast.ben
                if isinstance(world.cast.ben, model)
                else model._default_manager.order_by("pk").first()
            )
            return {"object_id": row.pk if row is not None else 1}

        yield Address(f"{place}_changelist", query="q=canary")
        yield Address(f"{place}_add")
        for name in ("change", "delete", "history"):
            yield Address(f"{place}_{name}", one)
    yield Address("admin:auth_user_password_change", lambda world: {"id": world.cast.ben.pk})


def addresses() -> list[Address]:
    """All of them."""
    return [Address("healthz"), Address("set_language"), *_djangos_admin(), *_pages(), *_api()]


def routes(
    patterns: list[URLPattern | URLResolver] | None = None, space: tuple[str, ...] = ()
) -> Iterator[tuple[str, URLPattern]]:
    """Every route of the resolver with its full name."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(pattern, URLResolver):
            inner = (*space, pattern.namespace) if pattern.namespace else space
            yield from routes(pattern.url_patterns, inner)
        else:
            yield ":".join((*space, str(pattern.name))), pattern


ROUTES: dict[str, URLPattern] = dict(routes())


def methods(address: Address) -> tuple[str, ...]:
    """The methods of an address: those of its API view; pages have at most two."""
    view = getattr(ROUTES[address.name].callback, "cls", None)
    if address.name.startswith("api:") and address.name != "api:unknown":
        return tuple(name.upper() for name in ("get", "post", "patch", "delete") if hasattr(view, name))
    return ("GET", "POST")
