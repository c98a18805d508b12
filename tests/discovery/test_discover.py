"""The whole way, from a model and data to generators: known algebras, the oracle's numbers, what must not matter."""

import math
import re
from dataclasses import asdict
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
import torch

import liegg
import liegg.testing
import oracle
from cases import (
    CASES,
    FromInnerProducts,
    conjugated_rotation,
    lorentz,
    mlp,
    norm_case,
    normal,
    opposite_outputs,
    sphere,
    sphere_case,
    square,
)
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, NotDifferentiableError, ShapeError
from liegg.algebra.subspace import distance_to_span


@pytest.fixture(scope="module", params=CASES, ids=str)
def analysed(request):
    """A case with its result and the oracle's dense answer."""
    case = request.param
    generators = case.action.matrices(torch.eye(case.action.size, dtype=torch.float64)).numpy()
    xi = oracle.fields(
        case.data.numpy(), generators, copies=case.copies, vector_first=case.vector_first
    )
    e = oracle.polarization(oracle.jacobians(case.function, case.data), xi)
    return case, liegg.discover(case.function, case.data, case.action), e, xi


def diagnoses(sym):
    """Members of the warnings."""
    return [warning.diagnosis for warning in sym.decision.warnings]


def test_nullity(analysed):
    case, sym, _, _ = analysed
    assert sym.nullity == sym.decision.exact == case.nullity
    assert len(sym.accumulated.solution.trivial) == case.trivial
    assert sym.decision.undecided == 0


def test_generators_span_the_known_algebra(analysed):
    case, sym, _, _ = analysed
    assert (
        np.linalg.matrix_rank(case.generators.flatten(1)) == case.nullity
        if case.nullity
        else len(case.generators) == 0
    )
    assert oracle.angle(sym.generators.numpy(), case.generators.numpy()) < 1e-12


def test_generators_are_orthonormal(analysed):
    _, sym, _, _ = analysed
    gram = torch.einsum("aij,bij->ab", sym.generators, sym.generators)
    torch.testing.assert_close(
        gram, torch.eye(sym.nullity, dtype=torch.float64), rtol=0, atol=1e-12
    )


def test_spectrum_is_the_oracles(analysed):
    _, sym, e, xi = analysed
    values, _ = oracle.spectrum(e, len(xi))
    np.testing.assert_allclose(sym.spectrum.values, values, rtol=1e-8, atol=1e-14 * values[-1])


