"""Pages in a browser: they open from disk, and any message or request of a page fails the test."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import liegg
from browser_cases import HOSTILE, blobs
from liegg.report.page.page import write_report
from liegg.results.answers import Answers

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


@pytest.fixture(scope="session")
def browser():
    reason = "the page was not tried in a browser"
    playwright = pytest.importorskip(
        "playwright.sync_api", reason=f"{reason}: playwright is not installed"
    )
    if CHROMIUM is None:
        pytest.skip(f"{reason}: no chromium is installed")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def screenshots():
    """Folder for images of the pages; None if the environment names none."""
    folder = os.environ.get("LIEGG_SCREENSHOTS")
    if not folder:
        return None
    Path(folder).mkdir(parents=True, exist_ok=True)
    return Path(folder)


def radial(x):
    side = torch.linspace(-1, 1, x.shape[-1], dtype=x.dtype)
    distance = (side[:, None].square() + side.square()).sqrt()
    rings = torch.stack(
        [torch.exp(-((distance - middle) / 0.2).square()) for middle in (0.0, 0.25, 0.5)]
    )
    return (torch.einsum("bchw,khw->bck", x, rings).flatten(1) / 20).tanh()


@pytest.fixture(scope="session")
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
