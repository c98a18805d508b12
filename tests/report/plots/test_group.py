# pyright: reportOptionalMemberAccess=false, reportOptionalSubscript=false
"""Figures of groups: the multiplication table and the orbit."""

import pytest
import torch

import liegg
from found_groups import MIRROR, QUARTER, square_group, with_continuous
from liegg._utils.errors import ArgumentError
from liegg.algebra import close
from liegg.report.plots.group import flat_orbit, orbit_points

SQUARE = close(torch.stack([QUARTER, MIRROR]), coordinates=["x", "y"])
CUBE = close(
    torch.stack(
        [
            torch.eye(3)[[1, 2, 0]],
            torch.diag(torch.tensor([-1.0, 1.0, 1.0])),
            torch.eye(3)[[1, 0, 2]],
        ]
    )
)


def test_the_table_has_every_product():
    ax = liegg.plot.multiplication_table(square_group())
    image = ax.images[0].get_array()
    assert image.shape[:2] == (8, 8)
    # Equal colours are equal elements.
    colours = {tuple(image[0, j]): j for j in range(8)}
    assert len(colours) == 8
    assert [
        [colours[tuple(image[i, j])] for j in range(8)] for i in range(8)
    ] == SQUARE.table.tolist()
    assert ax.get_title() == "D₄"
    assert ax.get_yticklabels()[0].get_text().startswith("identity")
    assert len(ax.texts) == 64


def test_larger_groups_have_no_names_beside_the_table():
    ax = liegg.plot.multiplication_table(CUBE)
    assert CUBE.name == "O_h"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1", "48"]
    assert not ax.texts


def test_what_has_no_table_is_said():
    open_ = close(torch.tensor([[[1.0, 1.0], [0.0, 1.0]]]))
    assert "does not close" in liegg.plot.multiplication_table(open_).texts[0].get_text()
    nothing = square_group(group=None, elements=())
    assert "No group" in liegg.plot.multiplication_table(nothing).texts[0].get_text()
    assert "No group" in liegg.plot.orbit(nothing).texts[0].get_text()


def test_an_orbit_has_as_many_points_as_elements():
    points = orbit_points(SQUARE)
    assert len(torch.unique(points.round(decimals=6), dim=0)) == 8
    torch.testing.assert_close(points.norm(dim=1), points[0].norm().expand(8))
    assert "orbit of 8 points" in liegg.plot.orbit(SQUARE).get_title()
    assert "orbit of 4 points" in liegg.plot.orbit(SQUARE, torch.tensor([1.0, 0.0])).get_title()
    assert "orbit of 48 points" in liegg.plot.orbit(CUBE).get_title()
    assert flat_orbit(CUBE).shape == (48, 2)
    line = close(-torch.ones(1, 1, 1))
    assert flat_orbit(line).shape == (2, 2)
    found, _ = with_continuous()
    assert liegg.plot.orbit(found).get_xlabel() == "x1"


def test_affine_orbits_turn_about_their_centre():
    turn = torch.eye(3).double()
    turn[:2, :2], turn[:2, 2] = QUARTER, torch.tensor([2.0, 0.0])
    group = close(turn[None], homogeneous=True)
    points = orbit_points(group, torch.tensor([1.0, 1.0]))
    torch.testing.assert_close(points, points[:1].expand(4, 2))  # the fixed point


@pytest.mark.parametrize("point", [torch.zeros(3), torch.full((2,), torch.nan)])
def test_bad_points_are_refused(point):
    with pytest.raises(ArgumentError, match="finite"):
        liegg.plot.orbit(SQUARE, point)


def test_figures_are_written(tmp_path):
    paths = liegg.plot.save_figure(liegg.plot.orbit(SQUARE), tmp_path / "orbit")
    assert all(path.stat().st_size > 1000 for path in paths)
