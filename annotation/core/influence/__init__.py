"""Effects of suggestions on labels (docs/influence.md): arms, effects, interim analyses, triage."""
