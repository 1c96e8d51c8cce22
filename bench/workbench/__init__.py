"""The workbench in a real browser: presses a step, vigilance, latency."""
