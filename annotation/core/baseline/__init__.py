"""The baseline: a judge that needs no network, trained on resolved labels."""
