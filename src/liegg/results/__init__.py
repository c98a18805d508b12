"""Stage 7, results: the frozen records, as text and on disk."""
