"""Stage 3, polarization: one pass over the data gives rows, their R factor or Gram matrix, the displacement and diagnostics."""
