"""Pages of judges, their runs and prompts."""
