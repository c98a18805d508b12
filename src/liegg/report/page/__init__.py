"""The HTML report, from a result alone."""
