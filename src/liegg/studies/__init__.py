"""The paper's experiments, one module each: data, training, analysis, figures, stored results."""
