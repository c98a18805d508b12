"""The report in a browser: it opens from disk, fetches nothing, moves samples, and keeps names as text."""

import json

import numpy as np
import pytest
import torch

import liegg
from browser_cases import HOSTILE
from cases import normal
from liegg.report.page.page import write_report

pytestmark = pytest.mark.slow

TEXTS = ("p", ".small", "#spectrum .tick", "a", ".ruler-text")


@pytest.fixture(scope="module")
def vector_page(tmp_path_factory):
    x = normal(120, 3)
    sym = liegg.discover(lambda x: x.square().sum(1), x[:80], liegg.Linear(3), held_out=x[80:])
    return write_report(sym, tmp_path_factory.mktemp("page") / "vectors.html", samples=x[:6])


@pytest.fixture(scope="module")
def silent_page(tmp_path_factory):
    sym = liegg.discover(
        lambda x: x.prod(1) + x[:, 0] ** 3,
        normal(200, 30).unflatten(1, (10, 3))[:, :1],
        liegg.Affine(3),
    )
    return write_report(
        sym, tmp_path_factory.mktemp("page") / "silent.html", samples=normal(3, 1, 3)
    )


def pixels(page) -> list[str]:
    return page.evaluate(
        "[...document.querySelectorAll('#samples canvas')].map((c) => c.toDataURL())"
    )


def marker(page) -> float:
    """Place of the marker: the line is vertical and the dot is on it."""
    ends = [
        float(page.get_attribute(f"#beside .now-{of}", name))
        for of, name in (("line", "x1"), ("line", "x2"), ("dot", "cx"))
    ]
    assert len(set(ends)) == 1
    return ends[0]


def time(page) -> float:
    return float(page.input_value("#time"))


def until(page, done) -> None:
    """Wait by polling from here: the policy of the page forbids polling inside it."""
    for _ in range(400):
        if done():
            return
        page.wait_for_timeout(25)
    raise AssertionError("it did not happen within ten seconds")


def slide(page, share: float) -> None:
    page.eval_on_selector(
        "#time",
        "(r, share) => { r.value = r.min * 1 + share * (r.max - r.min); r.dispatchEvent(new Event('input')); }",
        share,
    )


def test_the_slider_moves_every_image_and_the_marker(view, image_page):
    page = view(image_page)
    before, start = pixels(page), marker(page)
    assert len(before) == 8
    assert page.inner_text("#now") == "0°"
    slide(page, 0.25)
    after, quarter = pixels(page), marker(page)
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert quarter > start
    slide(page, 0.5)
    assert marker(page) - start == pytest.approx(2 * (quarter - start), rel=0.02)
    assert page.inner_text("#now") == "180°"
    assert page.inner_text("#beside .readout").startswith("180°: ")
    slide(page, 0.0)
    assert pixels(page) == before
    page.focus("#time")
    page.keyboard.press("End")
    assert "360°" in page.inner_text("#now")


def test_hostile_names_stay_text(view, image_page):
    page = view(image_page)
    assert page.evaluate("window.hit") is None
    assert page.inner_text("h1") == HOSTILE
    assert page.title() == HOSTILE
    assert HOSTILE.upper() in page.inner_text(".verdict").upper()
    assert HOSTILE in page.inner_text(".finding")
    assert HOSTILE in page.inner_text("#motion")
    assert HOSTILE in page.inner_text(".prediction >> nth=0")


def test_labels_change_where_the_predictions_do(view, image_page):
    page = view(image_page)
    data = json.loads(page.eval_on_selector("#data", "(s) => s.textContent"))
    motion = data["motions"]["list"][1]
    page.select_option("#motion", "1")
    assert "pixels" in page.inner_text("#now")
    slide(page, 1.0)
    captions = page.query_selector_all(".prediction")
    assert len(captions) == len(motion["predictions"]) == 8
    for caption, row in zip(captions, motion["predictions"], strict=True):
        text = row[0] if row[0] == row[-1] else f"{row[0]} → {row[-1]}"
        assert caption.inner_text() == text
        assert ("changed" in caption.get_attribute("class")) == (row[0] != row[-1])
    page.select_option("#motion", str(len(data["motions"]["list"]) - 1))  # a generator
    assert not any(caption.inner_text() for caption in captions)


