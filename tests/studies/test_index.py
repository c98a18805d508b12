"""The page of results: what is on it, that it needs nothing else, and that nothing gets in unescaped."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from liegg._utils.errors import LieggError, MissingExtraError, ResultsError
from liegg.studies.index import STUDY_TEXTS, write_index
from studies.claims import planted

EMPTY = {"br", "col", "img", "meta"}


class Page(HTMLParser):
    """Elements, attributes and text of a page; refuses tags that do not close."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(self.source)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text = " ".join(f"{self.text} {data}".split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def draw(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_bytes(b"")


@pytest.fixture
def folder(tmp_path):
    return planted.store(tmp_path, *planted.everything().values())


def test_every_study_with_results_has_a_section(folder):
    page = Page(write_index(folder))
    assert [attributes["id"] for attributes in page.all("h2")] == [
        "claims",
        *(study.name for study in STUDY_TEXTS),
    ]
    for study in STUDY_TEXTS:
        assert study.title in page.text
        assert study.description in page.text
        assert f"liegg reproduce {study.name} " in page.text
    assert page.text.count("2026-11-15, 1,234.5 s on cpu, 8 seeds") == len(STUDY_TEXTS)
    assert page.text.count("liegg 0.1.0, torch 2.13.0") == len(STUDY_TEXTS)


def test_studies_without_results_have_none(tmp_path):
    planted.store(tmp_path, planted.o5())
    page = Page(write_index(tmp_path))
    assert [attributes["id"] for attributes in page.all("h2")] == ["claims", "o5"]
    assert "no results of rotmnist; type `liegg reproduce rotmnist`" in page.text


def test_a_new_folder_says_how_to_begin(tmp_path):
    page = Page(write_index(str(tmp_path / "new" / "folder")))
    assert "No study has been run here yet. Begin with liegg reproduce o5 ." in page.text
    assert [attributes["id"] for attributes in page.all("h2")] == ["claims"]


def test_the_claims_stand_in_a_table_with_both_readings(folder):
    (folder / "layerwise.json").unlink()
    page = Page(write_index(folder))
    rows = page.source.split("<tr")[2:]
    depth = next(row for row in rows if "configurations-depth-variance" in row)
    assert re.findall(r'class="verdict ([a-z-]+)">([a-z ]+)<', depth) == [
        ("holds", "holds"),
        ("does-not-hold", "does not hold"),
    ]
    assert re.findall(r'data-label="([a-z ]+)"', depth) == [
        "paper",
        "summed outputs",
        "each output",
    ]
    single = next(row for row in rows if "o5-ten" in row)
    assert re.findall(r'data-label="([a-z ]+)"( colspan="2")?', single) == [
        ("paper", ""),
        ("one output", ' colspan="2"'),
    ]
    open_ones = next(row for row in rows if "layers-training" in row)
    assert re.findall(r'data-label="([a-z ]+)"', open_ones) == ["paper", "both readings"]
    assert "28 hold, 3 do not hold, 6 not run." in page.text
    assert "quick run" not in page.text


def test_quick_runs_are_marked_in_the_table_and_in_their_section(folder):
    planted.store(folder, planted.cifar10() | {"quick": True})
    page = Page(write_index(folder))
    assert (
        page.source.count('<span class="quick">quick run</span>') == 1 + 1
    )  # its claim under both readings, and its heading
    assert page.text.count("A quick run has few, small networks") == 1


def test_only_figures_that_exist_are_linked(folder):
    draw(
        folder, "o5.png", "o5.svg", "rotmnist-spectrum.png", "cifar10-rotations.svg", "unknown.png"
    )
    page = Page(write_index(folder))
    assert [image["src"] for image in page.all("img")] == ["o5.png", "rotmnist-spectrum.png"]
    links = [link["href"] for link in page.all("a")]
    assert [link for link in links if link and link.endswith(".svg")] == ["o5.svg"]
    assert all(image["alt"] for image in page.all("img"))
    assert len(page.all("figcaption")) == 2


def test_all_figures_of_all_studies(folder):
    names = [figure.name for study in STUDY_TEXTS for figure in study.figures]
    assert names == [
        "o5",
        "rotmnist-spectrum",
        "rotmnist-rotations",
        "configurations-heatmaps",
        "configurations-correlation",
        "draws",
        "layerwise",
        "sample-complexity-o5",
        "sample-complexity-rotmnist",
        "cifar10-spectrum",
        "cifar10-rotations",
        "false-discovery-defects",
        "false-discovery-rules",
        "false-discovery-strength",
        "false-discovery-coverage",
        "traps",
    ]
    draw(folder, *(f"{name}.{kind}" for name in names for kind in ("png", "svg")))
    page = Page(write_index(folder))
    assert [image["src"] for image in page.all("img")] == [f"{name}.png" for name in names]


