"""What README and docs show runs as shown."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = (
    "README.md",
    "docs/index.md",
    "docs/sphere.md",
    "docs/images.md",
    "docs/layers.md",
    "docs/naming.md",
    "docs/trust.md",
    "docs/verify.md",
)


def python_blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_examples_run_and_print_what_their_comments_say(page: str, tmp_path: Path) -> None:
    blocks = python_blocks(page)
    assert blocks
    # in a process of its own, where nothing is imported that the page does not import
    done = subprocess.run([sys.executable, "-W", "error", "-c", "\n".join(blocks)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    for promised in re.findall(r"^print\(.*\)  # ([\d ]+)(?:$|:)", "\n".join(blocks), flags=re.MULTILINE):
        assert f"{promised}\n" in printed


def test_the_readme_example_is_fifteen_lines_and_finds_so5(capsys: pytest.CaptureFixture[str]) -> None:
    block = python_blocks("README.md")[0]
    assert len([line for line in block.splitlines() if line.strip()]) <= 15
    names: dict = {}
    exec(compile(block, "README.md", "exec"), names)
    assert names["sym"].nullity == 10
    assert float(names["sym"].angles(names["liegg"].so(5)).max()) < 1e-12
    assert "10 symmetries" in capsys.readouterr().out


def test_every_local_link_and_picture_exists() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_test_file_mirrors_a_source_file() -> None:
    whole = {"architecture", "documentation", "purity", "quoted_numbers", "benchmarks", "gap", "page_browser"}
    for path in (ROOT / "tests").rglob("test_*.py"):
        subject = path.relative_to(ROOT / "tests").with_name(path.name.removeprefix("test_"))
        source = ROOT / "src" / "liegg" / subject
        hidden = source.with_name(f"_{source.name}")
        assert subject.stem in whole or source.exists() or hidden.exists() or subject.stem == "restricted", path.name
