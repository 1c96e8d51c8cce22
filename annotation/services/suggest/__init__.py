"""Suggestions: judges are set up and asked about many trajectories, or a file brings their answers."""

from .import_file import SuggestionImport, import_suggestions, sweep_half_imports
from .judge_setup import create_judge, operator, restore_judge, retire_judge, update_judge
from .prompt_workshop import draw_sample, trajectories_to_draw, try_prompt
from .reaper import reap
from .recalibration import fit_recalibration, set_recalibration, sweep_recalibrations
from .runner import RunTotals, run_suggestions
from .runs import cancel_run, pause_run, resume_run, retry_failed, start_run
from .source_labels import has_source_labels, suggest_source_labels

__all__ = [
    "RunTotals",
    "SuggestionImport",
    "cancel_run",
    "create_judge",
    "draw_sample",
    "fit_recalibration",
    "has_source_labels",
    "import_suggestions",
    "operator",
    "pause_run",
    "reap",
    "restore_judge",
    "resume_run",
    "retire_judge",
    "retry_failed",
    "run_suggestions",
    "set_recalibration",
    "start_run",
    "suggest_source_labels",
    "sweep_half_imports",
    "sweep_recalibrations",
    "trajectories_to_draw",
    "try_prompt",
    "update_judge",
]
