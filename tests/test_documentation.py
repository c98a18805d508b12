"""The examples of README and documentation run and print what the pages show."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import liegg
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

MAX_IMAGE_BYTES = 150_000
"""Largest size of an image on a page."""


def python_blocks(page: str) -> list[str]:
    return re.findall(
        r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL
    )


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_examples_run_and_print_what_the_page_says(page: str, tmp_path: Path) -> None:
    blocks = python_blocks(page)
    assert blocks
    # in its own process, where only the imports of the page are available
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
    for name in pages.images(page):
        assert (tmp_path / name).stat().st_size < MAX_IMAGE_BYTES
        assert (ROOT / "docs" / "images" / name).stat().st_size < MAX_IMAGE_BYTES


def test_outputs_are_the_same_in_words_and_nearly_in_numbers() -> None:
    assert not pages.difference("δ² up to 0.0140\n   3 of 9", "δ² up to 0.0143\n3 of 9 ")
    assert not pages.difference("r at most 3e-24, -0.", "r at most 7e-31, 0.")
    assert "'3'" in pages.difference("3 of 9", "4 of 9")
    assert "'0.014'" in pages.difference("up to 0.014", "up to 0.016")
    assert "'1'" in pages.difference("angle 1", "angle -1")
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


def test_the_readme_example_has_five_statements_and_finds_so5(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = python_blocks("README.md")[0]
    assert len(ast.parse(block).body) <= 6  # one of them the import
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(block, "README.md", "exec"), names)
    assert names["sym"].nullity == 10
    assert float(names["sym"].angles(names["liegg"].so(5)).max()) < 1e-12
    assert "10 symmetries" in capsys.readouterr().out
    assert (tmp_path / "report.html").stat().st_size > 0


def test_the_citation_names_this_version() -> None:
    assert f"version: {liegg.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_local_link_and_image_exists() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text) + re.findall(r'src="(.+?)"', text)
        for target in links:
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_test_folders_mirror_the_source() -> None:
    own = {"browser", "gpu", "recorded", "reliability"}  # tests that look at many folders at once
    folders = {path.parent.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*")}
    missing = [
        str(folder)
        for folder in folders
        if not own & set(folder.parts) and not (ROOT / "src" / "liegg" / folder).is_dir()
    ]
    assert missing == []


def test_the_reference_names_what_exists() -> None:
    names = {
        name
        for page in (ROOT / "docs" / "api").glob("*.md")
        for name in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(names) > 50
    assert {name for name in names if not _exists(name)} == set()
    assert not _exists("liegg.discover.nothing")
    assert not _exists("liegg.nothing")


def _exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = getattr(found, part, None)
        return found is not None
    return False
