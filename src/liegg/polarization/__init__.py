"""Stage 3: one pass over the data gives rows, R factor or Gram matrix, displacement, diagnostics."""