def test_defects_are_the_oracles(analysed):
    _, sym, e, xi = analysed
    expected = oracle.defects(e, xi)
    found, unit = sym.accumulated.solution, expected.sensitivity
    lengths = sym.defects * found.sensitivity
    np.testing.assert_allclose(lengths, expected.values * unit, rtol=1e-8, atol=1e-12)
    if sym.action.row_action is sym.action:  # else its unit is that of its parent, see below
        assert found.sensitivity == pytest.approx(unit, rel=1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_invariant_model_restricted_to_its_algebra_keeps_all_of_it(dtype):
    x = normal(400, 3).to(dtype)
    sym = liegg.discover(lambda x: x.norm(dim=1).sin(), x, liegg.Linear(3).restrict(liegg.so(3)))
    assert (sym.nullity, sym.decision.exact) == (3, 3)
    liegg.testing.assert_invariant(
        lambda x: x.norm(dim=1), x, liegg.so(3), action=liegg.Linear(3).restrict(liegg.so(3))
    )


def test_a_restricted_action_gives_the_defects_of_its_parent():
    def nearly(x):
        return x.square().sum(1) + 0.05 * x[:, 0]

    x = normal(400, 3)
    parent, inner = (
        liegg.discover(nearly, x, action)
        for action in (liegg.Linear(3), liegg.Linear(3).restrict(liegg.so(3)))
    )
    torch.testing.assert_close(
        inner.defect(liegg.so(3)), parent.defect(liegg.so(3)), rtol=1e-10, atol=1e-25
    )
    assert inner.nullity == 3
    assert inner.accumulated.solution.sensitivity == pytest.approx(
        parent.accumulated.solution.sensitivity, rel=1e-12
    )


@pytest.mark.parametrize(
    ("function", "outputs"),
    [
        (lambda x: (x / x.norm(dim=1, keepdim=True)).norm(dim=1), "each"),  # 1, up to rounding
        (
            lambda x: torch.softmax(x @ torch.eye(3, dtype=x.dtype), 1),
            "sum",
        ),  # the sum of a softmax
        (lambda x: x.sum(1) * 0 + 3, "each"),
    ],
)
def test_a_constant_up_to_rounding_is_undecided(function, outputs):
    sym = liegg.discover(function, normal(300, 3), liegg.Linear(3), outputs=outputs)
    assert (sym.nullity, sym.decision.undecided) == (0, 9)
    assert len(sym.decision.warnings) == 1
    assert sym.decision.sentence.diagnosis is Diagnosis.UNDECIDED
    assert sym.decision.sentence.values == {"undecided": 9, "total": 9}


@pytest.mark.parametrize("offset", [1e3, 1e4])
def test_few_samples_far_from_the_origin_decide_nothing(offset):
    inner, outer = normal(4, 8, seed=1).float(), normal(8, 1, seed=2).float()
    for seed in range(5):
        x = (normal(12, 4, seed=seed) + offset).float()
        sym = liegg.discover(
            lambda x: torch.tanh((x - offset) @ inner * 0.3) @ outer, x, liegg.Linear(4)
        )
        assert sym.nullity == 0
        assert sym.settings["accumulator"] == "qr"


def test_an_offset_makes_no_direction_trivial():
    sym = liegg.discover(
        lambda x: (x - 1000).norm(dim=1).sin(), normal(1000, 3) + 1000, liegg.Affine(3)
    )
    assert (sym.nullity, len(sym.accumulated.solution.trivial)) == (3, 0)


def test_mixed_units_are_warned_of():
    scale = torch.tensor([1.0, 1.0, 1e-3], dtype=torch.float64)
    sym = liegg.discover(
        lambda x: torch.tanh(x / scale) @ normal(3, 2), normal(300, 3) * scale, liegg.Linear(3)
    )
    assert diagnoses(sym)[0] is Diagnosis.MIXED_UNITS
    assert sym.decision.warnings[0].values["ratio"] == pytest.approx(1e3, rel=0.1)


def test_float32_equivariance_with_dependent_outputs():
    def copied(x):
        a, b = x[:, :3], x[:, 3:]
        y = torch.linalg.cross(a, b) + a * b.square().sum(1, keepdim=True).sin()
        return torch.cat([y, y[:, :1]], 1)

    x = normal(500, 6)
    double, single = (
        liegg.discover(copied, x.to(t), liegg.Linear(3, copies=2), output_action=liegg.Linear(4))
        for t in (torch.float64, torch.float32)
    )
    assert double.nullity == single.nullity == 3
    assert oracle.angle(double.output_generators.numpy(), single.output_generators.numpy()) < 1e-5


def test_any_generator_can_be_asked_about(analysed):
    case, sym, e, xi = analysed
    h = normal(3, case.action.size, seed=5)
    if sym.accumulated.solution.sensitivity > 0:
        expected = [
            oracle.defect(e, xi, row.numpy(), sym.accumulated.solution.sensitivity) for row in h
        ]
        np.testing.assert_allclose(sym.defect(case.action.matrices(h)), expected, rtol=1e-8)
    variance = np.sum((e @ h.numpy().T) ** 2, axis=0) / len(xi)
    np.testing.assert_allclose(sym.accumulated.variance(h), variance, rtol=1e-8)


@pytest.mark.parametrize("case", [c for c in CASES if c.nullity and not c.trivial], ids=str)
def test_both_null_spaces_agree(case):
    """The paper's spectrum and the scale-free one agree on an exact symmetry, up to the trivial directions."""
    sym = liegg.discover(case.function, case.data, case.action)
    assert sym.bias(case.generators)[: case.nullity].max() < 1e-12
    span = case.action.as_coefficients(case.generators)
    assert distance_to_span(sym.coefficients, span).max() < 1e-12
    assert sym.angles(case.generators).max() < 1e-12


@pytest.mark.parametrize("n", range(2, 9))
def test_the_papers_sphere(n):
    case = sphere_case(n)
    sym = liegg.discover(case.function, sphere(max(200, 2 * n * n), n), case.action)
    assert sym.nullity == n * (n - 1) // 2
    assert sym.angles(liegg.so(n)).max() < 1e-12


def test_invariant_by_construction():
    sym = liegg.discover(FromInnerProducts(5), normal(500, 10), liegg.Linear(5, copies=2))
    values = sym.spectrum.values
    assert sym.nullity == sym.decision.exact == 10
    assert bool((values[:10] <= 1e-25 * values[-1]).all())
    assert sym.bias(liegg.so(5))[:10].max() <= 1e-9
    assert distance_to_span(sym.coefficients, liegg.so(5).flatten(1)).max() <= 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_float32_models(seed):
    """Rounding of the model is all that is left: ten variances six decades apart from the rest, angles of float32 size."""
    model = FromInnerProducts(5, dtype=torch.float32, seed=seed)
    sym = liegg.discover(model, normal(500, 10, seed=seed), liegg.Linear(5, copies=2))
    assert sym.settings["dtype"] == "float32"
    assert sym.nullity == 10
    assert sym.generators.dtype == torch.float64
    assert sym.angles(liegg.so(5)).max() < 1e-5
    assert float(sym.spectrum.values[9] / sym.spectrum.values[10]) < 1e-9


@pytest.mark.parametrize("n", [2, 3, 5])
def test_float32_functions(n):
    case = norm_case(n)
    sym = liegg.discover(case.function, case.data.float(), case.action)
    assert sym.nullity == sym.decision.exact == case.nullity
    assert sym.angles(liegg.so(n)).max() < 1e-6


@pytest.mark.parametrize("size", [1, 7, 64, 10_000])
def test_the_batch_size_does_not_matter(size):
    case = lorentz()
    one, other = (
        liegg.discover(case.function, case.data, case.action, run=liegg.Run(batch_size=b))
        for b in (50, size)
    )
    torch.testing.assert_close(one.spectrum.values, other.spectrum.values, rtol=1e-10, atol=1e-25)
    torch.testing.assert_close(one.defects, other.defects, rtol=1e-10, atol=1e-25)
    torch.testing.assert_close(one.generators, other.generators, rtol=0, atol=1e-12)


def test_the_order_of_the_samples_does_not_matter():
    case = lorentz()
    one, other = (
        liegg.discover(case.function, x, case.action) for x in (case.data, case.data.flip(0))
    )
    torch.testing.assert_close(one.defects, other.defects, rtol=1e-10, atol=1e-25)
    torch.testing.assert_close(one.generators, other.generators, rtol=0, atol=1e-12)


def test_a_second_call_finds_the_same():
    model = mlp(3, 16, 4)
    one, two = (liegg.discover(model, normal(100, 3), liegg.Linear(3), outputs=2) for _ in range(2))
    torch.testing.assert_close(one.accumulated.factor, two.accumulated.factor, rtol=0, atol=1e-12)
    torch.testing.assert_close(one.defects, two.defects, rtol=1e-9, atol=0)
    torch.testing.assert_close(one.intervals, two.intervals, rtol=1e-8, atol=0)
    assert (one.grades, one.settings, one.notes) == (two.grades, two.settings, two.notes)


def test_the_sum_of_outputs_is_blind_where_each_is_not():
    case = opposite_outputs()
    blind = liegg.discover(case.function, case.data, case.action, outputs="sum")
    assert (blind.nullity, blind.decision.undecided) == (0, 9)
    assert len(blind.decision.warnings) == 1
    assert liegg.discover(case.function, case.data, case.action).nullity == 6


def test_few_samples_decide_nothing():
    case = norm_case(5)  # 15 independent constraints
    few = liegg.discover(case.function, case.data[:15], case.action)
    assert (few.nullity, few.decision.undecided) == (0, 10)
    assert diagnoses(few) == [Diagnosis.TOO_FEW_SAMPLES]
    assert (few.decision.warnings[0].values["samples"], few.decision.undecided) == (15, 10)
    enough = liegg.discover(case.function, case.data[:16], case.action)
    assert (enough.nullity, enough.decision.undecided) == (10, 0)
    assert diagnoses(enough) == [Diagnosis.FEW_SAMPLES]
    assert enough.decision.warnings[0].values["needed"] == 50


def test_conditioned_forms_keep_their_exact_count():
    """|Px|² with condition 5 is exactly symmetric in three directions; stretching the flat axis of P hardly changes it, but a
    fourth direction of small defect (0.006) is no part of the algebra, and the widest gap comes before it."""
    case = conjugated_rotation(condition=5.0)
    sym = liegg.discover(case.function, case.data, case.action)
    assert (sym.nullity, sym.decision.exact) == (3, 3)
    assert oracle.angle(sym.generators.numpy(), case.generators.numpy()) < 1e-12


def test_progress_is_told_the_samples():
    seen = []
    liegg.discover(
        square, normal(100, 3), liegg.Linear(3), run=liegg.Run(batch_size=30, progress=seen.append)
    )
    assert seen == [30, 30, 30, 10]


def test_every_choice_is_recorded():
    thresholds = liegg.Thresholds(
        threshold=0.5, minimum_gap=2.0, resolution=1e-3, floor_factor=7.0, trivial_tolerance=1e-9
    )
    run = liegg.Run(batch_size=11)
    sym = liegg.discover(
        square, normal(100, 3), liegg.Linear(3), thresholds=thresholds, run=run, seed=3
    )
    assert sym.decision.thresholds == thresholds
    assert asdict(thresholds).items() <= sym.settings.items()
    assert (sym.settings["seed"], sym.settings["batch_size"], sym.accumulated.seed) == (3, 11, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"action": liegg.Linear(4)}, ShapeError, r"shape \(3,\)"),
        ({"output_action": liegg.Linear(5)}, ShapeError, "output_action"),
        ({"output_action": liegg.Linear(2), "outputs": "sum"}, ArgumentError, "outputs='sum'"),
        ({"outputs": 0}, ArgumentError, "outputs=0: expected"),
        ({"run": liegg.Run(batch_size=0)}, ArgumentError, "batch_size=0: expected"),
        ({"seed": -1}, ArgumentError, "seed=-1: expected"),
        ({"action": liegg.Linear}, ArgumentError, "must be actions"),
        ({"thresholds": 0.1}, ArgumentError, "thresholds=0.1: expected .*Thresholds"),
        ({"run": "fast"}, ArgumentError, "run='fast': expected .*Run"),
        ({"controls": "all"}, ArgumentError, "controls='all': expected 'none', 'random'"),
        ({"controls": True}, ArgumentError, "controls=True: expected 'none', 'random'"),
    ],
)
def test_bad_arguments(arguments, error, text, monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)  # our words, not beartype's
    with pytest.raises(error, match=text):
        liegg.discover(
            lambda x: x[:, :2], normal(20, 3), **cast(Any, {"action": liegg.Linear(3), **arguments})
        )


