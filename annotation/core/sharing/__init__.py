"""Who gets what: shares of work, places that nobody uses, and cases among adjudicators."""
