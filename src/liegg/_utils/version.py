"""The version, kept where nothing heavy is imported."""

__version__ = "0.2.0"
