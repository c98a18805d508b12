"""The report as a page: it holds the record, needs nothing else, and escapes every text."""

import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, MissingExtraError, ShapeError
from liegg.actions import Product
from liegg.discovery.verification.further_curves import others_of
from liegg.report.page.page import report_html, write_report
from liegg.report.page.render import embedded, write_html
from liegg.results.answers import Answers

EMPTY_TAGS = {"br", "img", "input", "meta"}
SECTIONS = [
    "verdict",
    "move",
    "spectrum",
    "generators",
    "verification",
    "controls",
    "identification",
    "coverage",
    "settings",
    "rerun",
    "words",
]
HOSTILE = "\x1b[31m\x7f</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\"'&amp;{{ 7 * 7 }}<!--"


class Page(HTMLParser):
    """Elements, attributes and text of a page; refuses tags that do not close."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.parts: list[str] = []
        self.feed(source)
        self.text = " ".join(" ".join(self.parts).split())
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag == "script":
            self.scripts.append("")
        if tag not in EMPTY_TAGS:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif not self.open or self.open[-1] != "style":
            self.parts.append(data)

    def all(self, tag: str, kind: str = "") -> list[dict[str, str | None]]:
        return [
            have
            for name, have in self.elements
            if name == tag and kind in (have.get("class") or "")
        ]

    @property
    def sections(self) -> list[str | None]:
        return [attributes["id"] for attributes in self.all("section")]

    @property
    def data(self):
        return json.loads(self.scripts[0])

    def outside(self) -> list[str]:
        """Everything that a browser would fetch from elsewhere."""
        links = [
            value
            for _, have in self.elements
            for key, value in have.items()
            if key in ("src", "href", "srcset", "data", "action") and value
        ]
        styles = re.findall(r"url\(([^)]*)\)|@import", self.source)
        return [link for link in links if not link.startswith(("#", "data:"))] + [
            style for style in styles if not style.startswith("#")
        ]


def page(sym, **options) -> Page:
    return Page(report_html(sym, **options))


# It holds the record


def test_the_page_holds_the_record(rotations):
    content = page(rotations, samples=normal(8, 5))
    assert content.sections == SECTIONS
    assert {link["href"] for link in content.all("a")} == {f"#{name}" for name in SECTIONS[1:]}
    ids = [attributes["id"] for _, attributes in content.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    identification, verification = rotations.identification, rotations.verification
    for text in (
        rotations.sentence,
        rotations.decision.sentence,
        *rotations.decision.reasons,
        *identification.reasons,
        *identification.readable.words,
        *(sentence.partition(": ")[2] for sentence in verification.sentences),
        torch.__version__,
    ):
        assert " ".join(text.split()) in content.text
    for name in rotations.settings.keys() - {"versions"}:
        assert f" {name} " in content.text
    assert len(content.all("g", "mark")) == 3 * 25  # defect, variance, bias
    assert len(content.all("g", "mark found")) == 3 * 10
    assert len(content.all("article")) == 20  # the generators in both bases
    curves = content.all("polyline", "change")
    assert len(curves) == len(content.all("polygon", "control-area")) == 11  # and the group


def test_the_answer_comes_first(classified, plane):
    content = page(replace(classified, model=HOSTILE), samples=plane[:8], classes=[HOSTILE, "b"])
    assert content.sections == [*SECTIONS[:2], "finding", *SECTIONS[2:]]
    assert {link["href"] for link in content.all("a")} == {
        f"#{name}" for name in content.sections[1:]
    }
    verdict_place = content.text.index(" ".join(classified.answers[0].sentence.split()))
    assert verdict_place < content.text.index("Move it", content.text.index("Words"))
    assert [have["data-curve"] for have in content.all("div") if "data-curve" in have] == [
        "answer-0"
    ]
    assert "answer-0" in content.data["curves"]
    assert content.data["motions"]["list"][0]["label"] == "turn"
    assert len(content.scripts) == 2
    named = page(
        replace(classified, answers=Answers([replace(classified.answers[0], name=HOSTILE)]))
    )
    assert len(named.scripts) == 2
    assert named.all("img") == []


def test_alternatives_of_the_name():
    model = lambda x: x.square().sum(1) + 0.02 * x[:, 0]  # noqa: E731
    sym = liegg.discover(model, normal(200, 3), liegg.Linear(3))
    content = page(sym)
    assert sym.identification.alternatives
    for other in sym.identification.alternatives:
        assert other.name in content.text
        assert " ".join(other.reason.split()) in content.text


def test_layers(network, asymmetric):
    layers = liegg.discover_layers(
        network, normal(60, 3), liegg.Linear(3), output_action=liegg.Linear(2)
    )
    content = page(asymmetric, layers=layers)
    assert set(content.sections) == {*SECTIONS, "layers"}
    assert len(content.all("polyline", "series")) == 2  # two problems
    assert len(content.all("g", "mark s0")) == len(layers)


def test_layers_beside_the_motion_that_was_asked_about(network):
    x, action = normal(60, 3), liegg.Linear(3)
    sym = liegg.discover(network, x, action, about={"spin": liegg.so(3)[:1]})
    content = page(sym, layers=liegg.discover_layers(network, x, action))
    assert "defect δ² of spin" in content.text
    other = liegg.discover_layers(
        network, x, action.restrict(liegg.so(3))
    )  # not the same candidates
    assert "defect δ² of spin" not in page(sym, layers=other).text


def test_no_symmetry_shows_the_nearest_candidates_and_the_controls(asymmetric):
    assert asymmetric.nullity == 0
    content = page(asymmetric, samples=normal(4, 3))
    words = others_of(asymmetric).words
    assert content.sections == SECTIONS
    assert words[0] in content.text
    assert [motion["curve"] for motion in content.data["motions"]["list"]] == [
        f"other-{i}" for i in range(len(words))
    ]
    rows = re.findall(r'<th scope="row">\d+</th>', content.source.partition('id="controls"')[2])
    assert len(rows) == len(asymmetric.controls.reinitialised.learned)


def test_too_many_candidates_for_the_papers_spectrum():
    x = normal(120, 24)
    sym = liegg.discover(
        lambda x: x[:, :2].square().sum(1), x, liegg.Linear(24), run=liegg.Run(bottom=4)
    )
    assert sym.to_dict()["spectrum"] is None
    content = page(sym)
    assert content.sections == SECTIONS
    assert len(content.all("g", "mark")) == len(sym.defects)  # the defects alone
    assert "576: Linear(n=24" in content.text


def test_without_samples_and_verification():
    sym = liegg.discover(lambda x: x.square().sum(1), normal(50, 2), liegg.Linear(2))
    content = page(sym)
    assert content.data == {"stage": None, "motions": {"list": [], "note": ""}, "curves": {}}
    assert content.all("div", "stage") == []
    assert content.all("svg", "curve") == []
    motion = page(sym, samples=normal(3, 2)).data["motions"]["list"][0]
    assert motion["curve"] is None
    assert motion["period"] == pytest.approx(2 * torch.pi * 2**0.5, rel=1e-4)


def test_equivariance_shows_both_sides():
    x = normal(120, 2)
    model = lambda x: x * x.square().sum(1, keepdim=True)  # noqa: E731
    sym = liegg.discover(model, x, liegg.Linear(2), output_action=liegg.Linear(2))
    content = page(sym, samples=x[:8])
    assert sym.sentence in content.text
    labels = [svg["aria-label"] or "" for svg in content.all("svg", "matrix")]
    assert sum("on the output" in label for label in labels) == sym.nullity == 2
    assert "output_action=liegg.Linear(n=2" in content.text


def test_data_that_nothing_moves():
    x = torch.zeros(50, 3, dtype=torch.float64)
    sym = liegg.discover(lambda x: x.sum(1), x, liegg.Linear(3))
    content = page(sym, samples=x[:2])
    assert len(sym.accumulated.solution.trivial) == 9
    assert content.sections == SECTIONS
    assert content.all("g", "mark") == []
    assert content.data["motions"]["list"] == []
    assert len(content.all("div", "card")) == 7  # six trivial directions and the box around them


def test_undecided_directions():
    sym = liegg.discover(lambda x: x.square().sum(1), normal(4, 3), liegg.Linear(3))
    content = page(sym, samples=normal(2, 3))
    undecided = sym.decision.undecided
    assert len(content.all("g", "mark undecided")) == undecided > 0
    assert sym.sentence in content.text
    assert sym.sentence.values["undecided"] == undecided
    assert content.data["motions"]["note"]


def test_a_restricted_action():
    action = liegg.Linear(3).restrict(liegg.so(3))
    sym = liegg.discover(lambda x: x.square().sum(1), normal(60, 3), action)
    content = page(sym, samples=normal(4, 3))
    assert content.sections == SECTIONS
    assert content.data["stage"]["kind"] == "points"


def test_curves_of_generators_say_what_each_does():
    """They follow the generators as found, in another order than the readable basis has."""
    x = normal(200, 3)
    sym = liegg.discover(
        lambda x: x[:, :2].square().sum(1), x, liegg.Linear(3), held_out=normal(60, 3, seed=1)
    )
    assert len(sym.verification.curves) == 4
    source = page(sym).source.partition('id="verification-title"')[2]
    text = source.partition('id="controls-title"')[0]
    for i, words in enumerate(sym.account.words, start=1):
        assert f"generator {i}: {words}" in text


def test_readable_motions_have_curves_of_their_own():
    q = torch.linalg.qr(normal(4, 4))[0]
    model = lambda x: (x @ q)[:, :3].square().sum(1) + 0.3 * (x @ q)[:, 3] ** 3  # noqa: E731
    sym = liegg.discover(model, normal(300, 4), liegg.Linear(4), held_out=normal(60, 4, seed=2))
    content = page(sym, samples=normal(3, 4))
    motions = content.data["motions"]["list"]
    readable = [motion for motion in motions if motion["basis"] == "readable basis"]
    assert readable
    assert motions[: len(readable)] == readable  # they come first
    assert [motion["label"].partition(": ")[2] for motion in motions[len(readable) :]] == list(
        sym.account.words
    )
    for i, (motion, curve) in enumerate(zip(readable, sym.verification.others, strict=True)):
        assert motion["curve"] == f"other-{i}"
        assert motion["longest"] == curve.longest
        assert content.data["curves"][motion["curve"]]["change"] == curve.change.tolist()
    drawn = {chart["data-curve"] for chart in content.all("div", "chart") if "data-curve" in chart}
    assert drawn == {*content.data["curves"], "group"}


# It needs nothing else


def test_the_page_is_small_and_fetches_nothing(image_rotations, images, tmp_path):
    path = write_report(image_rotations, tmp_path / "report.html", samples=images[:8])
    content = Page(path.read_text(encoding="utf-8"))
    assert path.stat().st_size < 600_000
    assert content.outside() == []
    code = content.source.replace(content.scripts[0], "")  # without the images
    assert not re.search(r"https?:|//[a-z]|fetch\(|XMLHttp|import\(|localStorage", code)
    policies = [have for have in content.all("meta") if "http-equiv" in have]
    assert [(have["content"] or "")[:18] for have in policies] == ["default-src 'none'"]
    style = "<style>p { background: url(c) }</style>"
    assert Page(f'<p><img src="a.png"></p><a href="#b"></a>{style}').outside() == ["a.png", "c"]


def test_the_page_is_written_atomically_and_reproducibly(rotations, tmp_path, monkeypatch):
    path = write_report(rotations, tmp_path / "new" / "report.html", samples=normal(8, 5))
    before = path.read_bytes()
    assert before.decode() == report_html(rotations, samples=normal(8, 5))

    def stop(self, target):
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(liegg.LieggError, match="no room"):
        write_report(rotations, path, title="another")
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]


def test_without_jinja2_the_error_says_what_to_install(rotations, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'liegg\[report\]'"):
        write_report(rotations, tmp_path / "report.html")


def test_samples_of_another_shape(rotations):
    with pytest.raises(ShapeError, match="a sample has shape"):
        report_html(rotations, samples=normal(2, 4))


# It escapes every text


def test_hostile_names_stay_text(network, asymmetric):
    layers = liegg.discover_layers(network, normal(60, 3), liegg.Linear(3))
    remark = Diagnosis.TEXT(text=HOSTILE)
    layers = replace(
        layers, layers=tuple(replace(layer, name=HOSTILE) for layer in layers), notes=(remark,)
    )
    decision = replace(asymmetric.decision, sentence=remark, warnings=(remark,), reasons=(remark,))
    settings = asymmetric.settings | {"device": HOSTILE, HOSTILE: HOSTILE}
    sym = replace(asymmetric, model=HOSTILE, notes=(remark,), decision=decision, settings=settings)
    content = page(sym, samples=normal(3, 3), layers=layers, title=HOSTILE, snippet=HOSTILE)
    assert len(content.scripts) == 2
    assert content.all("img") == []
    assert not [key for _, have in content.elements for key in have if key.startswith("on")]
    assert content.text.count("<script>alert(1)</script>") >= 8
    assert content.text.count(r"\u001b[31m\u007f</script>") >= 8
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", content.text)
    assert "49" not in re.findall(r"&amp;(.{0,12})<!--", content.text)
    assert {"stage", "motions", "curves"} == content.data.keys()


def test_hostile_texts_stay_inside_the_data():
    whole = Product(liegg.Image(), liegg.Image("affine"))
    action = replace(whole.restrict(torch.eye(10, dtype=torch.float64)), label=HOSTILE)
    sym = liegg.discover(lambda x: x.square().sum((1, 2)), normal(40, 4, 4), action)
    content = page(sym, samples=normal(2, 4, 4))
    assert len(content.scripts) == 2
    assert HOSTILE in content.data["motions"]["note"]
    assert not set(content.scripts[0]) & set("<>&\u2028\u2029")
    assert json.loads(embedded({"a": HOSTILE})) == {"a": HOSTILE}


def test_only_pages_of_liegg_are_overwritten(rotations, tmp_path):
    thesis, page, empty = (tmp_path / name for name in ("thesis.tex", "page.html", "empty"))
    thesis.write_text("mine")
    empty.touch()
    link, nowhere = tmp_path / "link.html", tmp_path / "nowhere.html"
    link.symlink_to(thesis)
    nowhere.symlink_to(tmp_path / "nothing")
    text = report_html(rotations)
    for path in (thesis, link, nowhere):
        with pytest.raises(ArgumentError):
            write_html(text, path)
    assert thesis.read_text() == "mine"
    assert link.is_symlink()
    for path in (page, page, empty):
        assert write_html(text, path).read_text(encoding="utf-8") == text
