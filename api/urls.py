"""The routes of the REST API, under /api/v1/."""

from django.urls import path, re_path

from .views import (
    adjudications,
    assignments,
    imports,
    index,
    me,
    members,
    projects,
    releases,
    reveals,
    trajectories,
)

app_name = "api"

PROJECT = "projects/<slug:slug>/"
RELEASE = f"{PROJECT}releases/<str:version>/"

urlpatterns = [
    path("schema/", index.Schema.as_view(), name="schema"),
    path("me/", me.Me.as_view(), name="me"),
    path("me/tokens/", me.Tokens.as_view(), name="tokens"),
    path("me/tokens/<int:pk>/", me.Token.as_view(), name="token"),
    path("projects/", projects.Projects.as_view(), name="projects"),
    path(PROJECT, projects.OneProject.as_view(), name="project"),
    path(f"{PROJECT}guidelines/", projects.Guidelines.as_view(), name="guidelines"),
    path(f"{PROJECT}subsets/", projects.Subsets.as_view(), name="subsets"),
    path(f"{PROJECT}subsets/<slug:name>/", projects.OneSubset.as_view(), name="subset"),
    path(f"{PROJECT}progress/", projects.Progress.as_view(), name="progress"),
    path(f"{PROJECT}audit/", projects.Audit.as_view(), name="audit"),
    path(f"{PROJECT}members/", members.Members.as_view(), name="members"),
    path(f"{PROJECT}members/<int:pk>/", members.Member.as_view(), name="member"),
    path(f"{PROJECT}invitations/", members.Invitations.as_view(), name="invitations"),
    path(f"{PROJECT}invitations/<int:pk>/", members.OneInvitation.as_view(), name="invitation"),
    path(f"{PROJECT}imports/", imports.Imports.as_view(), name="imports"),
    path("imports/<int:pk>/", imports.Import.as_view(), name="import"),
    path("imports/<int:pk>/abandon/", imports.Abandon.as_view(), name="import-abandon"),
    path(f"{PROJECT}trajectories/", trajectories.Trajectories.as_view(), name="trajectories"),
    path("trajectories/<int:pk>/", trajectories.OneTrajectory.as_view(), name="trajectory"),
    path("trajectories/<int:pk>/raw/", trajectories.Raw.as_view(), name="trajectory-raw"),
    path("trajectories/<int:pk>/judgements/", trajectories.Judgements.as_view(), name="judgements"),
    path(f"{PROJECT}claim/", assignments.Claim.as_view(), name="claim"),
    path(f"{PROJECT}assignments/", assignments.Assignments.as_view(), name="assignments"),
    path("assignments/<int:pk>/", assignments.OneAssignment.as_view(), name="assignment"),
    path("assignments/<int:pk>/labels/", assignments.Labels.as_view(), name="labels"),
    path("assignments/<int:pk>/submit/", assignments.Submit.as_view(), name="submit"),
    path("assignments/<int:pk>/return/", assignments.Return.as_view(), name="return"),
    path("assignments/<int:pk>/resume/", assignments.Resume.as_view(), name="resume"),
    path("assignments/<int:pk>/reopen/", assignments.Reopen.as_view(), name="assignment-reopen"),
    path("assignments/<int:pk>/marks/", assignments.Marks.as_view(), name="marks"),
    path("assignments/<int:pk>/activity/", assignments.Activity.as_view(), name="activity"),
    path("assignments/<int:pk>/reveals/", reveals.Reveals.as_view(), name="reveals"),
    path(f"{PROJECT}agreement/", releases.Agreement.as_view(), name="agreement"),
    path(f"{PROJECT}disputes/", adjudications.Disputes.as_view(), name="disputes"),
    path(f"{PROJECT}adjudications/", adjudications.Cases.as_view(), name="cases"),
    path("adjudications/<int:pk>/", adjudications.Case.as_view(), name="case"),
    path("adjudications/<int:pk>/decisions/", adjudications.Decisions.as_view(), name="decisions"),
    path("adjudications/<int:pk>/close/", adjudications.Close.as_view(), name="case-close"),
    path("adjudications/<int:pk>/release/", adjudications.HandBack.as_view(), name="case-release"),
    path("adjudications/<int:pk>/reopen/", adjudications.Reopen.as_view(), name="case-reopen"),
    path("adjudications/<int:pk>/reveals/", reveals.CaseReveals.as_view(), name="case-reveals"),
    path(f"{PROJECT}releases/", releases.Releases.as_view(), name="releases"),
    path(RELEASE, releases.OneRelease.as_view(), name="release"),
    path(f"{RELEASE}verify/", releases.Verify.as_view(), name="release-verify"),
    path(f"{RELEASE}manifest.json", releases.Manifest.as_view(), name="release-manifest"),
    path(f"{RELEASE}export/<slug:subset>.jsonl", releases.Export.as_view(), name="release-export"),
    path(f"{RELEASE}withdraw/", releases.Withdraw.as_view(), name="release-withdraw"),
    # last: whatever is none of these is answered in JSON too
    re_path(r"^(?P<rest>.*)$", index.Unknown.as_view(), name="unknown"),
]
