"""The report as a page: everything of the record is on it, it needs nothing else, and nothing gets in unescaped."""

import ast
import base64
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError, MissingExtraError, ShapeError
from liegg.actions import Product
from liegg.discovery.verification.further_curves import others_of
from liegg.report.page.charts import MOST, defects
from liegg.report.page.generators import field, heat_map
from liegg.report.page.page import embedded, report_html, verdict, write_report
from liegg.report.page.snippet import action_code, snippet_of
from liegg.report.page.stage import motions_of, stage_of
from liegg.results.run_folder import MAX_SAMPLES

EMPTY = {"br", "img", "input", "meta"}
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
]
HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\"'&amp;{{ 7 * 7 }}<!--"
)


class Page(HTMLParser):
    """Elements, attributes and text of a page; refuses tags that do not close."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.parts: list[str] = []
        self.feed(source)
        self.text = " ".join(" ".join(self.parts).split())
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif not self.open or self.open[-1] != "style":
            self.parts.append(data)

    def all(self, tag: str, kind: str = "") -> list[dict[str, str | None]]:
        return [
            have for name, have in self.found if name == tag and kind in (have.get("class") or "")
        ]

    @property
    def sections(self) -> list[str | None]:
        return [attributes["id"] for attributes in self.all("section")]

    @property
    def data(self):
        return json.loads(self.scripts[0])


def page(sym, **options) -> Page:
    return Page(report_html(sym, **options))


def radial(x):
    """Sums over rings: what a rotation of the picture does not change."""
    side = torch.linspace(-1, 1, x.shape[-1], dtype=x.dtype)
    distance = (side[:, None].square() + side.square()).sqrt()
    rings = torch.stack(
        [torch.exp(-((distance - middle) / 0.2).square()) for middle in (0.0, 0.25, 0.5)]
    )
    return torch.einsum("bchw,khw->bck", x, rings).flatten(1).tanh()


def pictures(count: int, channels: int = 3, side: int = 32, seed: int = 0):
    coarse = normal(count, channels, 5, 5, seed=seed)
    fine = nn.functional.interpolate(coarse, size=(side, side), mode="bicubic")
    axis = torch.linspace(-1, 1, side, dtype=torch.float64)
    return (
        fine * torch.sigmoid(12 * (0.65 - (axis[:, None].square() + axis.square()).sqrt()))
    ) / 10


@pytest.fixture(scope="module")
def rotations():
    x = normal(160, 5)
    return liegg.discover(lambda x: x.square().sum(1), x[:120], liegg.Linear(5), held_out=x[120:])


@pytest.fixture(scope="module")
def turning():
    x = pictures(70)
    return liegg.discover(radial, x[:50], liegg.Image("affine"), held_out=x[50:])


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)).double()


@pytest.fixture(scope="module")
def nothing(network):
    return liegg.discover(
        network,
        2 * normal(200, 3),
        liegg.Linear(3),
        control="reinitialised",
        held_out=normal(50, 3, seed=1),
    )


# What is on it


def test_every_section_is_there_and_linked(rotations):
    made = page(rotations, samples=normal(8, 5))
    assert made.sections == SECTIONS
    assert {link["href"] for link in made.all("a")} == {f"#{name}" for name in SECTIONS[1:]}
    ids = [attributes["id"] for _, attributes in made.found if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_the_verdict_names_group_grade_and_uncertainty(rotations):
    made = page(rotations)
    assert "is exactly invariant under so(5), rotations of 5 dimensions." in made.text
    assert rotations.decision.sentence in made.text
    for reason in rotations.decision.reasons:
        assert " ".join(reason.split()) in made.text
    assert "95 % interval of that 10 " in made.text


def test_every_direction_has_a_mark_that_tells_its_numbers(rotations):
    made = page(rotations)
    tips = [mark["data-tip"] or "" for mark in made.all("g", "mark")]
    assert len(tips) == 3 * 25  # defect, variance, bias
    assert sum("grade exact" in tip for tip in tips) == 10
    assert len(made.all("g", "mark found")) == 30
    assert "direction 11: δ² = " in tips[10]
    assert "interval" in tips[10]


def test_heights_are_logarithms_and_stop_at_the_edge(rotations):
    chart = defects(rotations.to_dict())
    heights = np.array([mark["y"] for mark in chart["marks"]])
    steps = np.diff(np.log10(rotations.defects[10:].numpy()))
    decade = (chart["place"](1e-3) - chart["place"](1e-1)) / 2
    np.testing.assert_allclose(-np.diff(heights[10:]) / decade, steps, atol=0.02 / decade)
    assert decade > 10
    assert set(heights[:10]) == {
        chart["place"](chart["low"])
    }  # far below the last decade that is drawn
    assert chart["rulers"][0]["y"] == chart["place"](rotations.decision.threshold)


def test_generators_are_shown_in_words_in_both_bases(rotations):
    made = page(rotations)
    assert [button["id"] for button in made.all("input") if button["type"] == "radio"] == [
        "basis-readable",
        "basis-found",
    ]
    assert len(made.all("article")) == 20
    for words in rotations.identification.readable.words:
        assert words in made.text


def test_finite_motions_have_a_curve_each_with_control_and_sentence(rotations):
    made = page(rotations)
    assert (
        len(made.all("polyline", "change")) == len(made.all("polygon", "control-area")) == 11
    )  # ten generators and the group
    for sentence in rotations.verification.sentences:
        assert " ".join(sentence.partition(": ")[2].split()) in made.text


def test_identification_with_reasons_and_rivals():
    x = normal(200, 3)
    sym = liegg.discover(lambda x: x.square().sum(1) + 0.02 * x[:, 0], x, liegg.Linear(3))
    made = page(sym)
    assert sym.identification.alternatives
    for one in sym.identification.alternatives:
        assert one.name in made.text
        assert " ".join(one.reason.split()) in made.text
    for reason in sym.identification.reasons:
        assert " ".join(reason.split()) in made.text


def test_settings_and_versions_are_there(rotations):
    made = page(rotations)
    for name in (*rotations.settings, *rotations.settings["versions"]):
        if name != "versions":
            assert f" {name} " in made.text
    assert torch.__version__ in made.text


def test_layers_are_drawn_when_given(network, nothing):
    found = liegg.discover_layers(
        network, normal(60, 3), liegg.Linear(3), output_action=liegg.Linear(2)
    )
    made = page(nothing, layers=found)
    assert "layers" in made.sections
    assert len(made.all("polyline", "series")) == 4  # invariance, equivariance; output, unit output
    assert "layers = liegg.discover_layers(" in made.text
    tips = [mark["data-tip"] for mark in made.all("g", "mark s0")]
    assert len(tips) == 2 * len(found)
    assert (tips[0] or "").startswith(f"{found.names[0]}: invariance")
    assert "layers" not in page(nothing).sections


def test_fresh_weights_beside_the_model(nothing, rotations):
    made = page(nothing)
    assert "The same architecture with fresh weights, 5 draws" in made.text
    assert "Fresh weights were not tried" not in made.text
    assert "Fresh weights were not tried" in page(rotations).text


def test_no_symmetry_moves_the_nearest_candidates_and_says_so(nothing):
    assert nothing.nullity == 0
    made = page(nothing, samples=normal(4, 3))
    assert made.sections == SECTIONS
    assert "No symmetry of Sequential was found among these candidates." in made.text
    assert "The slider shows the nearest candidates" in made.text
    motions = made.data["motions"]["list"]
    assert [one["curve"] for one in motions] == [
        f"other-{i}" for i in range(len(others_of(nothing).words))
    ]
    assert "The nearest candidate: " in made.text
    assert f"candidate 1: {others_of(nothing).words[0]}" in motions[0]["label"]
    first = nothing.action.matrices(nothing.solution.directions[:1])[0]
    np.testing.assert_allclose(motions[0]["place"], first / first.norm(), atol=1e-5)


def test_without_verification_it_says_how_to_get_the_curve():
    sym = liegg.discover(lambda x: x.square().sum(1), normal(50, 2), liegg.Linear(2))
    made = page(sym, samples=normal(3, 2))
    assert "Not verified at finite size." in made.text
    assert "Pass held-out samples to get the curve" in made.text
    motion = made.data["motions"]["list"][0]
    assert motion["curve"] is None
    assert motion["period"] == pytest.approx(2 * torch.pi * 2**0.5, rel=1e-4)


def test_without_samples_it_says_what_to_pass(rotations):
    made = page(rotations)
    assert "No samples were given." in made.text
    assert made.data["stage"] is None


def test_equivariance_shows_both_sides():
    x = normal(120, 2)
    f = lambda x: x * x.square().sum(1, keepdim=True)  # noqa: E731
    sym = liegg.discover(f, x[:80], liegg.Linear(2), output_action=liegg.Linear(2), held_out=x[80:])
    made = page(sym, samples=x[:8])
    assert "is exactly equivariant under" in made.text
    assert (
        len(
            [
                one
                for one in made.all("svg", "matrix")
                if "on the output" in (one["aria-label"] or "")
            ]
        )
        == sym.nullity
        == 2
    )
    assert "output_action=liegg.Linear(n=2" in made.text


def test_data_that_nothing_moves():
    sym = liegg.discover(
        lambda x: x.sum(1), torch.zeros(50, 3, dtype=torch.float64), liegg.Linear(3)
    )
    made = page(sym, samples=torch.zeros(2, 3))
    assert len(sym.trivial) == 9
    assert made.sections == SECTIONS
    assert "No candidate moves the data, so there is no spectrum." in made.text
    assert "No candidate moves the data, so there is nothing to show." in made.text
    assert "Along these directions the data does not move" in made.text


def test_directions_that_are_undecided():
    sym = liegg.discover(lambda x: x.square().sum(1), normal(4, 3), liegg.Linear(3))
    made = page(sym, samples=normal(2, 3))
    assert len(made.all("g", "mark undecided")) == sym.decision.undecided > 0
    assert f"; {sym.decision.undecided} directions are undecided." in verdict(sym.to_dict())
    assert "Nothing was decided about the first directions, for want of samples." in made.text


def test_a_restricted_action():
    sym = liegg.discover(
        lambda x: x.square().sum(1), normal(60, 3), liegg.Linear(3).restrict(liegg.so(3))
    )
    made = page(sym, samples=normal(4, 3))
    assert made.sections == SECTIONS
    assert made.data["stage"]["kind"] == "points"
    assert "gap to the next none is left" in made.text


def test_many_directions_are_drawn_around_the_gap(rotations):
    record = rotations.to_dict() | {
        "defects": [1e-3] * 150 + [1.0] * 60,
        "intervals": [[None, None]] * 210,
        "nullity": 150,
    }
    record["grades"] = ["strong"] * 150 + ["none"] * 60
    chart = defects(record)
    kinds = [mark["kind"] for mark in chart["marks"]]
    assert (chart["first"], len(kinds), kinds.count("found"), chart["count"]) == (
        110,
        MOST,
        40,
        210,
    )
    assert chart["marks"][39]["tip"].startswith("direction 150: δ² = 0.001")
    assert chart["marks"][39]["x"] < chart["gap"]["x"] < chart["marks"][40]["x"]


# It needs nothing else


def outside(made: Page) -> list[str]:
    """Everything that would be fetched from elsewhere."""
    links = [
        value
        for _, have in made.found
        for key, value in have.items()
        if key in ("src", "href", "srcset", "data", "action") and value
    ]
    styles = re.findall(r"url\(([^)]*)\)|@import", made.source)
    return [one for one in links if not one.startswith(("#", "data:"))] + [
        one for one in styles if not one.startswith("#")
    ]


@pytest.mark.parametrize("samples", [None, 8])
def test_no_address_outside(turning, samples):
    made = page(turning, samples=None if samples is None else pictures(samples))
    assert outside(made) == []
    assert not re.search(r"https?:|//[a-z]|fetch\(|XMLHttp|import\(|localStorage", made.source)
    policy = next(
        have["content"] or ""
        for have in made.all("meta")
        if have.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")


def test_outside_finds_what_would_be_fetched():
    assert outside(
        Page('<p><img src="a.png"></p><a href="#b"></a><style>p { background: url(c) }</style>')
    ) == ["a.png", "c"]


@pytest.mark.parametrize("which", ["rotations", "turning"])
def test_typical_pages_are_small(which, request, tmp_path):
    sym = request.getfixturevalue(which)
    samples = normal(8, 5) if which == "rotations" else pictures(8)
    path = write_report(sym, tmp_path / "report.html", samples=samples)
    assert path.stat().st_size < 600_000  # of 3 MB


def test_large_matrices_and_pictures_stay_small():
    def plane(x):
        return (
            x[:, :2].square().sum(1) + (x[:, 2:-1] * x[:, 3:]).sin().sum(1) + x[:, 2:].pow(3).sum(1)
        )

    sym = liegg.discover(plane, normal(600, 20), liegg.Linear(20), controls=False)
    made = page(sym, samples=normal(8, 20))
    assert (sym.nullity, len(made.all("img", "matrix"))) == (1, 2)
    assert len(made.source) < 300_000
    stage = stage_of(liegg.Image(), normal(9, 3, 300, 200))
    assert stage is not None
    assert (stage["height"], stage["width"], len(stage["samples"])) == (96, 64, MAX_SAMPLES)


def test_the_same_result_gives_the_same_bytes(rotations, tmp_path):
    first, second = (
        write_report(rotations, tmp_path / name, samples=normal(8, 5))
        for name in ("a.html", "b.html")
    )
    assert first.read_bytes() == second.read_bytes()


def test_it_is_written_whole_and_folders_are_made(rotations, tmp_path, monkeypatch):
    path = write_report(rotations, tmp_path / "new" / "report.html")
    assert [one.name for one in path.parent.iterdir()] == ["report.html"]
    before = path.read_bytes()

    def stop(self, target):
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(OSError, match="no room"):
        write_report(rotations, path, title="another")
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == ["report.html"]


def test_without_jinja2_it_says_what_to_install(rotations, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(
        MissingExtraError, match=r"the report needs jinja2. Type: pip install 'liegg\[report\]'"
    ):
        write_report(rotations, tmp_path / "report.html")


# Nothing gets in unescaped


def test_hostile_names_stay_text(network, nothing):
    layers = liegg.discover_layers(network, normal(60, 3), liegg.Linear(3))
    layers = replace(
        layers, layers=tuple(replace(one, name=HOSTILE) for one in layers), notes=(HOSTILE,)
    )
    decision = replace(nothing.decision, sentence=HOSTILE, warnings=(HOSTILE,), reasons=(HOSTILE,))
    sym = replace(nothing, model=HOSTILE, notes=(HOSTILE,), decision=decision)
    sym = replace(sym, settings=sym.settings | {"device": HOSTILE, HOSTILE: HOSTILE})
    made = page(sym, samples=normal(3, 3), layers=layers, title=HOSTILE, snippet=HOSTILE)
    assert len(made.scripts) == 2
    assert made.all("img") == []
    assert not [key for _, have in made.found for key in have if key.startswith("on")]
    assert made.text.count("<script>alert(1)</script>") >= 8
    assert "49" not in re.findall(r"&amp;(.{0,12})<!--", made.text)
    assert {"stage", "motions", "curves"} == made.data.keys()


def test_hostile_texts_stay_inside_the_data():
    action = replace(liegg.Sequence().restrict(torch.eye(2, dtype=torch.float64)), label=HOSTILE)
    sym = liegg.discover(lambda x: x.square().sum(1), normal(40, 12), action)
    made = page(sym, samples=normal(2, 12))
    assert len(made.scripts) == 2
    assert HOSTILE in made.data["motions"]["note"]
    assert not set(made.scripts[0]) & set("<>&\u2028\u2029")


def test_embedded_escapes_and_is_json():
    text = embedded({"a": HOSTILE})
    assert json.loads(text) == {"a": HOSTILE}
    assert text.isascii()
    assert not set(text) & set("<>&")


# What the slider moves


def test_pictures_are_put_in_with_256_levels():
    x = pictures(3, side=12)
    stage = stage_of(liegg.Image(), x)
    assert stage is not None
    levels = np.stack(
        [
            np.frombuffer(base64.b64decode(one), np.uint8).reshape(3, 12, 12)
            for one in stage["samples"]
        ]
    )
    np.testing.assert_allclose(
        stage["low"] + levels / 255 * (stage["high"] - stage["low"]),
        x,
        atol=(stage["high"] - stage["low"]) / 500,
    )


@pytest.mark.parametrize(
    ("action", "shape", "sides"),
    [
        (liegg.Image(), (9, 7), (1, 9, 7)),
        (liegg.Image("euclidean", shape=(9, 7)), (63,), (1, 9, 7)),
        (liegg.Image(), (5, 9, 7), (1, 9, 7)),
        (liegg.Color(), (3, 9, 7), (3, 9, 7)),
        (Product(liegg.Image("euclidean"), liegg.Color("tone")), (3, 9, 7), (3, 9, 7)),
    ],
    ids=repr,
)
def test_pictures_of_every_kind(action, shape, sides):
    stage = stage_of(action, normal(2, *shape))
    assert stage is not None
    assert (stage["kind"], (stage["channels"], stage["height"], stage["width"])) == ("image", sides)


@pytest.mark.parametrize("layout", ["copies_first", "vector_first"])
def test_vectors_of_either_layout(layout):
    x = normal(2, 4, 3)
    given = x if layout == "copies_first" else x.mT
    stage = stage_of(liegg.Affine(3, copies=4, layout=layout), given)
    assert stage is not None
    np.testing.assert_allclose(stage["samples"], x, rtol=1e-5)
    assert stage["homogeneous"]


def test_what_cannot_be_drawn_is_said():
    stage = stage_of(liegg.Volume(), normal(2, 4, 4, 4))
    assert stage is not None
    assert stage["kind"] == "none"
    assert "it draws pictures and vectors" in stage["note"]


@pytest.mark.parametrize(
    "samples",
    [torch.zeros(3), torch.full((2, 5), torch.nan), torch.zeros(0, 5)],
    ids=["flat", "nan", "none"],
)
def test_samples_that_make_no_sense(samples):
    with pytest.raises(
        ArgumentError, match=r"expected a few inputs of the model, \[k, \*x\], of finite numbers"
    ):
        stage_of(liegg.Linear(5), samples)


def test_samples_of_another_shape(rotations):
    with pytest.raises(ShapeError, match="a sample has shape"):
        report_html(rotations, samples=normal(2, 4))


def test_samples_may_be_arrays_and_are_left_alone(rotations):
    x = normal(3, 5).numpy()
    before = x.copy()
    assert page(rotations, samples=x).data["stage"] == stage_of(
        rotations.action, torch.from_numpy(before)
    )
    np.testing.assert_array_equal(x, before)


def test_motions_are_the_generators_with_their_curves(rotations):
    stage = stage_of(rotations.action, normal(2, 5))
    motions = motions_of(rotations, stage)["list"]
    assert [one["curve"] for one in motions] == [f"generator-{i}" for i in range(10)]
    np.testing.assert_allclose([one["place"] for one in motions], rotations.generators, atol=1e-6)
    for one, curve in zip(motions, rotations.verification.curves, strict=True):
        assert (one["longest"], one["both"], one["period"]) == (
            curve.longest,
            curve.both_ways,
            curve.period,
        )
        i, j = one["plane"]
        assert abs(one["place"][i][j]) == pytest.approx(0.5**0.5)


def test_readable_motions_are_added_where_they_are_others():
    q = torch.linalg.qr(normal(3, 3))[0]
    form = q @ torch.diag(torch.tensor([1.0, 1.0, 4.0], dtype=torch.float64)) @ q.mT
    sym = liegg.discover(
        lambda x: torch.einsum("bi,ij,bj->b", x, form, x), normal(80, 3), liegg.Linear(3)
    )
    motions = motions_of(sym, stage_of(sym.action, normal(2, 3)))["list"]
    extra = [one for one in motions if one["basis"] == "readable basis"]
    assert all(one["curve"] is None for one in extra)
    assert len(motions) == 3 + len(extra)


def test_a_product_moves_places_and_colours():
    action = Product(liegg.Image("affine"), liegg.Color())
    x = pictures(60, side=12)
    sym = liegg.discover(radial, x, action)
    for one in motions_of(sym, stage_of(action, x[:2]))["list"]:
        assert (len(one["place"]), len(one["colour"])) == (3, 4)


# Matrices, fields and code


@pytest.mark.parametrize(
    ("n", "kind", "numbers"), [(3, "cells", True), (12, "cells", False), (20, "picture", None)]
)
def test_matrices_by_size(n, kind, numbers):
    shown = heat_map(normal(n, n), tuple(map(str, range(n))), "a")
    assert (shown["kind"], shown.get("numbers")) == (kind, numbers)
    if kind == "picture":
        assert base64.b64decode(shown["source"].partition(",")[2]).startswith(b"\x89PNG\r\n\x1a\n")


def test_a_rotation_runs_counter_clockwise():
    found = field(
        torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64), ("x", "y"), homogeneous=False
    )
    assert found is not None
    right = max(
        found["lines"],
        key=lambda line: (line["x1"] + line["x2"], -abs(line["y1"] + line["y2"] - 200)),
    )
    assert right["y2"] < right["y1"]  # up, on a page whose y runs down


def test_a_translation_has_equal_arrows():
    shift = torch.zeros(3, 3, dtype=torch.float64)
    shift[0, 2] = 1
    found = field(shift, ("x", "y", "1"), homogeneous=True)
    assert found is not None
    assert {(round(a["x2"] - a["x1"], 6), round(a["y2"] - a["y1"], 6)) for a in found["lines"]} == {
        (21.0, 0.0)
    }


@pytest.mark.parametrize("which", ["rotations", "nothing"])
def test_the_snippet_runs_and_finds_the_same(which, request):
    sym = request.getfixturevalue(which)
    code = snippet_of(sym)
    lines = code.splitlines()
    assert lines[-1].startswith("sym.report(")
    known = {"rotations": (lambda x: x.square().sum(1), normal(160, 5)[:120], normal(160, 5)[120:])}
    known["nothing"] = (
        request.getfixturevalue("network"),
        2 * normal(200, 3),
        normal(50, 3, seed=1),
    )
    names: dict[str, Any] = dict(zip(("model", "data", "held_out"), known[which], strict=True))
    exec("\n".join(line for line in lines[:-1] if not line.startswith("print")), names)
    again = names["sym"]
    assert isinstance(again, liegg.Symmetries)
    torch.testing.assert_close(again.defects, sym.defects)
    assert (again.reinitialised is None, again.verification is None) == (
        sym.reinitialised is None,
        sym.verification is None,
    )


@pytest.mark.parametrize(
    "action",
    [
        liegg.Linear(3, copies=2),
        liegg.Affine(2),
        liegg.Image("similarity", frame=1),
        liegg.Color("gains"),
        Product(liegg.Image(), liegg.Color()),
        liegg.Linear(3).restrict(liegg.so(3)),
        liegg.Sequence(shape=(12,)),
    ],
    ids=repr,
)
def test_the_code_of_an_action_makes_it_again(action):
    made = eval(action_code(action), {"liegg": liegg, "torch": torch})
    assert repr(made) == repr(action)
    unit = torch.eye(action.size, dtype=torch.float64)
    torch.testing.assert_close(made.matrices(unit), action.matrices(unit))


def test_a_large_restriction_is_read_from_the_record():
    action = liegg.Linear(5).restrict(liegg.so(5))
    sym = liegg.discover(lambda x: x.square().sum(1), normal(60, 5), action, seed=3, threshold=0.01)
    code = snippet_of(sym)
    ast.parse(code)
    assert ".restrict(basis)" in code
    assert '# basis: a float64 tensor of sym.to_dict()["action"]["basis"]' in code
    assert "seed=3" in code
    assert "threshold=0.01" in code


def test_readable_motions_and_candidates_have_curves_of_their_own():
    q = torch.linalg.qr(normal(4, 4))[0]
    net = lambda x: (x @ q)[:, :3].square().sum(1) + 0.3 * (x @ q)[:, 3] ** 3  # noqa: E731
    sym = liegg.discover(net, normal(300, 4), liegg.Linear(4), held_out=normal(60, 4, seed=2))
    made = page(sym, samples=normal(3, 4))
    motions = made.data["motions"]["list"]
    extra = [one for one in motions if one["basis"] == "readable basis"]
    assert extra
    assert motions[: len(extra)] == extra  # they come first
    for i, (one, curve) in enumerate(zip(extra, sym.verification.others, strict=True)):
        assert one["curve"] == f"other-{i}"
        assert one["longest"] == curve.longest
        assert made.data["curves"][one["curve"]]["change"] == curve.change.tolist()
    shown = {chart["data-curve"] for chart in made.all("div", "chart") if "data-curve" in chart}
    assert shown == {*made.data["curves"], "group"}
