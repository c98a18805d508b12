"""Helper code that does not know about symmetries."""
