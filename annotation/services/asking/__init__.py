"""Sets of prompts that ask the questions of a release (docs/next-actions.md, "Prompts")."""

from .making import make_prompts, reap, run_prompts
from .reading import prompt_lines, shown_prompt

__all__ = ["make_prompts", "prompt_lines", "reap", "run_prompts", "shown_prompt"]
