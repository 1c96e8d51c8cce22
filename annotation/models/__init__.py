"""The tables: fields, constraints and indexes; nothing else."""

from .accounts import ApiToken, Invitation, User
from .agreement import PairedLabels
from .audit import AuditEvent, AuditLink
from .consensus import (
    Adjudication,
    CaseEvent,
    Consensus,
    Decision,
    Dispute,
    OutcomeConsensus,
    SecondPerson,
    SecondPersonFit,
    all_places_free,
)
from .corrections import ACTIVE_CORRECTIONS, Correction
from .data import (
    DERIVED,
    EDITED_FORMAT,
    ImportFile,
    Step,
    Tag,
    Task,
    Trajectory,
    TrajectoryContent,
    TrajectoryTag,
)
from .discussion import Comment, Discussion, Revision, ThreadRead
from .examples import Example
from .experiment import Allocation, InterimAnalysis
from .freezes import Freeze
from .jobs import JobFields
from .judges import MAX_CONCURRENCY, Judge, JudgesFirstVerdict, WorkshopSample, given_to_people
from .labels import (
    ACTIVE_STATES,
    Assignment,
    Exposure,
    Label,
    LabelColumns,
    LabelEvent,
    OutcomeLabel,
    SaveOperation,
)
from .notices import Notice
from .predictions import OutsideNumber, PredictionReasons, PredictionSet, PromptSet, ReleaseOutline
from .projects import (
    MAX_ANNOTATORS,
    MAX_CLAIM_DAYS,
    MAX_CLAIMS,
    MAX_JUDGED_SAMPLE,
    MAX_RETEST_DAYS,
    Guideline,
    Membership,
    Project,
    Subset,
)
from .rechecks import (
    AuditDraw,
    AuditedTrajectory,
    AuditRuling,
    LabelAudit,
    Recheck,
    Stratum,
    ruling_drafts,
)
from .relabel_requests import RelabelRequest
from .releases import PublicRelease, Release, ReleaseLabel, ReleaseRecord, ReleaseWithdrawal
from .remarks import AdminRemark
from .saved_views import SavedView
from .suggestions import (
    UNFINISHED_RUNS,
    JudgeAnswer,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)

__all__ = [
    "ACTIVE_CORRECTIONS",
    "ACTIVE_STATES",
    "DERIVED",
    "EDITED_FORMAT",
    "MAX_ANNOTATORS",
    "MAX_CLAIMS",
    "MAX_CLAIM_DAYS",
    "MAX_CONCURRENCY",
    "MAX_JUDGED_SAMPLE",
    "MAX_RETEST_DAYS",
    "UNFINISHED_RUNS",
    "Adjudication",
    "AdminRemark",
    "Allocation",
    "ApiToken",
    "Assignment",
    "AuditDraw",
    "AuditEvent",
    "AuditLink",
    "AuditRuling",
    "AuditedTrajectory",
    "CaseEvent",
    "Comment",
    "Consensus",
    "Correction",
    "Decision",
    "Discussion",
    "Dispute",
    "Example",
    "Exposure",
    "Freeze",
    "Guideline",
    "ImportFile",
    "InterimAnalysis",
    "Invitation",
    "JobFields",
    "Judge",
    "JudgeAnswer",
    "JudgesFirstVerdict",
    "Label",
    "LabelAudit",
    "LabelColumns",
    "LabelEvent",
    "Membership",
    "Notice",
    "OutcomeConsensus",
    "OutcomeLabel",
    "OutsideNumber",
    "PairedLabels",
    "PredictionReasons",
    "PredictionSet",
    "Project",
    "PromptSet",
    "PublicRelease",
    "Recheck",
    "RelabelRequest",
    "Release",
    "ReleaseLabel",
    "ReleaseOutline",
    "ReleaseRecord",
    "ReleaseWithdrawal",
    "Revision",
    "SaveOperation",
    "SavedView",
    "SecondPerson",
    "SecondPersonFit",
    "Step",
    "Stratum",
    "Subset",
    "SuggestedLabel",
    "Suggestion",
    "SuggestionItem",
    "SuggestionRun",
    "Tag",
    "Task",
    "ThreadRead",
    "Trajectory",
    "TrajectoryContent",
    "TrajectoryTag",
    "User",
    "WorkshopSample",
    "all_places_free",
    "given_to_people",
    "ruling_drafts",
]
