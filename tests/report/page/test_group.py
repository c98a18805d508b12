# pyright: reportOptionalSubscript=false
"""The page of a group."""

import json
import re

import pytest
import torch

import liegg
from cases import normal
from found_groups import QUARTER, element, square_group, with_continuous
from liegg._utils.errors import ArgumentError
from liegg.report.page.group import group_html, orbit_drawing, table_drawing
from liegg.report.page.group_stage import drawing, labels, moved


def data_of(html):
    """What the script reads."""
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.S)[1])["group"]


def norm(x):
    return x.abs().sum(1)


def test_buttons_apply_each_element_with_its_prediction():
    found, x = square_group(chiral=True), normal(6, 2)
    scene = data_of(group_html(found, samples=x, model=norm))
    assert scene["kind"] == "points"
    assert scene["words"] == [*found.words, "reflection y → −y"]
    assert len(scene["samples"]) == 4
    place = scene["words"].index("rotation by 90°")
    turned = torch.tensor(scene["moved"][place])[:, 0]
    torch.testing.assert_close(turned.double(), x[:4] @ QUARTER.mT, rtol=0, atol=1e-3)
    assert scene["labels"] == scene["moved_labels"][place]


def test_the_page_says_the_finding_first():
    html = group_html(square_group(), title="Square <net>")
    assert "Square &lt;net&gt;" in html
    assert html.index("D₄: 8 elements hold") < html.index("Elements</h2>")
    assert html.count("<rect") == 64
    assert "Apply an element" not in html
    assert html == group_html(square_group(), title="Square <net>")


def test_texts_of_the_model_cannot_end_the_script():
    found = square_group(model="</script><b>")
    html = group_html(found, samples=normal(3, 2))
    assert "</script><b>" not in html


def test_slots_and_continuous_parts_are_shown(tmp_path):
    found, x = with_continuous()
    path = found.report(tmp_path / "group.html", samples=x, model=lambda x: x.square().sum(2))
    html = path.read_text(encoding="utf-8")
    assert "O(2) × S₂" in html
    assert "Rotations by other angles" in html
    scene = data_of(html)
    place = scene["words"].index("swaps slots 1 and 2")
    assert scene["moved"][place][0][0] == scene["samples"][0][1]
    assert scene["labels"][0].startswith("(")


def test_samples_are_drawn_by_what_moves_them():
    images = torch.rand(2, 5, 5).double()
    assert drawing(liegg.Image(), images)[0] == "image"
    assert drawing(liegg.Image(), images[:, None])[0] == "image"
    assert drawing(liegg.Linear(5), normal(2, 5))[0] == "bars"
    assert drawing(liegg.Linear(3, copies=4), normal(2, 12))[0] == "points"


def test_predictions_are_classes_or_numbers():
    x = normal(3, 2)
    assert labels(None, x, None) is None
    assert labels(lambda x: x[:, :1], x, None) == [
        f"{v:.3g}".replace("-", "−") for v in x[:, 0].tolist()
    ]
    five = lambda x: torch.eye(5).double()[[1, 2, 3]]  # noqa: E731
    assert labels(five, x, None) == ["1", "2", "3"]
    assert labels(five, x, ["a", "b", "c"]) == ["b", "c", "3"]
    assert labels(lambda x: {"y": x}, x, None) is None


def test_samples_of_another_shape_are_refused():
    with pytest.raises(ArgumentError, match=r"expected \[b, 2\]"):
        group_html(square_group(), samples=normal(3, 3))
    with pytest.raises(ArgumentError, match="does not act on such samples"):
        moved(element(torch.eye(4).double(), "x"), liegg.Linear(2), normal(3, 2))


def test_drawings_of_large_and_trivial_groups_are_left_out():
    from liegg.algebra import close

    assert table_drawing(close(torch.eye(2)[None])) is None
    assert orbit_drawing(close(torch.eye(2)[None])) is None
    open_ = close(torch.tensor([[[1.0, 1.0], [0.0, 1.0]]]))
    assert table_drawing(open_) is None
    assert "No element but the identity" in group_html(square_group(elements=(), group=None))
