"""Sharing out: shares of work, places that nobody uses, and cases among adjudicators."""
