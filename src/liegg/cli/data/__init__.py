"""Data files of every kind, read without running anything that they hold."""
