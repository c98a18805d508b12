# pyright: reportOptionalMemberAccess=false
"""A result with its verification: what fails is not counted, and every part of the record follows."""

import json
import math
from dataclasses import replace

import pytest
import torch

import liegg
from cases import normal, square
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError
from liegg.decision.grades import GRADES
from liegg.results.control_models import rank_among
from liegg.results.verification import Curve
from liegg.results.verified import finite_changes, with_verification

HELD_OUT = normal(300, 3, seed=5)


def tilted(x):
    """Two rotations of three are broken, by 1 % of δ²; the third is exact."""
    return x.square().sum(1) + 0.3 * x[:, 0]


def hidden(x):
    """A part without derivative: by derivatives it is |x|²."""
    return x.square().sum(1) + 3 * x[:, 0].detach()


def found(model, x=None, **options):
    run = replace(options.pop("run", liegg.Run()), hidden="ignore")
    options["run"] = run
    return liegg.discover(model, normal(400, 3) if x is None else x, liegg.Linear(3), **options)


@pytest.fixture(scope="module")
def failed():
    sym = found(hidden)
    return sym, with_verification(sym, liegg.verify(hidden, HELD_OUT, sym))


def members(remarks):
    return [remark.diagnosis for remark in remarks]


@pytest.mark.parametrize("model", [square, tilted])
def test_what_holds_stays_as_it_was(model):
    sym = found(model)
    verification = liegg.verify(model, HELD_OUT, sym)
    new = with_verification(sym, verification)
    assert new.verification is verification
    assert new.decision is sym.decision
    assert new.coefficients is sym.coefficients


def test_the_changes_agree_with_the_defects():
    """At first order the share of an average direction is δ² itself; |x|² + 0.3 x₀ is nearly first order."""
    sym = found(tilted, normal(4000, 3))
    changes = finite_changes(sym, liegg.verify(tilted, normal(2000, 3, seed=1), sym, samples=2000))
    shares = [one.change / one.reference for one in changes]
    assert shares[0] < 1e-20
    for share, defect in zip(shares[1:], sym.defects[1:3].tolist(), strict=True):
        assert share == pytest.approx(defect, rel=0.3)


def test_what_fails_is_not_counted(failed):
    sym, new = failed
    assert (sym.nullity, sym.name) == (3, "so(3)")
    assert (new.nullity, new.decision.exact, new.name) == (1, 1, "so(2)")
    assert new.words == ("rotation in x₂–x₃",)
    assert new.decision.grades[0] == "exact"
    assert not {*new.decision.grades[1:3]} & {"exact", "strong", "approximate"}
    assert members(new.decision.warnings)[0] is Diagnosis.FAILS_AT_FINITE_SIZE
    assert new.decision.nullity_interval == (1, 1)


def test_all_parts_are_in_the_same_order(failed):
    sym, new = failed
    directions = new.accumulated.solution.directions
    torch.testing.assert_close(new.defect(directions), new.defects, rtol=1e-6, atol=1e-20)
    assert len(new.coefficients) == len(new.generators) == len(new.account.words) == 1
    assert float(torch.linalg.svdvals(torch.cat([new.coefficients, directions[:1]]))[-1]) < 1e-7
    assert [c.grade for c in new.candidates] == list(new.decision.grades[1:4])
    assert sorted(new.defects.tolist()) == sorted(sym.defects.tolist())


def test_curves_of_what_fails_are_kept_as_others(failed):
    _, new = failed
    verification = new.verification
    assert len(verification.curves) == 1
    assert verification.holds
    assert verification.group is None
    assert len(verification.others) == len(verification.other_words) == 2
    assert all(not curve.holds for curve in verification.others)
    assert {*verification.other_words} == {"rotation in x₁–x₂", "rotation in x₁–x₃"}
    assert members(verification.notes)[-1] is Diagnosis.CURVES_OF_OTHERS
    assert with_verification(new, verification).decision is new.decision  # once is enough


