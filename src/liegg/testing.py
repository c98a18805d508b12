"""Assertions for test suites: a model is invariant, an action obeys its laws, two spans are equal."""

from liegg.discovery.assertions.assertions import (
    assert_equivariant,
    assert_invariant,
    assert_same_span,
)
from liegg.discovery.assertions.elements import default_tolerance
from liegg.discovery.assertions.error import equivariance_error
from liegg.discovery.assertions.laws import assert_is_action

__all__ = [
    "assert_equivariant",
    "assert_invariant",
    "assert_is_action",
    "assert_same_span",
    "default_tolerance",
    "equivariance_error",
]
