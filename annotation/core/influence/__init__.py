"""What suggestions do to labels (docs/influence.md): arms, effects, interim analyses, triage."""
