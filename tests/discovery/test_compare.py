# pyright: reportAttributeAccessIssue=false
"""Two results side by side: models whose symmetries are known, so that what they share and which is nearer is known too."""

import math
from dataclasses import replace

import pytest
import torch

import liegg
from cases import mlp, normal, regular, square
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.discovery.compare import along, check_comparable, compare, within
from liegg.results.comparison import SAME_SPAN

THREE = liegg.Linear(3)
DATA = {seed: normal(400, 3, seed=seed) for seed in (0, 1)}


def bent(size, seed=3):
    """Rotation invariant but for a small part."""
    part = mlp(3, 8, 1, seed=seed)
    return lambda x: square(x) + size * part(x)[:, 0]


def turning(size):
    """Turns with its input and grows with it, as its third power, but for a small part."""
    return lambda x: x * square(x)[:, None] + 0.1 * size * x.roll(1, 1) ** 2


MODELS = {
    "ball": lambda: liegg.discover(square, DATA[0], THREE),
    "slightly bent": lambda: liegg.discover(bent(0.02), DATA[0], THREE),
    "more bent": lambda: liegg.discover(bent(0.2), DATA[1], THREE),
    "around z": lambda: liegg.discover(lambda x: square(x[:, :2]) + x[:, 2] ** 3, DATA[1], THREE),
    "around x": lambda: liegg.discover(lambda x: square(x[:, 1:]) + x[:, 0] ** 3, DATA[0], THREE),
    "network": lambda: liegg.discover(mlp(3, 8, 2), DATA[0], THREE),
    "other network": lambda: liegg.discover(mlp(3, 8, 2, seed=8), DATA[1], THREE),
    "undecided": lambda: liegg.discover(square, normal(4, 3), THREE),
    "turning": lambda: liegg.discover(turning(0.0), DATA[0], THREE, output_action=THREE),
    "less so": lambda: liegg.discover(turning(0.5), DATA[1], THREE, output_action=THREE),
    "still": lambda: liegg.discover(
        lambda x: square(x)[:, None] * torch.ones(3), DATA[0], THREE, output_action=THREE
    ),
    "flat": lambda: liegg.discover(square, DATA[0] * torch.tensor([1.0, 1.0, 0.0]), THREE),
}
FOUND = {}


def model(name):
    """Each is analysed once."""
    if name not in FOUND:
        FOUND[name] = MODELS[name]()
    return FOUND[name]


def compared(one, other):
    return compare(model(one), model(other))


def assert_close(one, other):
    """The same JSON values up to the rounding of sums, which depends on where arrays lie in memory."""
    if isinstance(one, dict | list):
        assert type(one) is type(other)
        assert len(one) == len(other)
        for key in one if isinstance(one, dict) else range(len(one)):
            assert_close(one[key], other[key])
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    else:
        assert one == other


# What is shared.


@pytest.mark.parametrize(
    ("one", "other", "shared", "only_a", "only_b"),
    [
        ("ball", "ball", 3, 0, 0),
        ("ball", "more bent", 3, 0, 0),
        ("slightly bent", "more bent", 3, 0, 0),
        ("ball", "around z", 1, 2, 0),
        ("around x", "more bent", 1, 0, 2),
        ("around z", "around x", 0, 1, 1),
        ("ball", "network", 0, 3, 0),
        ("network", "other network", 0, 0, 0),
        ("turning", "less so", 4, 0, 0),
        ("turning", "still", 4, 0, 0),
        ("undecided", "ball", 0, 0, 3),
    ],
)
def test_directions_shared_and_of_one_alone(one, other, shared, only_a, only_b):
    found = compared(one, other)
    assert (found.shared, found.only_a, found.only_b) == (shared, only_a, only_b)
    assert found.same == (shared > 0 and only_a == only_b == 0)
    counts = [
        [contrast.found_in for contrast in found.directions].count(name)
        for name in ("both", "a", "b")
    ]
    assert counts == [shared, only_a, only_b]
    assert len(found.angles) == min(model(one).nullity, model(other).nullity)
    assert (found.a.nullity, found.b.nullity) == (model(one).nullity, model(other).nullity)
    assert (found.a.algebra, found.b.nullity_interval) == (
        model(one).name,
        model(other).decision.nullity_interval,
    )