def test_descriptions_state_no_finding():
    """They stand there whatever the data are, so they name what is drawn and judge nothing."""
    judging = re.compile(
        r"\b(only|near|zero|small|smaller|large|larger|drops?|falls?|rises?|stays?|not|clearly|no)\b",
        re.I,
    )
    for figure in (figure for study in STUDY_TEXTS for figure in study.figures):
        assert not judging.search(figure.alt), figure.alt
    assert judging.search("the spectrum drops at the last ten")


def test_a_study_without_its_origin_is_refused(folder):
    results = planted.o5()
    del results["provenance"]["device"]
    planted.store(folder, results)
    with pytest.raises(ResultsError) as caught:
        write_index(folder)
    assert str(caught.value).startswith(f"{folder / 'o5.json'} is damaged: ")
    assert "'device'" in str(caught.value)


def test_every_link_leads_to_a_file_or_a_place_on_the_page(folder):
    draw(folder, "o5.png", "o5.svg")
    page = Page(write_index(folder))
    places = {attributes.get("id") for _, attributes in page.found}
    for link in [attributes["href"] for attributes in page.all("a")]:
        assert link is not None
        assert link[1:] in places if link.startswith("#") else (folder / link).is_file()


def test_the_page_needs_no_script_and_no_network(folder):
    draw(folder, "o5.png", "o5.svg")
    page = Page(write_index(folder))
    assert not {"script", "link", "iframe", "object", "base"} & {tag for tag, _ in page.found}
    assert not re.search(r"https?:|url\(|@import", page.source)
    assert not [
        name for _, attributes in page.found for name in attributes if name.startswith("on")
    ]


def test_hostile_text_stays_text(folder):
    hostile = "<script>alert('x')</script> & \"quoted\""
    results = planted.o5()
    results["provenance"] |= {
        "command": hostile,
        "device": hostile,
        "date": hostile,
        "versions": {hostile: hostile},
    }
    planted.store(
        folder,
        results,
        planted.emlp() | {"networks": {"<b>": planted.emlp()["networks"]["gain 1"]}},
    )
    page = Page(write_index(folder))
    assert page.all("script") == page.all("b") == []
    assert page.text.count(" ".join(hostile.split())) == 5
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;quoted&#34;" in page.source
    assert "EMLP, &lt;b&gt;: variance" in page.source


def test_the_same_results_give_the_same_page(folder):
    first = write_index(folder).read_bytes()
    assert write_index(folder).read_bytes() == first


def test_a_failing_write_leaves_the_old_page(folder, monkeypatch):
    path = write_index(folder)
    known = path.read_bytes()
    planted.store(folder, planted.o5(format=1))
    with pytest.raises(ResultsError, match=r"o5\.json was written by liegg 0\.1\.0 in format 1"):
        write_index(folder)
    planted.store(folder, planted.o5(quick=True))

    def full(path: Path) -> None:
        path.write_bytes(b"<!DOCTYPE ht")
        raise OSError("no space left on device")

    monkeypatch.setattr("liegg._utils.atomic_write.sync", full)
    with pytest.raises(LieggError, match="no space left"):
        write_index(folder)
    assert path.read_bytes() == known


def test_without_jinja2_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(
        MissingExtraError,
        match=r"^the page of results needs jinja2. Type: pip install 'liegg\[studies\]'$",
    ):
        write_index(folder)


def test_the_page_tells_apart_colours_well_enough():
    """Every pair of text and background in the style reaches a contrast of 5.5, in the light and in the dark."""
    style = (
        Path(__file__).parents[2] / "src" / "liegg" / "studies" / "templates" / "index.html"
    ).read_text(encoding="utf-8")
    pairs = [
        ("text", "page"),
        ("muted", "page"),
        ("link", "page"),
        ("muted", "panel"),
        ("link", "panel"),
        ("good", "good-back"),
        ("bad", "bad-back"),
        ("open", "open-back"),
        ("quick", "quick-back"),
    ]
    schemes = [
        dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.S)
    ]
    assert len(schemes) == 2
    for colours in schemes:
        for text, back in pairs:
            assert contrast(colours[text], colours[back]) >= 5.5, (text, back)


def contrast(one: str, two: str) -> float:
    """Ratio of the luminances of two colours as WCAG 2 defines it; 4.5 is asked of small text."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, light = sorted((luminance(one), luminance(two)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_known_colours():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
