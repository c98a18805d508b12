"""Pages of layers and of comparisons: the answer first, every number, nothing fetched, every text escaped."""

import re
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError, MissingExtraError
from liegg.report.numbers import number
from liegg.report.page.charts import Panel, Series, over_layers
from liegg.report.page.comparisons import comparison_html, layer_comparison_html
from liegg.report.page.layers import layers_html

HOSTILE = '</script><img src=x onerror="hit()">&'
ABOUT = {"rotation": liegg.so(3), "scaling": liegg.scaling(3)}


class Norm(nn.Module):
    def forward(self, x):
        return x.norm(dim=1, keepdim=True)


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 3), Norm(), nn.Linear(1, 4), nn.Tanh()).double()


@pytest.fixture(scope="module")
def found():
    action = liegg.Linear(3)
    return liegg.discover_layers(network(), normal(200, 3), action, output_action=action)


@pytest.fixture(scope="module")
def other():
    action = liegg.Linear(3)
    return liegg.discover_layers(
        network(1)[:3], normal(200, 3, seed=1), action, output_action=action
    )


def verdict(html):
    (text,) = re.findall(r'<p class="verdict[^>]*>([^<]*)</p>', html)
    return text


def test_the_first_sentence_says_where_the_symmetry_is(found, tmp_path):
    path = found.report(tmp_path / "new" / "layers.html")
    html = path.read_text(encoding="utf-8")
    assert verdict(html) == found.sentence.partition(". ")[0].removesuffix(".") + "."
    assert found.remarks()[0].values["layer"] in verdict(html)
    assert "<h1>Layers of Sequential</h1>" in html
    body = html.partition("</style>")[2].partition("<script>")[0]
    assert not re.search(r"https?:|//[a-z]", body)


def test_named_motions_come_first_and_have_a_chart_and_columns(found):
    html = layers_html(found, about=ABOUT, title="Ours")
    assert verdict(html).startswith("Rotation")
    assert "<h1>Ours</h1>" in html
    assert "defect δ² of named motions" in html
    for values, interval in ((one.values, one.intervals) for one in found.about(ABOUT)):
        assert f"{number(float(values[0]))} ({number(float(interval[0, 0]))} – " in html


def test_texts_are_escaped(found, other):
    hostile = replace(
        found,
        model=HOSTILE,
        layers=tuple(replace(one, name=HOSTILE + one.name, kind=HOSTILE) for one in found),
    )
    pages = [
        layers_html(hostile, about={HOSTILE: liegg.so(3)}, title=HOSTILE),
        layer_comparison_html(liegg.compare(hostile, hostile).about({HOSTILE: liegg.so(3)})),
        comparison_html(liegg.compare(*(replace(found[0].invariance, model=HOSTILE),) * 2)),
    ]
    for html in pages:
        assert "<img" not in html
        assert html.count("</script>") == 2


def test_comparisons_of_layers(found, other, tmp_path):
    comparison = liegg.compare(found, other).about(ABOUT)
    html = comparison.report(tmp_path / "c.html", title="Two").read_text(encoding="utf-8")
    assert "<h1>Two</h1>" in html
    assert html.count("defect δ² of rotation of every layer") >= 1
    assert html.count('<th scope="row">') == len(comparison.pairs)
    assert "only a has 3" in html


def test_comparisons_draw_intervals(tmp_path):
    x = normal(300, 3)
    cubic = torch.tensor([1.0, 1.3, 0.7], dtype=torch.float64)
    ball = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3))
    egg = liegg.discover(lambda x: x.square().sum(1) + 0.04 * (x**3 @ cubic), x, liegg.Linear(3))
    comparison = liegg.compare(ball, egg)
    html = comparison.report(tmp_path / "c.html").read_text(encoding="utf-8")
    assert verdict(html) == comparison.sentence
    assert html.count('class="strip"') == 2 + len(comparison.directions)  # axis and mean
    assert html.count('<g class="mark s1"><line class="whisker"') == 1 + len(comparison.directions)
    assert html.count('<g class="mark s0"><line') == 0  # exact: no interval
    assert "0 (exact)" in html
    assert "built-in method" not in html


def test_nothing_to_compare_and_undecided_layers():
    few = liegg.discover(lambda x: x[:, :1], normal(2, 3), liegg.Linear(3))
    assert "Not decided" in comparison_html(liegg.compare(few, few))
    layers = liegg.discover_layers(nn.Linear(3, 1).double(), normal(2, 3), liegg.Linear(3))
    assert "undecided" in verdict(layers_html(layers))
    assert "undecided" in layer_comparison_html(liegg.compare(layers, layers))


def test_what_cannot_be_written(found, tmp_path, monkeypatch):
    with pytest.raises(ArgumentError, match="about"):
        found.report(tmp_path / "x.html", about={"rotation": liegg.so(4)})
    with pytest.raises(ArgumentError, match="a path"):
        found.report(3)
    assert not any(tmp_path.iterdir())
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match="liegg\\[report\\]"):
        found.report(tmp_path / "x.html")


def test_charts_over_layers_place_values_and_leave_gaps():
    nan = float("nan")
    series = Series("a", [1.0, nan, 0.01], [[0.5, 2.0], [nan, nan], [nan, nan]])
    chart = over_layers(["x", "y", "z"], [Panel("t", [series], {"line": 0.1})])
    (panel,) = chart["panels"]
    (drawn,) = panel["series"]
    place = panel["place"]
    assert [mark["y"] for mark in drawn["marks"]] == [place(1.0), place(0.01)]
    assert drawn["marks"][0]["whisker"] == (place(0.5), place(2.0))
    assert drawn["marks"][1]["whisker"] is None
    assert panel["rulers"][0]["y"] == place(0.1)
    counts = over_layers(["x"], [Panel("n", [Series("a", [3.0])], counts=True)])["panels"][0]
    assert [text for _, text in counts["y_ticks"]] == ["0", "1", "2", "3"]
    exact = over_layers(["x", "y"], [Panel("t", [Series("a", [0.0, 1.0])], decades=6)])["panels"][0]
    assert exact["low"] == pytest.approx(exact["high"] * 1e-6)