def test_a_model_and_itself():
    found = compared("more bent", "more bent")
    assert float(found.angles.max()) < 1e-12
    assert [contrast.smaller for contrast in found.directions] == ["", "", ""]
    for contrast in (*found.directions, found.overall):
        assert contrast is not None
        assert contrast.ratio is not None
        assert contrast.ratio[0] == pytest.approx(1.0)
        assert contrast.ratio[1] == pytest.approx(1 / contrast.ratio[2], rel=1.0)
        assert contrast.ratio[1] < 1 < contrast.ratio[2]


def test_angles_that_the_uncertainties_explain():
    exact = compared("ball", "around z")
    assert exact.explained == SAME_SPAN
    noisy = compared("slightly bent", "more bent")
    assert noisy.explained == pytest.approx(
        math.hypot(*(model(name).decision.uncertainty for name in ("slightly bent", "more bent")))
    )
    assert SAME_SPAN < float(noisy.angles.max()) < noisy.explained


def test_an_exact_symmetry_a_little_aside_is_another_one():
    """|Px|² with P a little off the identity has an so(3) of its own; exact directions leave no room for that."""
    stretch = torch.diag(torch.tensor([1.0, 1.0, 1.001], dtype=torch.float64))
    found = compare(model("ball"), liegg.discover(lambda x: square(x @ stretch), DATA[0], THREE))
    assert (found.shared, found.only_a, found.only_b) == (
        1,
        2,
        2,
    )  # the rotation around x₃ is in both
    both = found.directions[0]
    assert both.generator is not None
    torch.testing.assert_close(
        both.generator.abs(),
        liegg.so(3)[0].abs().to(torch.float64) / liegg.so(3)[0].norm(),
        atol=1e-6,
        rtol=0,
    )


def test_the_shared_directions_are_those_of_the_smaller_span():
    directions = compared("ball", "around z").directions
    assert len(directions) == 3
    for contrast in directions:
        assert contrast.generator is not None
        turn = (
            contrast.generator[:2, :2].norm()
            if contrast.found_in == "both"
            else contrast.generator[2].norm()
        )
        assert float(turn) == pytest.approx(1.0 if contrast.found_in == "both" else 0.5**0.5)
        assert contrast.words.startswith("rotation in")


# Which is more invariant.


def test_the_smaller_perturbation_is_more_invariant():
    """Ten times the perturbation, a hundred times the defect, of the same direction and of the mean."""
    same = compare(
        liegg.discover(bent(0.02), DATA[0], THREE), liegg.discover(bent(0.2), DATA[1], THREE)
    )
    assert same.overall is not None
    for contrast in (*same.directions, same.overall):
        assert contrast.smaller == "a"
        assert contrast.ratio is not None
        assert contrast.ratio[1] < 100 < 1.3 * contrast.ratio[2]
        assert 50 < contrast.ratio[0] < 150


def test_exact_is_smaller_than_anything_above_the_floor():
    found = compared("more bent", "ball")
    assert {contrast.smaller for contrast in found.directions} == {"b"}
    assert found.overall is not None
    assert found.overall.smaller == "b"
    assert found.overall.ratio is None
    assert found.overall.b.exact
    assert (found.overall.b.low, found.overall.b.high) == (0.0, model("ball").decision.floor)


def test_directions_of_one_alone_are_measured_in_the_other():
    directions = compared("ball", "network").directions
    assert len(directions) == 3
    for contrast in directions:
        assert contrast.generator is not None
        generator = contrast.generator[None]
        assert contrast.b.value == pytest.approx(float(model("network").defect(generator)))
        assert [contrast.b.low, contrast.b.high] == pytest.approx(
            model("network").defect_interval(generator)[0].tolist()
        )
        assert contrast.smaller == "a"


def test_without_symmetries_candidates_of_a_rank_are_compared():
    found, a, b = compared("network", "other network"), model("network"), model("other network")
    assert [contrast.found_in for contrast in found.directions] == ["neither"] * 5
    for number, contrast in enumerate(found.directions[:3]):
        assert (contrast.a.value, contrast.b.value) == (
            float(a.defects[number]),
            float(b.defects[number]),
        )
        assert [contrast.a.low, contrast.a.high] == a.intervals[number].tolist()
    assert found.overall is found.directions[0]


