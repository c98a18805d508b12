"""Figures on disk: whole, the same for the same figure, in the formats asked for."""

from itertools import pairwise
from typing import Any

import pytest

import liegg
from liegg._utils.errors import ArgumentError

plot: Any = liegg.plot
"""Untyped: what figures hold is looked into, of which matplotlib's types know little."""

SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def small():
    made = plot.figure(2, 2)
    made.subplots().plot([1, 2, 3], label="δ²")
    return made


@pytest.mark.parametrize("name", ["one", "one.png", "one.svg", "one.PDF"])
def test_both_formats_by_default_whatever_the_ending(tmp_path, name):
    paths = plot.save_figure(small(), tmp_path / "folder" / name)
    assert paths == [tmp_path / "folder" / "one.png", tmp_path / "folder" / "one.svg"]
    assert sorted(path.name for path in (tmp_path / "folder").iterdir()) == ["one.png", "one.svg"]


def test_a_dot_in_a_name_is_no_ending(tmp_path):
    assert plot.save_figure(small(), tmp_path / "layer1.conv", formats=["png"]) == [
        tmp_path / "layer1.conv.png"
    ]


@pytest.mark.parametrize("ending", SIGNATURES)
def test_the_same_figure_gives_the_same_bytes(tmp_path, ending, monkeypatch):
    wholes = []
    for k in range(2):
        monkeypatch.setenv(
            "SOURCE_DATE_EPOCH", str(10**9 * (k + 1))
        )  # what matplotlib takes for the date, where it writes one
        (path,) = plot.save_figure(small(), tmp_path / f"{k}", formats=(ending,))
        wholes.append(path.read_bytes())
    assert wholes[0].startswith(SIGNATURES[ending])
    assert all(one == other for one, other in pairwise(wholes))
    assert b"CreationDate" not in wholes[0]
    assert b"<dc:date>" not in wholes[0]


def test_pdf_holds_its_fonts_as_outlines_that_journals_take(tmp_path):
    (path,) = plot.save_figure(small(), tmp_path / "one", formats="pdf")
    content = path.read_bytes()
    assert b"/Type3" not in content
    assert b"/FontFile2" in content


def test_axes_and_parts_stand_for_their_figure(tmp_path):
    made = plot.figure(2, 2)
    part = made.subfigures(1, 2)[0].subfigures(2, 1)[0]
    ax = part.subplots()
    whole = plot.save_figure(made, tmp_path / "whole", formats=("png",))[0].read_bytes()
    for k, given in enumerate((part, ax)):
        assert plot.save_figure(given, tmp_path / f"{k}", formats=("png",))[0].read_bytes() == whole


def test_axes_that_were_removed_have_no_figure(tmp_path):
    ax = plot.figure().subplots()
    ax.remove()
    with pytest.raises(ArgumentError, match="expected a figure, or axes of one"):
        plot.save_figure(ax, tmp_path / "none")


@pytest.mark.parametrize("formats", [(), ("jpg",), "jpg", ("png", "eps")])
def test_unknown_formats_are_refused(tmp_path, formats):
    with pytest.raises(ArgumentError, match="expected some of 'png', 'svg' and 'pdf'"):
        plot.save_figure(small(), tmp_path / "none", formats=formats)
    assert not list(tmp_path.iterdir())


def test_a_figure_that_cannot_be_drawn_leaves_nothing(tmp_path):
    made = small()
    made.axes[0].set_title(r"$\frac{1$")  # matplotlib refuses that formula when it draws
    (tmp_path / "one.png").write_bytes(b"as it was")
    with pytest.raises(ValueError, match="frac"):
        plot.save_figure(made, tmp_path / "one")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [
        ("one.png", b"as it was")
    ]


def test_what_a_figure_function_returns_can_be_saved(tmp_path, exact):
    paths = plot.save_figure(
        plot.defects(exact), tmp_path / "defects", formats=("png", "svg", "pdf")
    )
    assert [path.suffix for path in paths] == [".png", ".svg", ".pdf"]
    assert all(path.stat().st_size > 5000 for path in paths)
