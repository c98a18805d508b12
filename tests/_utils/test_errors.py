"""Errors in one line."""

from liegg._utils.errors import one_line


def test_one_line():
    assert one_line(ValueError("first thing. second thing\nthird")) == "ValueError: first thing"
    assert one_line(ValueError()) == "ValueError: no message"
