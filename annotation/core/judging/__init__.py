"""Ask an LLM about a trajectory: the input, the prompt, the strict reading of its answer, the cost."""

from .cost import FREE, CostEstimate, Price, Usage, cost, estimate
from .judge_input import JudgeInput
from .parsed_answer import ParsedAnswer, Problem, ProblemKind, Unusable, UnusableKind
from .parsing import parse
from .prompt import ANSWER_SCHEMA, Prompt, TooLong, build
from .prompts import LATEST, VERSIONS
from .tokens import estimate_tokens

__all__ = [
    "ANSWER_SCHEMA",
    "FREE",
    "LATEST",
    "VERSIONS",
    "CostEstimate",
    "JudgeInput",
    "ParsedAnswer",
    "Price",
    "Problem",
    "ProblemKind",
    "Prompt",
    "TooLong",
    "Unusable",
    "UnusableKind",
    "Usage",
    "build",
    "cost",
    "estimate",
    "estimate_tokens",
    "parse",
]