def test_text_page_json_and_disk_follow(failed, tmp_path):
    _, new = failed
    text = str(new)
    assert new.sentence.diagnosis is Diagnosis.UNCHANGED
    assert new.sentence.values["nullity"] == 1
    assert "so(2)" in text.splitlines()[0]
    record = new.to_dict()
    assert (record["nullity"], record["name"]) == (1, "so(2)")
    json.dumps(record, allow_nan=False)
    back = liegg.load(new.save(tmp_path / "result"))
    assert (back.nullity, back.name, str(back)) == (1, "so(2)", text)
    assert back.decision.sentence.diagnosis is Diagnosis.VERIFIED_SYMMETRIES
    page = new.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "so(2)" in page
    comparison = liegg.compare(new, found(square))
    assert (comparison.shared, comparison.only_b) == (1, 2)


def test_if_nothing_holds_nothing_is_counted():
    def steps(x):
        return x.square().sum(1) + 4 * (x[:, 0] + 2 * x[:, 1] - x[:, 2]).detach().sin()

    new = found(steps, held_out=HELD_OUT)
    assert (new.nullity, new.name) == (0, "0")
    assert new.decision.sentence.diagnosis is Diagnosis.NONE_VERIFIED
    assert new.candidates[0].grade in ("weak", "none")
    assert "finite transformations" in str(new)


def test_large_values_on_one_axis_make_no_symmetry():
    """log(q₀ q₁ q₂ / q₃) on data over three decades: the overall scale moves the output, huge candidates hide it."""
    q = torch.exp(6.9 * torch.rand(1200, 4, generator=torch.Generator().manual_seed(0)).double())

    def model(q):
        return (q[:, 0] * q[:, 1] * q[:, 2] / q[:, 3]).log()

    sym = liegg.discover(model, q[:900], liegg.Linear(4), held_out=q[900:])
    assert (sym.nullity, sym.decision.exact) == (3, 3)
    assert "R³" in sym.name


def test_reinitialised_models_follow_the_new_order():
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.network = network

        def forward(self, x):
            return x.square().sum(1, keepdim=True) + 3 * x[:, :1].detach() + 0 * self.network(x)

    model = Hidden()
    run = liegg.Run(control_draws=3)
    x, late = normal(300, 3).float(), normal(200, 3, seed=2).float()
    sym = found(model, x, controls="reinitialised", run=run)
    new = with_verification(sym, liegg.verify(model, late, sym))
    at_once = found(model, x, controls="reinitialised", run=run, held_out=late)
    assert new.nullity == at_once.nullity < sym.nullity
    tests = [one.controls.reinitialised.test for one in (new, at_once)]
    assert tests[0].dimension == tests[1].dimension == new.nullity
    assert tests[0].p == tests[1].p == 1.0  # the function has it whatever the weights are


def test_verifications_of_something_else_are_refused():
    sym = found(square)
    given = liegg.verify(square, HELD_OUT, sym, liegg.so(3))
    with pytest.raises(ArgumentError, match="without generators"):
        with_verification(sym, given)
    other = liegg.verify(
        tilted, HELD_OUT[:, :2], liegg.discover(square, normal(90, 2), liegg.Linear(2))
    )
    with pytest.raises(ArgumentError, match="1 curves; this result has 3 symmetries"):
        with_verification(sym, other)


def test_a_verification_without_curves_changes_nothing():
    sym = found(lambda x: (x * torch.tensor([1.0, 2.0, 3.0])).sin().sum(1) + x.pow(3).sum(1))
    assert sym.nullity == 0
    verification = liegg.verify(square, HELD_OUT, sym)
    assert with_verification(sym, verification).decision is sym.decision


def test_the_change_within_a_motion_is_interpolated_and_without_resampling():
    times = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    curve = Curve(
        times,
        0.04 * times**2,
        *[times] * 3,
        class_changes=None,
        control_class_changes=None,
        resampling=None,
        period=None,
        both_ways=True,
        speed=0.5,
        radius=1.0,
        control_radius=1.0,
    )
    change, motion = curve.change_within(0.75)  # at t = 1.5
    assert (change, motion) == pytest.approx((0.04 * 1.5**2, 0.75))
    assert curve.change_within(0.25)[0] == pytest.approx(0.04 * 0.25)  # before the first time
    assert curve.change_within(9.0) == pytest.approx((0.36, 1.5))  # as far as it was followed
    blurred = replace(curve, resampling=0.01 * times**2)
    assert blurred.change_within(1.0)[0] == pytest.approx((0.4 - 0.2) ** 2)
    broken = replace(curve, change=torch.tensor([0.01, torch.inf, torch.inf]).double())
    assert broken.change_within(0.75)[0] == pytest.approx(0.01)
    assert math.isinf(broken.change_within(1.0)[0])


