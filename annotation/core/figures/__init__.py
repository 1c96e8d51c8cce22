"""Figures common to the agreement of people and to scores of models and judges (docs/design.md,
"Statistics")."""
