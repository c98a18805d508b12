# pyright: reportArgumentType=false
"""Groups as text, as JSON values and on disk."""

import json

import pytest
import torch

import liegg
from found_groups import square_group, with_continuous
from liegg._utils.errors import RecordError
from liegg.results import load_group
from liegg.results.run_folder import add_page, read_run, write_run

FOUND, SAMPLES = with_continuous()


@pytest.mark.parametrize("found", [square_group(), square_group(chiral=True), FOUND])
def test_everything_comes_back_from_disk(found, tmp_path):
    again = liegg.load(found.save(tmp_path / "group"))
    assert again.to_dict() == found.to_dict()
    assert str(again) == str(found)
    for one, other in zip(found.elements, again.elements, strict=True):
        assert torch.equal(one.matrix, other.matrix)
        assert (one.interval, one.kinds, one.component) == (
            other.interval,
            other.kinds,
            other.component,
        )
    assert (again.continuous is None) == (found.continuous is None)
    assert repr(again) == repr(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_infinite_ends_of_intervals_come_back(tmp_path):
    again = liegg.load(square_group().save(tmp_path))
    assert again.rejected[0].interval == (0.0, float("inf"))
    assert again.rejected[0].effect != again.rejected[0].effect
    assert again.not_testable == again.rejected


def test_a_run_folder_holds_a_group_beside_its_result(tmp_path):
    sym = FOUND.continuous
    write_run(tmp_path / "run", sym, samples=SAMPLES, group=FOUND)
    page = add_page(tmp_path / "run", FOUND, samples=SAMPLES)
    assert page.name == "group.html"
    assert isinstance(liegg.load(tmp_path / "run"), liegg.Symmetries)
    assert load_group(tmp_path / "run").name == FOUND.name
    stored = read_run(tmp_path / "run")
    assert stored.group is not None
    assert stored.group.to_dict() == FOUND.to_dict()
    assert FOUND.sentence in (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")
    write_run(tmp_path / "run", sym)
    assert read_run(tmp_path / "run").group is None


def test_damage_is_named(tmp_path):
    folder = square_group().save(tmp_path / "group")
    (folder / "group.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RecordError):
        liegg.load(folder)
    with pytest.raises(RecordError, match=r"found\.save"):
        load_group(tmp_path)


def test_the_table_says_what_holds_and_what_does_not():
    text = square_group(chiral=True).table(width=100)
    assert text.splitlines()[0] == "C₄: 4 elements hold up to rounding (exact)."
    assert "group: C₄ (order 4)" in text
    assert "tried, and no symmetries or not testable:" in text
    row = next(line for line in text.splitlines() if "reflection y → −y" in line)
    assert "0.31" in row
    assert "20 %" in row
    assert "–" in square_group().table()  # not testable
    assert "slots: S₂ on the slots 1–2" in FOUND.table()
    assert "smallest circular shift along each axis: 2, none" in FOUND.table()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_table_fits_the_terminal(width):
    for found in (square_group(), FOUND):
        assert max(map(len, found.table(width=width).splitlines())) <= width


def test_a_notebook_shows_the_table():
    assert "<pre" in square_group()._repr_html_()
    assert repr(square_group()) == "GroupSymmetries(name='D₄', order=8, model='Net')"