def test_questions_that_make_no_sense():
    sym = liegg.discover(square, normal(50, 3), liegg.Linear(3))
    with pytest.raises(
        ArgumentError, match="this is an analysis of invariance: pass output_action= to discover"
    ):
        _ = sym.output_generators
    with pytest.raises(
        ArgumentError, match="output_generators given, but this is an analysis of invariance"
    ):
        sym.defect(liegg.so(3), liegg.so(3))
    with pytest.raises(
        ArgumentError, match=r"generators have shape \(1, 2, 2\); expected \[d, 3, 3\]"
    ):
        sym.bias(liegg.so(2))


def test_scalar_samples_and_scalar_outputs():
    sym = liegg.discover(
        lambda x: x**3, normal(100, 1)[:, 0], liegg.Linear(1), output_action=liegg.Linear(1)
    )
    assert sym.nullity == 1  # scaling the input by s scales the output by s³
    torch.testing.assert_close(
        sym.output_generators / sym.generators, torch.full((1, 1, 1), 3.0, dtype=torch.float64)
    )


def bent(strength):
    """|x|² with a part that breaks two of its three symmetries."""
    return lambda x: x.square().sum(1) + strength * x[:, 0].sin()


def test_controls_change_no_defect_and_can_be_switched_off():
    with_them, without = (
        liegg.discover(bent(0.1), normal(500, 3), liegg.Linear(3), controls=controls)
        for controls in ("random", "none")
    )
    torch.testing.assert_close(with_them.defects, without.defects, rtol=1e-11, atol=1e-28)
    assert (
        without.controls.random is without.decision.certainty is without.accumulated.blocks is None
    )
    assert bool(without.intervals.isnan().all())
    assert (without.settings["controls"], without.settings["blocks"]) == (False, 0)
    assert (with_them.settings["controls"], with_them.settings["blocks"]) == (True, 32)
    assert without.decision.nullity_interval == (without.nullity, without.nullity)