def test_the_nearest_candidate_of_each_is_asked_in_the_other():
    found, a, b = compared("network", "other network"), model("network"), model("other network")
    for contrast, sym, other, name in zip(found.directions[3:], (a, b), (b, a), "ab", strict=True):
        own, there = (contrast.a, contrast.b) if name == "a" else (contrast.b, contrast.a)
        generator = sym.action.matrices(sym.accumulated.solution.directions[:1])
        assert own.value == float(sym.defects[0])
        assert there.value == pytest.approx(float(other.defect(generator)))
        assert [there.low, there.high] == pytest.approx(
            other.defect_interval(generator)[0].tolist()
        )
        assert contrast.words.startswith(f"nearest of {name}: ")


def test_what_one_does_not_decide_is_not_compared():
    found = compared("undecided", "ball")
    assert found.a.undecided == 5
    assert all(
        math.isnan(contrast.a.value) and contrast.smaller == "" and contrast.ratio is None
        for contrast in found.directions
    )
    assert compare(model("undecided"), model("undecided")).directions == ()


def test_directions_that_do_not_move_the_other_data():
    """Whatever is done to x₁ leaves the first model; adding x₃ to it does nothing where x₃ = 0."""
    found = compare(
        liegg.discover(lambda x: x[:, 1].sin() + x[:, 2] ** 2, DATA[0], THREE), model("flat")
    )
    own = {contrast.words: contrast for contrast in found.directions if contrast.found_in == "a"}
    assert math.isnan(own["shear of x₁ by x₃"].b.value)
    assert own["shear of x₁ by x₃"].smaller == ""
    assert own["shear of x₁ by x₂"].smaller == "a"


# The mean over a space of found directions.


@pytest.mark.parametrize("name", ["more bent", "less so"])
def test_within_is_the_defect_of_every_direction(name):
    sym = model(name)
    h = normal(4, sym.nullity) @ sym.coefficients
    for row in h[:, None]:
        measured = within(sym, row)
        assert measured.value == pytest.approx(
            float(sym.defect(sym.action.matrices(row))), rel=1e-6
        )
        assert measured.low < measured.value < measured.high
    whole = within(sym, h[: sym.nullity])
    assert whole.value == pytest.approx(float(sym.defects[: sym.nullity].mean()))
    ends = sym.intervals[: sym.nullity].mean(0).tolist()
    assert [whole.low, whole.high] == pytest.approx(ends, nan_ok=True)


def test_within_of_one_found_direction_has_its_interval():
    sym = model("more bent")
    for number in range(3):
        measured = within(sym, sym.accumulated.solution.directions[number][None])
        assert [measured.low, measured.high] == pytest.approx(sym.intervals[number].tolist())


def test_without_intervals_nothing_is_clear_but_what_is_exact():
    one, other = (
        replace(
            model(name),
            intervals=torch.full_like(model(name).intervals, torch.nan),
            accumulated=replace(model(name).accumulated, blocks=None),
        )
        for name in ("slightly bent", "more bent")
    )
    found = compare(one, other)
    assert [contrast.smaller for contrast in found.directions] == ["", "", ""]
    assert found.directions[0].ratio is not None
    assert math.isnan(found.directions[0].ratio[1])
    missing = [note for note in found.notes if note.diagnosis is Diagnosis.NO_INTERVALS]
    assert [note.values["model"] for note in missing] == ["a", "b"]
    assert {contrast.smaller for contrast in compare(one, model("ball")).directions} == {"b"}


# Laws.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("slightly bent", "more bent"),
        ("ball", "around z"),
        ("less so", "turning"),
        ("network", "ball"),
    ],
)
def test_swapped_models_give_the_swapped_comparison(one, other):
    there, back = compared(one, other), compared(other, one)
    assert (there.shared, there.only_a, there.only_b) == (back.shared, back.only_b, back.only_a)
    assert (there.a, there.b, there.explained) == (back.b, back.a, back.explained)
    torch.testing.assert_close(there.angles, back.angles, rtol=1e-6, atol=1e-12)
    swapped = {"a": "b", "b": "a", "": "", "both": "both"}
    theirs = {
        (swapped[contrast.found_in], contrast.words): contrast for contrast in back.directions
    }
    assert len(theirs) == len(there.directions)
    for contrast in there.directions:
        own = theirs[contrast.found_in, contrast.words]
        assert contrast.smaller == swapped[own.smaller]
        if contrast.ratio is not None and own.ratio is not None:
            assert contrast.ratio == pytest.approx(
                (1 / own.ratio[0], 1 / own.ratio[2], 1 / own.ratio[1]), rel=1e-6
            )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("slightly bent", "more bent"),
        ("ball", "network"),
        ("turning", "less so"),
        ("undecided", "ball"),
    ],
)
def test_loaded_results_say_the_same(one, other, tmp_path):
    a, b = (liegg.load(model(name).save(tmp_path / name)) for name in (one, other))
    assert_close(compare(a, b).to_dict(), compared(one, other).to_dict())


