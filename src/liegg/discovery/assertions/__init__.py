"""Assertions for test suites, groups by name, and the causes of a broken symmetry."""