def test_intervals_are_around_what_a_large_sample_has():
    large = liegg.discover(
        bent(0.1), normal(100_000, 3, seed=9), liegg.Linear(3), controls="none"
    ).defects
    sym = liegg.discover(bent(0.1), normal(1000, 3), liegg.Linear(3))
    low, high = sym.intervals[1:].unbind(1)
    assert bool((low < large[1:]).all())
    assert bool((large[1:] < high).all())
    assert bool((high / low < 2).all())
    assert sym.grades[:4] == ("exact", "strong", "strong", "none")
    assert sym.decision.nullity_interval == (3, 3)
    assert sym.decision.certainty is not None
    assert 0 < math.degrees(sym.decision.certainty.angle) < 3


def test_copies_of_samples_are_no_evidence_when_they_stay_together():
    x = normal(300, 3)
    copies = x.repeat_interleave(4, 0)
    alone, taken, grouped = (
        liegg.discover(bent(0.1), data, liegg.Linear(3), groups=groups)
        for data, groups in ((x, None), (copies, None), (copies, [i // 4 for i in range(1200)]))
    )
    torch.testing.assert_close(
        grouped.intervals, alone.intervals, rtol=1e-6, atol=0, equal_nan=True
    )
    wide = [
        float((sym.intervals[1:, 1] / sym.intervals[1:, 0]).log().mean()) for sym in (alone, taken)
    ]
    assert wide[1] < 0.8 * wide[0]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"groups": [0, 1]}, "groups has 2 labels"),
        ({"groups": range(60)}, "groups has 60 labels for 50 samples"),
        ({"controls": "shuffled"}, "controls='shuffled': expected"),
        ({"controls": "reinitialised"}, "a function"),  # which has no weights to reset
        ({"control": "reinitialised"}, "controls='reinitialised'"),
        ({"treshold": 0.1}, "liegg.Thresholds(threshold=...)"),
        ({"level": 0.9}, "liegg.Thresholds(level=...)"),
        ({"batch_size": 10}, "liegg.Run(batch_size=...)"),
        ({"bottom": 10}, "liegg.Run(bottom=...)"),
        ({"heldout": normal(5, 3)}, "held_out="),
        ({"device": "cuda"}, "model.cuda()"),
        ({"verbose": True}, "Its arguments are model, data, action"),
    ],
)
def test_questions_about_trust_that_make_no_sense(options, text, monkeypatch):
    monkeypatch.setattr(
        "jaxtyping.config.jaxtyping_disable", True
    )  # as users run it: the words, not beartype's
    with pytest.raises(ArgumentError, match=re.escape(text)):
        liegg.discover(square, normal(50, 3), liegg.Linear(3), **options)


