"""The report in a browser: it opens from disk, fetches nothing, moves samples, and keeps names as text."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import scipy.linalg
import torch

import liegg
from cases import normal
from liegg.report.page.page import write_report
from liegg.report.page.stage import stage_of
from liegg.results.answers import Answers

playwright = pytest.importorskip(
    "playwright.sync_api", reason="the page was not tried in a browser: playwright is not installed"
)
CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
if CHROMIUM is None:
    pytest.skip(
        "the page was not tried in a browser: no chromium is installed", allow_module_level=True
    )

pytestmark = pytest.mark.slow

HOSTILE = "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
ROTATION = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


TEXTS = ("p", ".small", "#spectrum .tick", "a", ".ruler-text")


@pytest.fixture(scope="module")
def screenshots():
    """Folder for images of the pages; None if the environment names none."""
    folder = os.environ.get("LIEGG_SCREENSHOTS")
    if not folder:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)


def blobs(count: int, side: int = 20, seed: int = 0):
    """Smooth images that vanish towards the border."""
    fine = torch.nn.functional.interpolate(
        normal(count, 3, 4, 4, seed=seed), size=(side, side), mode="bicubic"
    )
    axis = torch.linspace(-1, 1, side, dtype=torch.float64)
    return fine * torch.sigmoid(12 * (0.6 - (axis[:, None].square() + axis.square()).sqrt()))


def radial(x):
    side = torch.linspace(-1, 1, x.shape[-1], dtype=x.dtype)
    distance = (side[:, None].square() + side.square()).sqrt()
    rings = torch.stack(
        [torch.exp(-((distance - middle) / 0.2).square()) for middle in (0.0, 0.25, 0.5)]
    )
    return (torch.einsum("bchw,khw->bck", x, rings).flatten(1) / 20).tanh()


@pytest.fixture(scope="module")
def image_page(tmp_path_factory):
    x = blobs(70)
    action = liegg.Image("affine")
    about = list(action.motions(tuple(x.shape[1:])))
    sym = liegg.discover(radial, x[:50], action, held_out=x[50:], about=about, target="classes")
    assert sym.name == "so(2)"
    first, *rest = sym.answers
    return write_report(
        replace(sym, model=HOSTILE, answers=Answers([replace(first, name=HOSTILE), *rest])),
        tmp_path_factory.mktemp("page") / "image.html",
        samples=x[:8],
        title=HOSTILE,
        classes=[f"{HOSTILE} {i}" for i in range(9)],
    )


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


@pytest.fixture
def view(browser):
    """Open a page from disk; any message or request of the page fails the test at its end."""
    seen, views = [], []

    def open_page(path: Path, **options):
        page = browser.new_page(**({"viewport": {"width": 1200, "height": 900}} | options))
        page.on("console", lambda message: seen.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: seen.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: (
                seen.append(request.url)
                if request.url != path.as_uri() and request.url[:5] != "data:"
                else None
            ),
        )
        page.goto(path.as_uri())
        views.append(page)
        return page

    yield open_page
    for page in views:
        page.close()
    assert seen == []


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


def test_the_matrix_exponential_is_that_of_scipy(view, image_page):
    page = view(image_page)
    for n in (2, 3, 6):
        for size in (1e-3, 0.05, 1.0, 20.0):
            a = normal(n, n, seed=n)
            a = size * (a - a.mT + 0.1 * normal(n, n, seed=n + 1)) / n
            result = np.array(page.evaluate("(a) => lieggReport.expm(a)", a.tolist()))
            exact = scipy.linalg.expm(a.numpy())
            error = np.linalg.norm(result - exact) / np.linalg.norm(exact)
            assert error < 1e-14 * max(10.0, 20 * size), (n, size)


def warped(page, stage, motion, t):
    code = """([stage, motion, t]) => {
        const values = Uint8Array.from(atob(stage.samples[0]), (letter) => letter.charCodeAt(0));
        return [...lieggReport.warped(stage, values, motion, t)];
    }"""
    return np.array(page.evaluate(code, [stage, motion, t])).reshape(
        stage["channels"], stage["height"], stage["width"]
    )


def test_images_move_as_the_action_moves_them(view, image_page):
    page, t = view(image_page), 0.9
    x = blobs(1, side=24)[..., 3:]  # taller than wide
    x[..., 5:8, 10:12] += 1.0
    matrices = [
        torch.nn.functional.pad(ROTATION, (0, 1, 0, 1)),
        torch.tensor([[0.0, 0.0, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 0.0]]),
        torch.tensor([[0.4, 0.1, 0.2], [-0.2, 0.1, -0.3], [0.0, 0.0, 0.0]]),
    ]
    borders: list[Literal["replicate", "zeros", "periodic"]] = ["replicate", "zeros", "periodic"]
    for border in borders:
        action = liegg.Image("affine", border=border)
        stage = stage_of(action, x)
        assert stage is not None
        for matrix in matrices:
            found = warped(page, stage, {"place": matrix.tolist(), "colour": None}, t)
            expected = action.act(t * matrix.double(), x)[0].numpy()
            still = np.abs(expected - x[0].numpy()).mean()
            # linear interpolation in the page, splines in the action
            assert np.abs(found - expected).mean() < 0.2 * still, (border, matrix)
            assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.95, (border, matrix)


def test_signals_move_as_the_action_moves_them(view, image_page):
    page, t = view(image_page), 0.4
    place = torch.linspace(-1, 1, 40, dtype=torch.float64)
    x = torch.stack([torch.exp(-((place - 0.2) ** 2) / 0.05), place.sin()])[None]
    borders: list[Literal["replicate", "zeros", "periodic"]] = ["replicate", "zeros", "periodic"]
    for border in borders:
        action = liegg.Sequence("affine", border=border)
        stage = stage_of(action, x)
        assert stage is not None
        for matrix in ([[0.0, 0.5], [0.0, 0.0]], [[0.6, -0.3], [0.0, 0.0]]):
            found = page.evaluate(
                "([stage, motion, t]) => lieggReport.movedSignal(stage, stage.samples[0], motion, t)",
                [stage, {"place": matrix}, t],
            )
            expected = action.act(t * torch.tensor(matrix, dtype=torch.float64), x)[0].numpy()
            still = np.abs(expected - x[0].numpy()).mean()
            assert np.abs(np.array(found) - expected).mean() < 0.1 * still, (border, matrix)


def test_volumes_move_as_the_action_moves_them(view, image_page):
    page = view(image_page)
    x = normal(1, 3, 3, 3)
    x = torch.nn.functional.interpolate(x[None], size=(9, 9, 9), mode="trilinear")[0]
    action = liegg.Volume()
    stage = stage_of(action, x)
    assert stage is not None
    low, high = float(x.min()), float(x.max())
    for plane in range(3):  # quarter rotations in every plane are exact
        matrix = liegg.so(3)[plane]
        expected = action.act(torch.pi / 2 * matrix, x)[0]
        for axis in range(3):
            found = page.evaluate(
                """([stage, motion, t, axis]) => lieggReport.movedSlice(
                    stage, Uint8Array.from(atob(stage.samples[0]), (c) => c.charCodeAt(0)), motion, t, axis)""",
                [stage, {"place": matrix.tolist()}, np.pi / 2, axis],
            )
            slice_ = expected.select(axis, 4).flatten()
            levels = low + (high - low) * np.array(found) / 255
            np.testing.assert_allclose(levels, slice_, atol=(high - low) / 250)


def test_quarter_rotations_are_exact(view, image_page):
    x = blobs(1, side=16)
    stage = stage_of(liegg.Image(), x)
    assert stage is not None
    found = warped(view(image_page), stage, {"place": ROTATION.tolist(), "colour": None}, np.pi / 2)
    np.testing.assert_allclose(
        found, torch.rot90(x[0], 1, (1, 2)), atol=(stage["high"] - stage["low"]) / 400
    )


def test_colours_move_as_the_action_moves_them(view, image_page):
    x = blobs(1, side=12)
    action = liegg.Color()
    matrix = torch.zeros(4, 4, dtype=torch.float64)
    matrix[:3] = 0.3 * normal(3, 4)
    stage = stage_of(action, x)
    assert stage is not None
    found = warped(view(image_page), stage, {"place": None, "colour": matrix.tolist()}, 0.7)
    np.testing.assert_allclose(
        found, action.act(0.7 * matrix, x)[0], atol=(stage["high"] - stage["low"]) / 200
    )


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