def test_a_change_of_the_basis_of_a_restriction_changes_nothing():
    mixed = torch.einsum("ab,bij->aij", regular(8), liegg.algebra.sl(3))
    one, other = (
        liegg.discover(bent(0.1), DATA[0], THREE.restrict(basis))
        for basis in (liegg.algebra.sl(3), mixed)
    )
    found = compare(one, other)
    assert found.shared == 3
    assert float(found.angles.max()) < 1e-9
    for contrast in found.directions:
        assert contrast.ratio is not None
        assert contrast.ratio[0] == pytest.approx(1.0, rel=1e-6)


# Equivariance.


def test_output_generators_are_compared_too():
    assert compared("turning", "still").output_difference == pytest.approx(
        1.0
    )  # one turns its output, the other leaves it
    assert compared("turning", "turning").output_difference < 1e-12
    assert 0 < compared("turning", "less so").output_difference < 0.1
    assert compared("ball", "ball").output_difference == 0.0


# Questions that cannot be compared.


def test_layouts_and_schemes_may_differ():
    pairs = normal(200, 2, 3)
    one = liegg.discover(lambda x: x.square().sum((1, 2)), pairs, liegg.Linear(3, copies=2))
    other = liegg.discover(
        lambda x: x.square().sum((1, 2)), pairs.mT, liegg.Linear(3, copies=2, layout="vector_first")
    )
    found = compare(one, other)
    assert found.shared == 3
    assert Diagnosis.ACTION_DIFFERS in [note.diagnosis for note in found.notes]
    pictures = normal(20, 1, 8, 8)
    one, other = (
        liegg.discover(
            lambda x: x.mean((1, 2, 3)).sin(),
            pictures,
            liegg.Image("affine", derivative=scheme),
            controls="none",
        )
        for scheme in ("central", "spectral")
    )
    assert compare(one, other).question == "invariance"


BOTH = {"first": "a", "second": "b"}


def test_other_settings_are_noted():
    strict = liegg.discover(
        square, DATA[0], THREE, outputs="sum", thresholds=liegg.Thresholds(threshold=0.01)
    )
    notes = compare(model("ball"), strict).notes
    assert [(note.diagnosis, note.values) for note in notes] == [
        (Diagnosis.INDEPENDENT_INTERVALS, {}),
        (Diagnosis.SETTING_DIFFERS, {"name": "outputs", "a": "each", "b": "sum"} | BOTH),
        (Diagnosis.SETTING_DIFFERS, {"name": "threshold", "a": 0.03, "b": 0.01} | BOTH),
    ]


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (
            lambda: liegg.discover(square, normal(50, 2), liegg.Linear(2)),
            r"a is about Linear\(n=3, .* and b about Linear\(n=2, ",
        ),
        (
            lambda: liegg.discover(square, DATA[0], liegg.Affine(3)),
            r"Affine\(n=3, .*Run both with the same action, for example",
        ),
        (
            lambda: liegg.discover(square, DATA[0], THREE.restrict(liegg.so(3))),
            r"and b about Restricted\(",
        ),
        (
            lambda: model("turning"),
            r"a is about invariance, b about equivariance with Linear\(.*same output_action",
        ),
    ],
)
def test_different_questions_are_refused(other, text):
    with pytest.raises(ArgumentError, match=text):
        compare(model("ball"), other())


def test_what_is_no_result_is_refused():
    with pytest.raises(
        ArgumentError, match=r"b is a str; expected a result of liegg.discover or liegg.load"
    ):
        check_comparable(model("ball"), "run/")


def test_other_restrictions_of_the_same_size_are_refused():
    one, other = (
        liegg.discover(square, DATA[0], THREE.restrict(basis))
        for basis in (liegg.so(3), liegg.algebra.diagonal(3))
    )
    with pytest.raises(
        ArgumentError, match=r"size=3\), of other directions: only results with the same candidates"
    ):
        compare(one, other)


def test_along_knows_what_was_not_decided():
    sym = model("undecided")
    assert math.isnan(along(sym, sym.accumulated.solution.directions[:1]).value)
    assert not math.isnan(along(sym, sym.accumulated.solution.directions[-1:]).value)