# A verified result does not contradict itself.


def rare(x):
    """so(3) but for samples beyond 2.8 along the first axis; truth: the rotation about it."""
    return square(x) + 50 * torch.relu(x[:, 0] - 2.8).square()


@pytest.fixture(scope="module")
def refined():
    x = normal(100, 3, seed=100)
    x[:, 0].clamp_(max=2.7)
    return found(rare, x, held_out=normal(2000, 3, seed=7))


def test_lowered_directions_leave_closed_levels(refined):
    exact, counted = refined.tower
    assert (exact.grade, exact.dimension, exact.name) == ("exact", 1, "so(2)")
    assert (counted.dimension, counted.name) == (3, "so(3)")
    assert refined.decision.grades[0] == "exact"
    assert "exact" not in refined.decision.grades[1:]
    assert refined.decision.levels[0] == refined.decision.exact == 1


def test_the_level_has_the_size_that_was_measured(refined):
    """What is graded by finite transformations is not "up to 2.8e-14 %"."""
    changes = finite_changes(refined, refined.verification)
    assert refined.tower[1].largest == pytest.approx(max(one.share for one in changes))
    assert refined.tower[1].largest > 1e-4


def test_rows_of_the_table_have_the_grades_of_the_decision(refined):
    readable = refined.account.readable
    grades = list(refined.decision.grades[:3])
    assert sorted(one.grade for one in readable) == sorted(grades)
    (exact,) = [one for one in readable if one.grade == "exact"]
    assert exact.words == "rotation in x₂–x₃"
    assert float(refined.coefficients[0] @ exact.coefficients) ** 2 == pytest.approx(1)
    rows = [line.split() for line in str(refined).split("defect δ²")[1].splitlines()[1:4]]
    shown = [next(word for word in row if word in GRADES) for row in rows]
    assert sorted(shown) == sorted(grades)
    (reason,) = [
        one for one in refined.decision.reasons if one.diagnosis is Diagnosis.HOLD_AT_FINITE_SIZE
    ]
    assert reason.values["holding"] == sum(curve.holds for curve in refined.verification.curves)


def test_words_that_would_mix_grades_are_not_shown():
    """The exact rotation is about an oblique axis: rotations of the coordinate planes would hide it."""

    def oblique(x):
        return x.square().sum(1) + 0.3 * x.sum(1) / 3**0.5

    sym = found(oblique, normal(1500, 3))
    assert (sym.nullity, sym.decision.exact) == (3, 1)
    assert sym.account.readable == ()
    table = str(sym).split("defect δ²")[1].splitlines()[1:4]
    assert ["exact" in row for row in table] == [True, False, False]


# Rank among other results.


def trained_like(seed, count=3):
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(count, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1)
    ).double()


def test_rank_among_controls_of_the_user():
    x, action = 2 * normal(200, 3), liegg.Linear(3)
    controls = [liegg.discover(trained_like(i), x, action, controls="none") for i in range(19)]
    test = rank_among(liegg.discover(square, x, action), controls)
    assert (test.p, test.dimension, test.learned) == (1 / 20, 3, True)
    one_of_them = rank_among(liegg.discover(trained_like(50), x, action), controls)
    assert one_of_them.p > 1 / 20
    again = rank_among(liegg.discover(square, x, action), [liegg.discover(square, x, action)] * 3)
    assert again.p == 1.0


@pytest.mark.parametrize(
    ("others", "text"),
    [
        (lambda sym: [sym], "1 results of control models"),
        (lambda sym: [sym, "file"], "control 2 is a str"),
        (lambda sym: [sym, found(square, normal(399, 3))], "control 2 is about another action"),
        (lambda sym: [found(square, 2 * normal(400, 3)), sym], "control 1 is about another action"),
        (
            lambda sym: [sym, liegg.discover(square, normal(400, 3), liegg.Affine(3))],
            "control 2 is about another action",
        ),
        (
            lambda sym: [
                liegg.discover(lambda x: x, normal(400, 3), liegg.Linear(3), target=0),
                sym,
            ],
            "control 1 is about another action, another target",
        ),
    ],
)
def test_results_that_cannot_be_compared_are_refused(others, text):
    sym = found(square)
    with pytest.raises(ArgumentError, match=text):
        rank_among(sym, others(sym))
