"""Assertions for test suites: a model is invariant, an action obeys its laws, two spans are equal."""

from liegg.testing.assertions import (
    assert_equivariant,
    assert_invariant,
    assert_same_span,
    default_tolerance,
)
from liegg.testing.error import equivariance_error
from liegg.testing.laws import assert_is_action

__all__ = [
    "assert_equivariant",
    "assert_invariant",
    "assert_is_action",
    "assert_same_span",
    "default_tolerance",
    "equivariance_error",
]
