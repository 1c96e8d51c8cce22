"""What agreement of people and scores of models and judges share (docs/design.md, "Statistics")."""
