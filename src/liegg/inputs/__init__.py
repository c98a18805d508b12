"""Stage 1: the user's data and model become re-iterable batches and a probed pure function."""
