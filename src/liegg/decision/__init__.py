"""Stage 5, decision: how many directions are symmetries, how sure that is, and why."""