def test_reinitialised_models_show_what_was_learned():
    """Trained on |x|²: its three rotations were learned. A network of |x| has them whatever its weights are."""
    torch.manual_seed(0)
    widths = (3, 64, 64, 1)
    layers = [
        part for i, o in pairwise(widths) for part in (torch.nn.Linear(i, o), torch.nn.SiLU())
    ]
    network = torch.nn.Sequential(*layers[:-1])
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    for step in range(400):
        x = normal(256, 3, seed=step).float()
        loss = (network(x)[:, 0] - x.square().sum(1)).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    before = [weight.clone() for weight in network.parameters()]
    sym = liegg.discover(
        network, normal(1000, 3).float(), liegg.Linear(3), controls="reinitialised"
    )
    assert sym.nullity == 3
    assert sym.controls.reinitialised is not None
    assert sym.controls.reinitialised.learned[:3] == (True, True, True)
    assert sym.controls.reinitialised.along.shape == (5, 6)
    assert float(sym.controls.reinitialised.along[:, :3].min()) > 10 * float(sym.defects[2])
    assert all(
        torch.equal(one, other) for one, other in zip(before, network.parameters(), strict=True)
    )


def test_steps_say_that_a_derivative_cannot_see_them():
    class Steps(torch.autograd.Function):
        """Rounds, with a derivative of zero as torch.sign has."""

        @staticmethod
        def forward(ctx, x):
            return x.round()

        @staticmethod
        def backward(ctx, *gradients):
            return torch.zeros_like(gradients[0])

    with pytest.raises(
        NotDifferentiableError, match="changes with the input but carries no derivative"
    ):
        liegg.discover(lambda x: Steps.apply(x.square().sum(1)), normal(100, 3), liegg.Linear(3))


