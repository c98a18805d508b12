"""The images of README and the start page: docs/images/report.png and o5-demo.png.

It runs the demo, stores its report as docs/demo-report.html, opens it in the installed browser
(chromium), and moves the slider.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).parent / "images"
REPORT = Path(__file__).parent / "demo-report.html"
WIDTH, HEIGHT = 1100, 1165
"""Size of the window: the verdict, and the samples with their curve."""

SLIDER_POSITION = 0.3
"""Position of the slider, as a share of its range."""


def main() -> None:
    """Make the report and both images."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("docs/screenshot.py needs a browser: install chromium.")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, "-m", "liegg", "demo", "--quiet", "--out", folder], check=True
        )
        shutil.copyfile(Path(folder) / "o5-demo.png", IMAGES / "o5-demo.png")
        shutil.copyfile(Path(folder) / "report.html", REPORT)
        with sync_playwright() as running:
            started = running.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            page = started.new_page(
                viewport={"width": WIDTH, "height": HEIGHT},
                device_scale_factor=1.25,
                color_scheme="light",
            )
            page.goto(REPORT.resolve().as_uri())
            page.eval_on_selector(
                "#time",
                "(r, t) => { r.value = r.min * 1 + t * (r.max - r.min); r.dispatchEvent(new Event('input')); }",
                SLIDER_POSITION,
            )
            page.screenshot(path=IMAGES / "report.png")
            started.close()


if __name__ == "__main__":
    main()
