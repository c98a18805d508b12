"""What tables share: the width of the terminal, columns that fit, numbers with few digits."""

import io
import math
import os
import sys

import pytest

from liegg.results.tables import TABLE_WIDTH, Column, decimal, fitted, interval, table_width


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("columns", "width"), [(20, 60), (60, 60), (97, 97), (200, 200), (900, 200)]
)
def test_a_table_fits_the_terminal(columns, width, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    assert table_width() == width
    assert table_width(columns) == width


def test_without_a_terminal_there_is_one_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    closed = io.StringIO()
    closed.close()
    for stream in (io.StringIO(), closed, None, object()):
        monkeypatch.setattr(sys, "stdout", stream)
        assert table_width() == TABLE_WIDTH
    monkeypatch.setenv("COLUMNS", "77")
    assert table_width() == 77


def test_a_terminal_without_a_size_has_the_usual_width(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((0, 0)))
    for text in ("", "wide", "0"):
        monkeypatch.setenv("COLUMNS", text)
        assert table_width() == TABLE_WIDTH


def columns(words, names=()):
    return [
        Column("δ²", ["0.123", "1e-05"], ">"),
        Column("layer", list(names) or ["", ""], names=True),
        Column("motion", words, words=True),
    ]


def test_words_are_cut_at_their_end_and_names_at_their_beginning():
    words, names = ["rotation in x₁–x₂", "scaling"], ["a.b.c.d.e.f.g.conv1", "head"]
    for width in range(30, 60):
        head, first, second = fitted(columns(words, names), width)
        assert max(map(len, (head, first, second))) <= width
        assert "0.123" in first
        assert "1e-05" in second
        assert first.endswith(("…", words[0]))
        assert "conv1" in first
    assert fitted(columns(words, names), 60)[1].split() == ["0.123", names[0], *words[0].split()]


def test_words_without_room_are_left_out_and_numbers_never():
    assert fitted(columns(["rotation", "shear"]), 12) == ["     δ²", "  0.123", "  1e-05"]
    assert fitted([Column("δ²", ["0.123456789"])], 5) == ["  δ²", "  0.123456789"]


def test_columns_without_text_are_left_out():
    assert fitted(columns(["", ""]), 60) == ["     δ²", "  0.123", "  1e-05"]


def test_numbers_have_few_digits_and_rounding_is_zero():
    assert [decimal(value) for value in (0.0, 1.0, 12345.0, 0.000123456)] == [
        "0",
        "1",
        "1.23e+04",
        "0.000123",
    ]
    assert [decimal(1e-20, floor=floor) for floor in (0.0, 1e-20, 1e-10)] == ["1e-20", "0", "0"]
    assert decimal(math.nan) == "–"
    assert decimal(math.inf) == "inf"
    assert interval(0.0, 0.0) == interval(math.nan, 1.0) == ""
    assert interval(0.0, 0.5) == "0 – 0.5"
