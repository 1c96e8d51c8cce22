"""The tables: fields, constraints and indexes; nothing else."""

from .accounts import ApiToken, Invitation, User
from .audit import AuditEvent
from .consensus import Adjudication, Consensus, Decision, OutcomeConsensus
from .data import ImportFile, Step, Task, Trajectory, TrajectoryContent
from .jobs import JobFields
from .judges import MAX_CONCURRENCY, Judge
from .labels import (
    ACTIVE_STATES,
    Assignment,
    Exposure,
    Judgement,
    Label,
    LabelEvent,
    OutcomeLabel,
    SaveOperation,
)
from .projects import MAX_ANNOTATORS, MAX_CLAIM_DAYS, MAX_CLAIMS, Guideline, Membership, Project, Subset
from .releases import Release, ReleaseLabel, ReleaseRecord, ReleaseWithdrawal
from .suggestions import (
    UNFINISHED_RUNS,
    JudgeAnswer,
    SuggestedLabel,
    Suggestion,
    SuggestionItem,
    SuggestionRun,
)

__all__ = [
    "ACTIVE_STATES",
    "MAX_ANNOTATORS",
    "MAX_CLAIMS",
    "MAX_CLAIM_DAYS",
    "MAX_CONCURRENCY",
    "UNFINISHED_RUNS",
    "Adjudication",
    "ApiToken",
    "Assignment",
    "AuditEvent",
    "Consensus",
    "Decision",
    "Exposure",
    "Guideline",
    "ImportFile",
    "Invitation",
    "JobFields",
    "Judge",
    "JudgeAnswer",
    "Judgement",
    "Label",
    "LabelEvent",
    "Membership",
    "OutcomeConsensus",
    "OutcomeLabel",
    "Project",
    "Release",
    "ReleaseLabel",
    "ReleaseRecord",
    "ReleaseWithdrawal",
    "SaveOperation",
    "Step",
    "Subset",
    "SuggestedLabel",
    "Suggestion",
    "SuggestionItem",
    "SuggestionRun",
    "Task",
    "Trajectory",
    "TrajectoryContent",
    "User",
]
