"""The routes of the web pages. Every page needs a signed-in person, except those listed as public."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, path

from frontend.pages import api_reference, palette
from frontend.pages.accounts import accounts, crowd, organisation, people, profile, second_factor
from frontend.pages.agreement import agreement, differing_steps
from frontend.pages.cases import (
    adjudication,
    corrections,
    discussions,
    disputes,
    examples,
    history,
    home,
    notices,
    remarks,
)
from frontend.pages.evaluation import (
    evaluation,
    leaderboard,
    model,
    model_errors,
    predicted_records,
    public_releases,
    scored_judges,
    size_plan,
)
from frontend.pages.influence import influence
from frontend.pages.judging import answers, judges, judges_first, run, runs, workshop
from frontend.pages.projects import audit, connections, crowd_links, members, overview, projects, webhooks
from frontend.pages.quality import annotators, label_audits, label_quality, look_again
from frontend.pages.releases import derivations, freezes, prompts, release_diff, releases
from frontend.pages.training import gold, pilots, proficiency, since_check, sitting, tutorial
from frontend.pages.training import subsets as training_subsets
from frontend.pages.work import (
    assigning,
    board,
    claims,
    first_reading,
    imports,
    item_options,
    label_imports,
    messages,
    my_work,
    own_consensus,
    previews,
    search,
    tags,
    training_items,
    trajectories,
    workbench,
)

app_name = "frontend"


def page(route: str, view: Callable[..., Any], name: str) -> URLPattern:
    """A page for signed-in people; everybody else is asked to sign in."""
    return path(route, login_required(view), name=name)


PUBLIC = "public/<slug:slug>/<str:version>/"

public = [
    path("sign-in/", accounts.SignIn.as_view(), name="sign-in"),
    path("sign-in/second-factor/", second_factor.ask, name="second-factor"),
    path("sign-in/organisation/", organisation.begin, name="organisation-begin"),
    path("sign-in/organisation/callback/", organisation.callback, name="organisation-callback"),
    path("sign-out/", LogoutView.as_view(http_method_names=["post", "options"]), name="sign-out"),
    path("password/reset/", accounts.PasswordReset.as_view(), name="password-reset"),
    path(
        "password/reset/<uidb64>/<token>/",
        accounts.PasswordResetConfirm.as_view(),
        name="password-reset-confirm",
    ),
    path("invitations/<str:token>/", accounts.invitation, name="invitation"),
    path("join/crowd/<str:token>/", crowd.arrival, name="crowd-arrival"),
    path("robots.txt", public_releases.robots, name="robots"),
    path("llms.txt", api_reference.llms, name="llms"),
    path(PUBLIC, public_releases.release, name="public-release"),
    path(PUBLIC + "files/<str:name>", public_releases.file, name="public-file"),
    path("theme/", accounts.theme, name="theme"),
    path("language/", accounts.language, name="language"),
]

own = [
    page("password/", accounts.PasswordChange.as_view(), "password-change"),
    page("profile/", profile.profile, "profile"),
    page("profile/second-factor/", second_factor.overview, "second-factors"),
    page("profile/second-factor/confirm/", second_factor.confirm, "second-factor-confirm"),
    page("profile/second-factor/app/", second_factor.app, "second-factor-app"),
    page("profile/second-factor/app/code.svg", second_factor.picture, "second-factor-picture"),
    page("profile/second-factor/passkey/", second_factor.passkey, "second-factor-passkey"),
    page("profile/second-factor/codes/", second_factor.codes, "second-factor-codes"),
    page("profile/second-factor/<int:pk>/remove/", second_factor.remove, "second-factor-remove"),
    page("profile/organisation/", organisation.link, "organisation-link"),
    page("profile/organisation/unlink/", organisation.unlink, "organisation-unlink"),
    page("profile/keys/", profile.keys_change, "profile-keys"),
    page("profile/tokens/", profile.token_create, "token-create"),
    page("profile/tokens/<int:pk>/revoke/", profile.token_revoke, "token-revoke"),
    page("notices/", notices.notices, "notices"),
    page("notices/read/", notices.read, "notices-read"),
    page("notices/<int:pk>/", notices.notice, "notice"),
    page("crowd/<int:pk>/", crowd.own_place, "crowd-place"),
    page("people/", people.people, "people"),
    page("people/<int:pk>/password-link/", people.password_link, "password-link"),
    page("people/<int:pk>/account/", people.account, "account-state"),
]

PROJECT = "p/<slug:slug>/"

project = [
    page("projects/", projects.projects, "projects"),
    page("projects/new/", projects.create, "project-create"),
    page(PROJECT, overview.overview, "project"),
    page(PROJECT + "first-steps/close/", overview.close_first_steps, "first-steps-close"),
    page(PROJECT + "settings/", projects.settings, "project-settings"),
    page(PROJECT + "settings/subsets/<int:pk>/", projects.subset, "subset"),
    page(PROJECT + "settings/experiment/", influence.experiment, "experiment"),
    page(PROJECT + "settings/queue/", influence.triage, "triage"),
    page(PROJECT + "guidelines/", projects.guidelines, "guidelines"),
    page(PROJECT + "guidelines/edit/", projects.guidelines_edit, "guidelines-edit"),
    page(PROJECT + "guidelines/look-again/", look_again.look_again, "look-again"),
    page(PROJECT + "guidelines/look-again/<uuid:batch>/undo/", look_again.undo, "look-again-undo"),
    page(PROJECT + "search/", search.search, "search"),
    page(PROJECT + "audit/", audit.audit, "audit"),
    page(PROJECT + "audit/export/", audit.export, "audit-export"),
    page(PROJECT + "claims/", claims.claims, "claims"),
    page(PROJECT + "claims/take-back/", claims.take_back, "claims-take-back"),
    page(PROJECT + "claims/take-cases-back/", claims.take_cases_back, "cases-take-back"),
    page(PROJECT + "training/", training_subsets.subsets, "training"),
    page(PROJECT + "training/make/", training_items.make, "training-make"),
    page(PROJECT + "training/examples/", training_subsets.examples, "training-examples"),
    page(PROJECT + "training/subsets/<int:pk>/", training_subsets.items, "training-items"),
    page(PROJECT + "training/subsets/<int:pk>/unmark/", training_subsets.unmark, "training-unmark"),
    page(PROJECT + "training/items/<int:pk>/", training_subsets.item, "training-item"),
    page(PROJECT + "training/tutorial/", tutorial.tutorial, "tutorial"),
    page(PROJECT + "training/tests/", proficiency.tests, "tests"),
    page(PROJECT + "training/tests/new/", proficiency.new, "test-new"),
    page(PROJECT + "training/tests/<int:number>/", proficiency.test, "test-detail"),
    page(PROJECT + "training/tests/<int:number>/edit/", proficiency.edit, "test-edit"),
    page("attempts/<int:pk>/stop/", proficiency.stop, "attempt-stop"),
    page("attempts/<int:pk>/grant/", proficiency.grant, "attempt-grant"),
    page(PROJECT + "training/gold/", gold.gold, "gold"),
    page(PROJECT + "training/gold/end/", gold.end, "gold-end"),
    page(PROJECT + "training/pilot/", pilots.pilot, "pilot"),
    page(PROJECT + "training/pilot/stop/", pilots.stop, "pilot-stop"),
    page(PROJECT + "members/", members.members, "members"),
    page(PROJECT + "members/<int:pk>/pause/", gold.pause, "member-pause"),
    page(PROJECT + "members/<int:pk>/resume/", gold.resume, "member-resume"),
    page(PROJECT + "members/<int:pk>/look-again/", since_check.since_check, "member-look-again"),
    page(PROJECT + "members/invite/", members.invite, "invite"),
    page(PROJECT + "members/invitations/<int:pk>/link/", members.renew, "invitation-renew"),
    page(PROJECT + "members/invitations/<int:pk>/revoke/", members.revoke, "invitation-revoke"),
    page(PROJECT + "members/<int:pk>/", members.change, "member"),
    page(PROJECT + "members/<int:pk>/limits/", members.limits, "member-limits"),
    page(PROJECT + "members/<int:pk>/qualifications/", members.qualifications, "qualifications"),
]

data = [
    page(PROJECT + "connections/", connections.connections, "connections"),
    page(PROJECT + "connections/new/", connections.new, "connection-new"),
    page(PROJECT + "connections/new-store/", connections.new_store, "connection-new-store"),
    page(PROJECT + "connections/<int:pk>/", connections.connection, "connection"),
    page(PROJECT + "connections/<int:pk>/edit/", connections.edit, "connection-edit"),
    page(PROJECT + "connections/<int:pk>/delete/", connections.delete, "connection-delete"),
    page(PROJECT + "connections/<int:pk>/ask/", connections.ask, "connection-ask"),
    page(PROJECT + "connections/transfers/<int:pk>/", connections.transfer, "connection-transfer"),
    page(PROJECT + "connections/transfers/<int:pk>/status/", connections.status, "connection-status"),
    page(PROJECT + "connections/transfers/<int:pk>/stop/", connections.stop, "connection-stop"),
    page(PROJECT + "webhooks/", webhooks.webhooks, "webhooks"),
    page(PROJECT + "webhooks/new/", webhooks.new, "webhook-new"),
    page(PROJECT + "webhooks/<int:pk>/", webhooks.webhook, "webhook"),
    page(PROJECT + "webhooks/<int:pk>/edit/", webhooks.edit, "webhook-edit"),
    page(PROJECT + "webhooks/<int:pk>/secret/", webhooks.secret, "webhook-secret"),
    page(PROJECT + "webhooks/<int:pk>/delete/", webhooks.delete, "webhook-delete"),
    page(PROJECT + "webhooks/<int:pk>/act/", webhooks.act_on, "webhook-act"),
    page(PROJECT + "webhooks/deliveries/<int:pk>/send/", webhooks.send_again, "delivery-send"),
    page(PROJECT + "crowd/", crowd_links.links, "crowd-links"),
    page(PROJECT + "crowd/new/", crowd_links.new, "crowd-link-new"),
    page(PROJECT + "crowd/<int:pk>/", crowd_links.places, "crowd-link"),
    page(PROJECT + "crowd/<int:pk>/edit/", crowd_links.edit, "crowd-link-edit"),
    page(PROJECT + "crowd/<int:pk>/close/", crowd_links.close, "crowd-link-close"),
    page(PROJECT + "import/", imports.imports, "imports"),
    page(PROJECT + "import/labels/", label_imports.label_imports, "label-imports"),
    page(PROJECT + "import/discard-previews/", imports.discard_previews, "imports-discard"),
    page(PROJECT + "import/status/", imports.status, "import-status"),
    page(PROJECT + "import/<int:pk>/", imports.detail, "import-detail"),
    page(PROJECT + "import/<int:pk>/abandon/", imports.abandon, "import-abandon"),
    page(PROJECT + "import/<int:pk>/options/", previews.options, "import-options"),
    page(PROJECT + "import/<int:pk>/suggestions/", imports.suggestions, "import-suggestions"),
    page(PROJECT + "import/<int:pk>/start/", previews.start, "import-start"),
    page(PROJECT + "import/<int:pk>/image/<int:message>/<int:part>/", previews.image, "import-image"),
    page(PROJECT + "trajectories/", trajectories.trajectories, "trajectories"),
    page(PROJECT + "trajectories/export/", trajectories.export, "trajectories-export"),
    page(PROJECT + "trajectories/<int:pk>/", trajectories.trajectory, "trajectory"),
    page(PROJECT + "trajectories/<int:pk>/atif/", trajectories.atif, "trajectory-atif"),
    page(PROJECT + "trajectories/<int:pk>/tag/", tags.tag_one, "trajectory-tag"),
    page(PROJECT + "trajectories/<int:pk>/options/", item_options.options, "item-options"),
    page(PROJECT + "trajectories/tag/", tags.tag_chosen, "trajectories-tag"),
    page(PROJECT + "trajectories/assign/", assigning.assign, "trajectories-assign"),
    page(PROJECT + "tags/", tags.tags, "tags"),
    page(PROJECT + "tags/<int:pk>/rename/", tags.rename, "tag-rename"),
    page(PROJECT + "tags/<int:pk>/delete/", tags.delete, "tag-delete"),
    page("trajectories/<int:pk>/history/", history.history, "history"),
    page("trajectories/<int:pk>/history/export/", history.export, "history-export"),
    page("trajectories/<int:pk>/messages/<int:message>/", messages.message, "trajectory-message"),
    page(
        "trajectories/<int:pk>/images/<int:message>/<int:part>/",
        workbench.trajectory_image,
        "trajectory-image",
    ),
]

labelling = [
    page(PROJECT + "work/", my_work.work, "work"),
    page(PROJECT + "work/claim/", my_work.claim, "claim"),
    page(PROJECT + "board/", board.board, "board"),
    page(PROJECT + "hours/", board.hours, "hours"),
    page(PROJECT + "tests/<int:number>/", sitting.test, "test"),
    page("attempts/<int:pk>/", sitting.attempt, "attempt"),
    page("assignments/<int:pk>/", workbench.workbench, "workbench"),
    page("assignments/<int:pk>/guidelines/", first_reading.guidelines, "workbench-guidelines"),
    page("assignments/<int:pk>/consensus/", own_consensus.own_consensus, "own-consensus"),
    page("assignments/<int:pk>/resume/", my_work.resume, "resume"),
    page("assignments/<int:pk>/reopen/", my_work.reopen, "assignment-reopen"),
    page("assignments/<int:pk>/remark/", remarks.write, "remark-write"),
    page(PROJECT + "remarks/", remarks.remarks, "remarks"),
    page("remarks/<int:pk>/", remarks.remark, "remark"),
    page("assignments/<int:pk>/look-again/", look_again.begin, "assignment-look-again"),
    page(PROJECT + "adjudication/", disputes.queue, "adjudication-queue"),
    page(PROJECT + "adjudication/take/<int:pk>/", disputes.take, "adjudication-take"),
    page(PROJECT + "adjudication/assign/", disputes.assign, "adjudication-assign"),
    page(PROJECT + "adjudication/take-audit/", label_audits.take, "audit-case-take"),
    page("audit-cases/<int:pk>/", label_audits.case, "audit-case"),
    page(PROJECT + "corrections/", corrections.corrections, "corrections"),
    page(PROJECT + "corrections/take/", corrections.take, "correction-take"),
    page("corrections/<int:pk>/", corrections.correction, "correction"),
    page("corrections/<int:pk>/check/", corrections.check, "correction-check"),
    page("corrections/<int:pk>/withdraw/", corrections.withdraw, "correction-withdraw"),
    page("corrections/<int:pk>/restore/", corrections.restore, "correction-restore"),
    page("corrections/<int:pk>/proposals/", corrections.reveal, "correction-reveal"),
    page("adjudications/<int:pk>/", adjudication.adjudication, "adjudication"),
    page("discussions/", discussions.mine, "discussions"),
    page("discussions/<int:pk>/", discussions.discussion, "discussion"),
    page("discussions/<int:pk>/comment/", discussions.comment, "discussion-comment"),
    page("discussions/<int:pk>/revise/", discussions.revise, "discussion-revise"),
    page("comments/<int:pk>/retract/", discussions.retract, "comment-retract"),
    page("trajectories/<int:pk>/discuss/", discussions.start, "discussion-start"),
    page("adjudications/<int:pk>/decide/", adjudication.decide, "adjudicate-decide"),
    page("adjudications/<int:pk>/majority/", adjudication.majority, "adjudicate-majority"),
    page("adjudications/<int:pk>/withdraw/", adjudication.withdraw, "adjudicate-withdraw"),
    page("adjudications/<int:pk>/reveal/", adjudication.reveal, "adjudicate-reveal"),
    page("adjudications/<int:pk>/close/", adjudication.close, "adjudicate-close"),
    page("adjudications/<int:pk>/release/", adjudication.hand_back, "adjudicate-release"),
    page("adjudications/<int:pk>/reopen/", adjudication.reopen, "adjudicate-reopen"),
    page("adjudications/<int:pk>/example/", examples.mark, "example-mark"),
    page("examples/<int:pk>/remove/", examples.unmark, "example-remove"),
]

JUDGE = PROJECT + "judges/<int:pk>/"
RUN = PROJECT + "runs/<int:pk>/"
ANSWER = PROJECT + "answers/<uuid:pk>/"

judging = [
    page(PROJECT + "judges/", judges.judges, "judges"),
    page(PROJECT + "judges/new/", judges.new, "judge-new"),
    page(PROJECT + "judges/new/<slug:kind>/", judges.create, "judge-create"),
    page(JUDGE, judges.judge, "judge"),
    page(JUDGE + "edit/", judges.edit, "judge-edit"),
    page(JUDGE + "retire/", judges.retire, "judge-retire"),
    page(JUDGE + "restore/", judges.restore, "judge-restore"),
    page(JUDGE + "recalibration/", judges.recalibrate, "judge-recalibration"),
    page(JUDGE + "workshop/", workshop.workshop, "judge-workshop"),
    page(PROJECT + "workshop/<int:pk>/", workshop.sample, "workshop-sample"),
    page(JUDGE + "import/", judges.import_file, "judge-import"),
    page(PROJECT + "judges-first/", judges_first.settle, "judges-first"),
    page(PROJECT + "judges-first/send-back/", judges_first.send_back, "judges-first-send-back"),
    page(PROJECT + "runs/", runs.runs, "runs"),
    page(PROJECT + "runs/new/", runs.new, "run-new"),
    page(RUN, run.run, "run"),
    page(RUN + "status/", run.status, "run-status"),
    page(RUN + "<slug:name>/", run.run_action, "run-action"),
    page(ANSWER, answers.answer, "judge-answer"),
    page(ANSWER + "<slug:part>/", answers.answer_file, "judge-answer-file"),
]

RELEASE = PROJECT + "releases/<str:version>/"
PROMPTS = RELEASE + "prompts/<slug:name>/"
MODEL = RELEASE + "models/<int:pk>/"

results = [
    page(PROJECT + "agreement/", agreement.agreement, "agreement"),
    page(PROJECT + "agreement/steps/", differing_steps.steps, "agreement-steps"),
    page(PROJECT + "agreement/<slug:chart>.csv", agreement.csv_file, "agreement-csv"),
    page(PROJECT + "agreement/annotators/<int:pk>/", annotators.annotator, "annotator-figures"),
    page(PROJECT + "label-quality/", label_quality.label_quality, "label-quality"),
    page(PROJECT + "label-quality/audits/", label_audits.begin, "label-audit-begin"),
    page("label-audits/<int:pk>/draws/", label_audits.add, "label-audit-add"),
    page("label-audits/<int:pk>/end/", label_audits.end, "label-audit-end"),
    page(PROJECT + "influence/", influence.influence, "influence"),
    page(PROJECT + "releases/", releases.releases, "releases"),
    page(PROJECT + "size-plan/", size_plan.plan, "size-plan"),
    page(PROJECT + "freeze/", freezes.freeze, "release-freeze"),
    page(PROJECT + "freezes/<int:pk>/", freezes.detail, "freeze-detail"),
    page(PROJECT + "freezes/<int:pk>/status/", freezes.status, "freeze-status"),
    page(PROJECT + "freezes/<int:pk>/cancel/", freezes.cancel, "freeze-cancel"),
    page(RELEASE, releases.release, "release"),
    page(PROJECT + "compare-releases/", release_diff.compare, "release-compare"),
    page(RELEASE + "diff/<str:other>/", release_diff.diff, "release-diff"),
    page(RELEASE + "diff/<str:other>/changelog.md", release_diff.changelog, "release-changelog"),
    page(RELEASE + "public/", releases.public, "release-public"),
    page(RELEASE + "verify/", releases.verify, "release-verify"),
    page(RELEASE + "derive/", derivations.derive, "release-derive"),
    page(RELEASE + "prompts/", prompts.prompts, "release-prompts"),
    page(PROMPTS, prompts.prompt_set, "release-prompt-set"),
    page(PROMPTS + "status/", prompts.status, "release-prompts-status"),
    page(PROMPTS + "prompts.jsonl", prompts.file, "release-prompts-file"),
    page(RELEASE + "withdraw/", releases.withdraw, "release-withdraw"),
    page(RELEASE + "leaderboard/", leaderboard.leaderboard, "leaderboard"),
    page(RELEASE + "best-of-n/", evaluation.best_of_n, "release-best-of-n"),
    page(RELEASE + "benchmark/", evaluation.reading, "release-benchmark"),
    page(RELEASE + "judges/", scored_judges.judges, "scored-judges"),
    page(RELEASE + "predictions/", leaderboard.import_file, "predictions-import"),
    page(RELEASE + "outside-numbers/", leaderboard.set_outside, "outside-numbers"),
    page(MODEL, model.model, "model"),
    page(MODEL + "records/", model_errors.records, "release-errors"),
    page(MODEL + "records/<int:ordinal>/", predicted_records.predicted, "release-predicted"),
    page(RELEASE + "records/<int:ordinal>/", predicted_records.record, "release-record"),
    page(
        RELEASE + "records/<int:ordinal>/messages/<int:message>/",
        predicted_records.message,
        "release-message",
    ),
    page(
        RELEASE + "records/<int:ordinal>/images/<int:message>/<int:part>/",
        predicted_records.image,
        "release-image",
    ),
    page(MODEL + "delete/", model.delete, "predictions-delete"),
    page(RELEASE + "files/<str:name>", releases.export, "release-export"),
]

urlpatterns = [
    page("", home.home, "home"),
    page("go/", palette.palette, "palette"),
    page("api/", api_reference.api_reference, "api-reference"),
    *public,
    *own,
    *project,
    *data,
    *labelling,
    *judging,
    *results,
]
