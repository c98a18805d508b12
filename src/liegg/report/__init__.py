"""Figures and the HTML page, from a result alone."""
