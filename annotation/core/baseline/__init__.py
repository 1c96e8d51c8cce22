"""The baseline: a judge that needs no network, a logistic regression trained on resolved labels."""
