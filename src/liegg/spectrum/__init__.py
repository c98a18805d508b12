"""Stage 4, spectrum: from the R factor and the displacement to the paper's spectrum and the scale-free defects."""
