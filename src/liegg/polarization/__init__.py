"""Stage 3: one pass over the data: rows, R factor, Gram matrix, displacement, diagnostics."""
