"""Files of decisions: one history each and candidates for the next action, with a key of which is better."""
