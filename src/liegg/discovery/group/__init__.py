"""Finite symmetries: which elements, beyond one-parameter motions, leave the output as it is."""
