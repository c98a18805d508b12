"""What README and docs show runs as shown."""

import re
from pathlib import Path

import pytest

import pages

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
    *pages.SHOWN,
)

PICTURE_BYTES = 150_000
"""Largest picture of a page."""


def python_blocks(page: str) -> list[str]:
    return re.findall(
        r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL
    )


@pytest.mark.parametrize("page", PAGES)
def test_examples_run_and_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    blocks = python_blocks(page)
    assert blocks
    # in a process of its own, where nothing is imported that the page does not import
    printed = pages.run(page, tmp_path)
    pages.check(page, printed)
    for promised in re.findall(
        r"^print\(.*\)  # ([\d ]+)(?:$|:)", "\n".join(blocks), flags=re.MULTILINE
    ):
        assert f"{promised}\n" in "".join(printed)
    if page in pages.SHOWN:
        for block, said in zip(
            pages.blocks((ROOT / page).read_text(encoding="utf-8")), printed, strict=True
        ):
            assert bool(said) == (block.shown is not None), (
                f"{page}, line {block.line}: shown and printed differ"
            )
    for name in pages.pictures(page):
        assert (tmp_path / name).stat().st_size < PICTURE_BYTES
        assert (ROOT / "docs" / "images" / name).stat().st_size < PICTURE_BYTES


def test_outputs_are_the_same_in_words_and_nearly_in_numbers() -> None:
    assert not pages.difference("δ² up to 0.0140\n   3 of 9", "δ² up to 0.0143\n3 of 9 ")
    assert not pages.difference("r at most 3e-24, -0.", "r at most 7e-31, 0.")
    assert "'3'" in pages.difference("3 of 9", "4 of 9")
    assert "'0.014'" in pages.difference("up to 0.014", "up to 0.016")
    assert "'1'" in pages.difference("turn 1", "turn -1")
    assert "strong" in pages.difference("3 strong", "3 weak")
    assert "more" in pages.difference("3", "3 more")
    assert "so(#)" in pages.difference("so(3)", "so(1,3)")
    assert pages.difference("x₁", "x₂")


def test_a_stale_output_fails_and_is_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "One.\n\n```python\nn = 2\nprint(n)\n```\n\n```text\n3\n```\n\nTwo.\n\n```python\nprint(n + 1)\n```\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    printed = pages.run("page.md", tmp_path)
    assert printed == ["2\n", "3\n"]
    with pytest.raises(
        AssertionError, match=r"page.md, after line 3: the page shows '3', the code prints '2'"
    ):
        pages.check("page.md", printed)
    (tmp_path / "page.md").write_text(pages.rewritten(text, printed), encoding="utf-8")
    pages.check("page.md", printed)
    assert [
        block.shown for block in pages.blocks((tmp_path / "page.md").read_text(encoding="utf-8"))
    ] == ["2\n", "3\n"]


def test_an_error_or_a_warning_names_the_line_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    for statement, named in (
        ("1 / 0", "ZeroDivisionError"),
        ("import warnings; warnings.warn('old')", "UserWarning: old"),
    ):
        (tmp_path / "page.md").write_text(
            f"Text.\n\n```python\n{statement}\n```\n", encoding="utf-8"
        )
        with pytest.raises(AssertionError, match=rf'(?s)"page.md", line 4.*{named}'):
            pages.run("page.md", tmp_path)


def test_the_readme_example_is_fifteen_lines_and_finds_so5(
    capsys: pytest.CaptureFixture[str],
) -> None:
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
    whole = {
        "architecture",
        "documentation",
        "purity",
        "quoted_numbers",
        "benchmarks",
        "gap",
        "page_browser",
        "channels_last",
        "identify_noise",
    }
    for path in (ROOT / "tests").rglob("test_*.py"):
        if "gpu" in path.parts:  # they mirror what a GPU changes
            continue
        subject = path.relative_to(ROOT / "tests").with_name(path.name.removeprefix("test_"))
        source = ROOT / "src" / "liegg" / subject
        hidden = source.with_name(f"_{source.name}")
        assert (
            subject.stem in whole
            or source.exists()
            or hidden.exists()
            or subject.stem == "restricted"
        ), path.name
