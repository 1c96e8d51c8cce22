"""Judging a trajectory with a model: the material, the prompt, the answer read without charity, the cost."""

from .cost import FREE, Estimate, Price, Usage, cost, estimate
from .judgement import Judgement, Problem, ProblemKind, Unusable, UnusableKind
from .material import Material

__all__ = [
    "FREE",
    "Estimate",
    "Judgement",
    "Material",
    "Price",
    "Problem",
    "ProblemKind",
    "Unusable",
    "UnusableKind",
    "Usage",
    "cost",
    "estimate",
]