def test_a_model_invariant_under_all_candidates_is_exactly_that():
    sym = liegg.discover(
        lambda x: x.square().sum(1), normal(100, 3), liegg.Linear(3).restrict(liegg.so(3))
    )
    assert (sym.nullity, sym.decision.exact) == (3, 3)
    turned = liegg.discover(
        lambda x: x[:, 2:] ** 2, normal(100, 3), liegg.Linear(3).restrict(liegg.so(3)[:1])
    )
    assert (turned.nullity, turned.grades) == (1, ("exact",))


def test_dead_outputs_and_saturated_ones_are_warned_of():
    dead = liegg.discover(
        lambda x: torch.cat([x**3, 0 * x[:, :2]], 1), normal(100, 3), liegg.Linear(3)
    )
    assert len(dead.decision.warnings) == 1
    weights = 3 * normal(3, 4)
    full = liegg.discover(
        lambda x: torch.softmax(50 * (x @ weights).sin(), 1), normal(2000, 3), liegg.Linear(3)
    )
    assert len(full.decision.warnings) == 1


@pytest.mark.parametrize("power", [1.0, 4.0, 6.0, 10.0, 30.0])
def test_exact_directions_are_counted_whatever_follows_them(power):
    """|Bx|² for ever more stretched B: the seventh defect falls to nothing, but the six exact ones stay what they are."""
    stretch = torch.diag(power ** torch.arange(4, dtype=torch.float64))
    sym = liegg.discover(
        lambda x: torch.log1p((x @ stretch).square().sum(1)), normal(2000, 4), liegg.Linear(4)
    )
    assert sym.nullity >= 6
    assert sym.grades[:6] == ("exact",) * 6


def test_the_first_samples_alone_do_not_make_a_model_flat():
    x = normal(3000, 3).float()
    x[:64] *= 1e-9
    assert liegg.discover(lambda x: x.square().sum(1) + 1, x, liegg.Linear(3)).nullity == 3


def test_fewer_candidates_are_compared_with_all_of_their_action():
    def f(x):
        return x.square().sum(1) + 0.3 * x.pow(3).sum(1)

    whole, part = (
        liegg.discover(f, normal(1000, 3), a)
        for a in (liegg.Linear(3), liegg.Linear(3).restrict(liegg.so(3)))
    )
    assert whole.grades[:3] == part.grades == ("weak",) * 3
    assert whole.controls.random is not None
    assert part.controls.random is not None
    assert part.controls.random.low == pytest.approx(whole.controls.random.low, rel=1e-6)


def test_groups_need_an_order_and_a_use():
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(normal(50, 3)), batch_size=10, shuffle=True
    )
    with pytest.raises(ArgumentError, match=r"the loader shuffles them\. Pass shuffle=False"):
        liegg.discover(square, loader, liegg.Linear(3), groups=list(range(50)))
    with pytest.raises(ArgumentError, match="groups= is for intervals, which controls='none'"):
        liegg.discover(
            square, normal(50, 3), liegg.Linear(3), groups=list(range(50)), controls="none"
        )
    with pytest.raises(ArgumentError, match="held_out has 1 samples; at least 2 are needed"):
        liegg.discover(square, normal(50, 3), liegg.Linear(3), held_out=normal(1, 3))