def test_keys_move_play_and_stop(view, image_page):
    page = view(image_page)
    page.focus("#time")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    one = time(page)
    assert one > 0
    page.keyboard.press("ArrowLeft")
    assert 0 < time(page) < one
    page.keyboard.press(" ")
    assert page.get_attribute("#play", "aria-pressed") == "true"
    until(page, lambda: time(page) > 2 * one)
    page.keyboard.press(" ")
    assert page.get_attribute("#play", "aria-pressed") == "false"
    stopped, place = time(page), marker(page)
    page.wait_for_timeout(100)
    assert (time(page), marker(page)) == (stopped, place)


def test_the_button_plays_and_space_on_it_stops(view, image_page):
    page = view(image_page)
    before = pixels(page)
    page.click("#play")
    until(page, lambda: time(page) > 0.1)
    assert pixels(page) != before
    page.focus("#play")
    page.keyboard.press(" ")
    assert page.get_attribute("#play", "aria-pressed") == "false"
    stopped = time(page)
    page.keyboard.press("ArrowRight")
    assert time(page) > stopped


def dots(page):
    return page.evaluate(
        "[...document.querySelectorAll('#samples .dot')].map((d) => [d.getAttribute('cx') * 1, d.getAttribute('cy') * 1])"
    )


def test_vectors_rotate_and_axes_can_be_chosen(view, vector_page):
    page = view(vector_page)
    before = np.array(dots(page)) - 200
    assert len(before) == 6
    slide(page, 0.25)
    after = np.array(dots(page)) - 200
    motion = json.loads(
        page.inner_text("#data") or page.eval_on_selector("#data", "(s) => s.textContent")
    )["motions"]["list"][0]
    t, (i, j) = time(page) * motion["longest"] / 200, motion["plane"]
    rotation = torch.linalg.matrix_exp(t * torch.tensor(motion["place"], dtype=torch.float64))[
        [i, j]
    ][:, [i, j]].numpy()
    flip = np.array([1.0, -1.0])  # the y axis of a page points down
    np.testing.assert_allclose(after * flip, before * flip @ rotation.T, atol=0.05)
    page.select_option("#axis-x", "2")
    assert not np.allclose(np.array(dots(page)) - 200, after)
    assert page.input_value("#axis-x") == "2"


def test_another_motion_has_another_curve(view, vector_page):
    page = view(vector_page)
    slide(page, 0.3)
    first = page.get_attribute("#beside svg", "aria-label")
    page.focus("#motion")
    page.select_option("#motion", "1")
    assert page.get_attribute("#beside svg", "aria-label") != first
    assert time(page) == 0


def test_without_a_curve_the_samples_still_move(view, silent_page):
    page = view(silent_page)
    before = dots(page)
    slide(page, 0.9)
    assert dots(page) != before
    assert page.query_selector("#beside svg") is None
    assert "held_out" in page.inner_text("#beside")


def test_charts_tell_their_numbers(view, vector_page):
    page = view(vector_page)
    chart, readout = "#spectrum .chart:first-child svg", "#spectrum .chart:first-child .readout"
    page.hover(f"{chart} .mark:nth-of-type(6)")
    assert "δ² =" in page.inner_text(readout)
    page.focus(chart)
    said = page.inner_text(readout)
    page.keyboard.press("ArrowRight")
    assert page.inner_text(readout) != said


