"""Page, notebook and figures of an action without matrices: coefficients with its own words."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import liegg
from cases import normal
from liegg.actions import Action
from liegg.report.page.generators import bases, trivial_directions
from liegg.report.page.page import notebook_html, report_html
from liegg.report.page.snippet import snippet_of
from liegg.report.page.stage import stage_of

plot: Any = liegg.plot


class Plane(Action):
    """Four vector fields of the plane: ∂x, 2x∂y, ∂y, y∂x."""

    @property
    def size(self):
        return 4

    @property
    def words(self):
        return ("∂x", "2x∂y", "∂y", "y∂x")

    @property
    def stage(self):
        return "points"

    def fields(self, x):
        a, b = x.unbind(1)
        one, zero = torch.ones_like(a), torch.zeros_like(a)
        pairs = [(one, zero), (zero, 2 * a), (zero, one), (b, zero)]
        return torch.stack([torch.stack(pair, dim=1) for pair in pairs], dim=1)


@pytest.fixture(scope="module")
def parabola():
    """sin(y - x²), which only ∂x + 2x∂y keeps."""
    x = normal(200, 2)
    model = lambda x: torch.sin(x[:, 1] - x[:, 0].square())  # noqa: E731
    sym = liegg.discover(model, x[:150], Plane())
    return replace(sym, verification=liegg.verify(model, x[150:], sym, points=4, controls=2))


@pytest.fixture(scope="module")
def asymmetric():
    model = lambda x: torch.sin(x[:, 0] + 2 * x[:, 1] * x[:, 0] ** 2)  # noqa: E731
    return liegg.discover(model, normal(150, 2), Plane())


def test_cards_list_coefficients_with_the_words_of_the_action(parabola, asymmetric):
    (basis,) = bases(parabola, parabola.to_dict())
    (card,) = basis["cards"]
    assert (card["matrix"], card["field"]) == (None, None)
    assert {name for name, _ in card["terms"][:2]} == {"∂x", "2x∂y"}
    assert card["words"] == parabola.words[0]
    assert asymmetric.nullity == 0
    assert bases(asymmetric, asymmetric.to_dict())[0]["cards"][0]["terms"]
    assert trivial_directions(parabola) == []


def test_the_page_is_complete_and_says_what_it_cannot_draw(parabola, asymmetric):
    x = normal(3, 2)
    stage = stage_of(parabola.action, x)
    assert stage is not None
    assert stage["kind"] == "none"
    for sym in (parabola, asymmetric):
        text = report_html(sym, samples=x)
        assert "∂x" in text
        assert "liegg.plot.motion" in text
        assert str(sym.nullity) in notebook_html(sym)
    assert "discover(model, data, action" in snippet_of(parabola)


def test_figures(parabola):
    for fig in (
        plot.generators(parabola),
        plot.generators(parabola, basis="readable"),
        plot.overview(parabola),
    ):
        fig.draw_without_rendering()
    image = plot.generators(parabola).axes[0].images[0].get_array()
    np.testing.assert_array_equal(np.asarray(image), parabola.coefficients.numpy())
    ax = plot.field(parabola)
    assert len(ax.texts) == 1
    assert not ax.collections
    for draw in (plot.spectrum, plot.defects, plot.controls, plot.verification):
        draw(parabola).figure.draw_without_rendering()


def test_a_film_strip_follows_the_flow(parabola):
    x = normal(2, 2)
    fig = plot.motion(parabola, x, steps=3)
    extent = parabola.verification.curves[0].longest
    t = min(extent, 1.0)
    moved = parabola.action.act(t * parabola.coefficients[0], x).numpy()
    marks = [line for line in fig.axes[-1].lines if line.get_marker() not in ("", "None")]
    drawn = np.array([[line.get_xdata()[0], line.get_ydata()[0]] for line in marks])
    np.testing.assert_allclose(drawn, moved, rtol=1e-6)
