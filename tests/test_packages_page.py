"""docs/howto-packages.md shows what its calls print; environments with the other packages run them (`peers/`)."""

import pytest

import pages

PAGE = "docs/howto-packages.md"
SHOWS = {
    "peers": ("(se(3), 6 directions", "on the output: so(3)", "'logits'", "'pred_boxes'"),
    "ani": ("se(3) {'exact'}", "on the output: so(3)"),
    "foreign": ("10 so(5)", "within the stated error: True", "piecewise constant", "in JAX"),
    "emlp": ("10 so(5) {'exact'} - the model is a function in JAX", "10 so(5) {'exact'}"),
}


def text() -> str:
    return (pages.ROOT / PAGE).read_text(encoding="utf-8")


@pytest.mark.parametrize("part", SHOWS)
def test_every_block_that_prints_is_followed_by_its_output(part):
    blocks = pages.blocks(text(), part)
    for block in blocks:
        assert (block.shown is not None) == ("print(" in block.code), f"line {block.line}"
        assert "liegg.discover(" in block.code
    shown = "".join(block.shown or "" for block in blocks)
    assert [words for words in SHOWS[part] if words not in shown] == []


def test_all_blocks_are_in_a_part_that_an_environment_runs():
    assert set(pages.PART.findall(text())) == set(SHOWS)
    assert pages.blocks(text()) == []
    used = "".join(path.read_text(encoding="utf-8") for path in (pages.ROOT / "peers").glob("*.py"))
    assert [part for part in SHOWS if f'shown.check("{part}")' not in used] == []


def test_a_part_is_run_and_rewritten_alone(tmp_path, monkeypatch):
    one = "```python\nprint(1)\n```\n"
    page = f"{one}\n<!-- part: a -->\n\n{one}\n```text\n2\n```\n\n<!-- part: b -->\n\n{one}"
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    printed = pages.run("page.md", tmp_path, "a")
    assert printed == ["1\n"]
    with pytest.raises(AssertionError, match="the page shows '2', the code prints '1'"):
        pages.check("page.md", printed, "a")
    written = pages.rewritten(page, printed, "a")
    assert written == page.replace("2\n", "1\n")
    assert [block.shown for part in ("", "a", "b") for block in pages.blocks(written, part)] == [
        None,
        "1\n",
        None,
    ]