def test_the_basis_can_be_switched(view, vector_page):
    page = view(vector_page)
    assert page.is_visible(".basis-readable")
    assert not page.is_visible(".basis-found")
    page.click("label[for=basis-found]")
    assert page.is_visible(".basis-found")
    assert not page.is_visible(".basis-readable")


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(page, selector: str) -> float:
    pair = page.eval_on_selector(
        selector,
        "(e) => [getComputedStyle(e)[e instanceof SVGElement ? 'fill' : 'color'], getComputedStyle(document.body).backgroundColor]",
    )
    light, dark = sorted(map(luminance, pair), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("which", ["image_page", "vector_page"])
def test_legible_in_every_size_and_colour(view, screenshots, which, request):
    page = view(request.getfixturevalue(which))
    slide(page, 0.1)
    for width, scheme in ((390, "light"), (390, "dark"), (1200, "light"), (1200, "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for selector in TEXTS:
            assert contrast(page, selector) > 4.5, (selector, width, scheme)
        for selector in ("#spectrum .mark.found", "#spectrum .mark.other"):
            assert contrast(page, selector) > 3, (selector, width, scheme)
        tick = page.eval_on_selector("#spectrum .tick", "(e) => e.getBoundingClientRect().height")
        assert tick > 9  # as tall as small print
        if screenshots is not None:
            page.screenshot(path=screenshots / f"{which}-{width}-{scheme}.png", full_page=True)


def test_the_colours_can_be_switched(view, image_page):
    page = view(image_page, color_scheme="light")
    colours = []
    for _ in range(3):
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.click("#theme")
    assert colours[0] == colours[1] != colours[2]


def test_paper_shows_all_bases_and_no_buttons(view, vector_page, screenshots):
    page = view(vector_page, color_scheme="dark", viewport={"width": 800, "height": 1100})
    page.emulate_media(media="print")
    assert page.is_visible(".basis-found")
    assert page.is_visible(".basis-readable")
    assert not page.is_visible("#play")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    if screenshots is not None:
        page.screenshot(path=screenshots / "print.png", full_page=True)


def test_without_a_script_everything_else_is_there(browser, image_page):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(image_page.as_uri())
    assert page.is_visible("#verification .curve")
    assert page.is_visible(".basis-readable")
    assert not page.is_visible("#stage")
    assert page.is_visible("#move noscript p")
    context.close()


def test_the_snippet_can_be_copied(view, vector_page):
    page = view(vector_page)
    page.click("#copy")
    until(page, lambda: page.inner_text("#copy") in ("copied", "selected"))
    assert "liegg.discover(" in page.evaluate("getSelection().toString()")


@pytest.fixture(scope="module")
def many_layers():
    torch.manual_seed(0)
    layers = [part for _ in range(8) for part in (torch.nn.Linear(4, 4), torch.nn.Tanh())]
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), *layers).double()
    return liegg.discover_layers(model, normal(100, 3), liegg.Linear(3))


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_of_layers_and_comparisons_fit_and_read(
    view, many_layers, tmp_path, screenshots, width
):
    about = {"rotation": liegg.so(3), "scaling": liegg.scaling(3)}
    one, other = many_layers[0].invariance, many_layers[-1].invariance
    pages = {
        "layers": many_layers.report(tmp_path / "layers.html", about=about),
        "layer-comparison": liegg.compare(many_layers, many_layers)
        .about(about)
        .report(tmp_path / "layer-comparison.html"),
        "comparison": liegg.compare(one, other).report(tmp_path / "comparison.html"),
    }
    for name, path in pages.items():
        page = view(path, viewport={"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
        assert page.locator(".verdict").bounding_box()["y"] < 300, name
        if screenshots is not None:
            page.screenshot(path=screenshots / f"{name}-{width}.png", full_page=True)
    page = view(pages["layers"], viewport={"width": width, "height": 900})
    chart = page.locator("[data-chart]").first
    chart.focus()
    before = page.locator(".readout").first.inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator(".readout").first.inner_text() != before


def test_the_slices_of_a_volume_share_one_label(view, tmp_path):
    x = normal(30, 1, 6, 6, 6)

    def model(x):
        return torch.stack([x.sum((1, 2, 3, 4)), x[:, 0, 0, 0, 0]], dim=1)

    sym = liegg.discover(model, x, liegg.Volume(), target="classes", about="rotation")
    page = view(write_report(sym, tmp_path / "volume.html", samples=x[:2]))
    figures = page.query_selector_all("figure.sample")
    assert [len(one.query_selector_all("canvas")) for one in figures] == [3, 3]
    labels = [one.inner_text() for one in page.query_selector_all("figure .prediction")]
    assert labels == [str(int(k)) for k in model(x[:2]).argmax(1)]
