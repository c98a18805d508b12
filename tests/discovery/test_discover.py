"""discover(): its arguments, its controls, and what it says of data and models that decide nothing."""

import math
import re
from dataclasses import asdict
from itertools import pairwise
from typing import Any, cast

import pytest
import torch

import liegg
import liegg.testing
from cases import norm_case, normal, opposite_outputs, square
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, NotDifferentiableError, ShapeError


def diagnoses(sym):
    """Members of the warnings."""
    return [warning.diagnosis for warning in sym.decision.warnings]


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


def test_mixed_units_are_warned_of():
    scale = torch.tensor([1.0, 1.0, 1e-3], dtype=torch.float64)
    sym = liegg.discover(
        lambda x: torch.tanh(x / scale) @ normal(3, 2), normal(300, 3) * scale, liegg.Linear(3)
    )
    assert diagnoses(sym)[0] is Diagnosis.MIXED_UNITS
    assert sym.decision.warnings[0].values["ratio"] == pytest.approx(1e3, rel=0.1)


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
    run = liegg.Run(batch_size=11, seed=3)
    sym = liegg.discover(square, normal(100, 3), liegg.Linear(3), thresholds=thresholds, run=run)
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
        ({"seed": 1}, ArgumentError, r"liegg.Run\(seed=...\)"),
        ({"action": liegg.Linear}, ArgumentError, "action=.*expected an action"),
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
    assert (without.settings["controls"], without.settings["blocks"]) == ("none", 0)
    assert (with_them.settings["controls"], with_them.settings["blocks"]) == ("random", 32)
    assert without.decision.nullity_interval is None


def test_intervals_are_around_what_a_large_sample_has():
    large = liegg.discover(
        bent(0.1), normal(100_000, 3, seed=9), liegg.Linear(3), controls="none"
    ).defects
    sym = liegg.discover(bent(0.1), normal(1000, 3), liegg.Linear(3))
    low, high = sym.intervals[1:].unbind(1)
    assert bool((low < large[1:]).all())
    assert bool((large[1:] < high).all())
    assert bool((high / low < 2).all())
    assert sym.decision.grades[:4] == ("exact", "strong", "strong", "none")
    assert sym.decision.nullity_interval == (3, 3)
    assert sym.decision.certainty is not None
    assert 0 < math.degrees(sym.decision.certainty.angle) < 3


def test_copies_of_samples_are_no_evidence_with_or_without_groups():
    x = normal(300, 3)
    copies = x.repeat_interleave(4, 0)
    alone, taken, grouped = (
        liegg.discover(bent(0.1), data, liegg.Linear(3), run=liegg.Run(groups=groups))
        for data, groups in (
            (x, range(300)),
            (copies, None),
            (copies, [i // 4 for i in range(1200)]),
        )
    )
    # The number of different samples is estimated.
    torch.testing.assert_close(
        grouped.intervals, alone.intervals, rtol=0.05, atol=0, equal_nan=True
    )
    wide = [
        float((sym.intervals[1:, 1] / sym.intervals[1:, 0]).log().mean()) for sym in (alone, taken)
    ]
    assert wide[1] == pytest.approx(wide[0], rel=0.3)  # other blocks, of the same samples


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"run": liegg.Run(groups=[0, 1])}, "groups has 2 labels"),
        ({"run": liegg.Run(groups=range(60))}, "groups has 60 labels for 50 samples"),
        ({"controls": "shuffled"}, "controls='shuffled': expected"),
        ({"controls": "reinitialised"}, "a function"),  # which has no weights to reset
        ({"control": "reinitialised"}, "controls='reinitialised'"),
        ({"treshold": 0.1}, "liegg.Thresholds(threshold=...)"),
        ({"level": 0.9}, "liegg.Thresholds(level=...)"),
        ({"batch_size": 10}, "liegg.Run(batch_size=...)"),
        ({"bottom": 10}, "liegg.Run(bottom=...)"),
        ({"heldout": normal(5, 3)}, "held_out="),
        ({"held": normal(5, 3)}, "held_out="),
        ({"tol": 1e-3}, "liegg.Thresholds(threshold=...)"),
        ({"bootstrap": 100}, "liegg.Thresholds(level=...)"),
        ({"questions": "rotation"}, "about='rotation'"),
        ({"device": "cuda"}, "model.cuda()"),
        ({"verbose": True}, "liegg.Run(progress=...)"),
        ({"zebra": True}, "Its arguments are model, data, action"),
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
    assert sym.controls.reinitialised.along.shape == (19, 6)
    assert sym.controls.reinitialised.own.shape == (19, 9)
    test = sym.controls.reinitialised.test
    assert test is not None
    assert (test.p, test.dimension, test.learned) == (1 / 20, 3, True)
    assert test.model == pytest.approx(float(sym.defects[:3].clamp_min(1e-4).mean()))
    assert float(sym.controls.reinitialised.along[:, :3].min()) > 10 * float(sym.defects[2])
    assert all(
        torch.equal(one, other) for one, other in zip(before, network.parameters(), strict=True)
    )


def test_expensive_models_get_few_draws_and_say_so(monkeypatch):
    """19 draws would take longer than allowed, here no time at all; with a number given, cost does not matter."""
    monkeypatch.setattr("liegg.discovery.reinitialised.CONTROL_SECONDS", 0.0)
    monkeypatch.setattr("liegg.discovery.reinitialised.CONTROL_SHARE", 0.0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def draws(**run):
        sym = liegg.discover(
            network,
            normal(100, 3).float(),
            liegg.Linear(3),
            controls="reinitialised",
            run=liegg.Run(**run),
        )
        control = sym.controls.reinitialised
        assert control is not None
        assert control.test is not None
        return control.test

    few, asked = draws(), draws(control_draws=7)
    assert (len(few.along), len(asked.along)) == (5, 7)
    assert few.smallest_p == pytest.approx(1 / 6)
    assert not few.learned


def test_seeds_share_no_reinitialised_model():
    network = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    own = [
        liegg.discover(
            network,
            normal(60, 2).float(),
            liegg.Linear(2),
            controls="reinitialised",
            run=liegg.Run(control_draws=5, seed=seed),
        ).controls.reinitialised.own[:, 0]  # pyright: ignore[reportOptionalMemberAccess]
        for seed in (0, 1, 0)
    ]
    torch.testing.assert_close(own[0], own[2])
    assert float((own[0][:, None] / own[1] - 1).abs().min()) > 1e-6


def test_a_failed_verification_changes_the_verdict():
    """3 x₀ has no derivative here: rotations in the plane of the other two are the only symmetry."""

    def hidden(x):
        return x.square().sum(1) + 3 * x[:, 0].detach()

    sym = liegg.discover(
        hidden,
        normal(400, 3),
        liegg.Linear(3),
        held_out=normal(300, 3, seed=9),
        run=liegg.Run(hidden="warn"),
    )
    plane = torch.zeros(1, 3, 3, dtype=torch.float64)
    plane[0, 1, 2], plane[0, 2, 1] = 1.0, -1.0
    assert (sym.nullity, sym.decision.exact, sym.name) == (1, 1, "so(2)")
    assert float(sym.angles(plane).max()) < 1e-6
    assert Diagnosis.FAILS_AT_FINITE_SIZE in [w.diagnosis for w in sym.decision.warnings]


def test_progress_and_effort_of_the_verification_are_passed_on():
    seen = []
    run = liegg.Run(verify_effort="full", verify_progress=lambda *numbers: seen.append(numbers))
    liegg.discover(square, normal(50, 2), liegg.Linear(2), held_out=normal(40, 2), run=run)
    assert seen[-1][0] == seen[-1][1] > 40
    with pytest.raises(ArgumentError, match="verify_effort"):
        liegg.Run(verify_effort="half")  # pyright: ignore[reportArgumentType]


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
    assert (turned.nullity, turned.decision.grades) == (1, ("exact",))


def test_dead_outputs_and_saturated_ones_are_warned_of():
    dead = liegg.discover(
        lambda x: torch.cat([x**3, 0 * x[:, :2]], 1), normal(100, 3), liegg.Linear(3)
    )
    assert len(dead.decision.warnings) == 1
    weights = 3 * normal(3, 4)
    full = liegg.discover(
        lambda x: torch.softmax(50 * (x @ weights).sin(), 1), normal(2000, 3), liegg.Linear(3)
    )
    steep, saturated = (one.diagnosis for one in full.decision.warnings)
    assert steep is Diagnosis.JUMPS_NOT_EXCLUDED
    assert saturated is Diagnosis.SATURATED


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
    assert whole.decision.grades[:3] == part.decision.grades == ("weak",) * 3
    assert whole.controls.random is not None
    assert part.controls.random is not None
    assert part.controls.random.low == pytest.approx(whole.controls.random.low, rel=1e-6)


def test_groups_need_an_order_and_a_use():
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(normal(50, 3)), batch_size=10, shuffle=True
    )
    with pytest.raises(ArgumentError, match=r"the loader shuffles them\. Pass shuffle=False"):
        liegg.discover(square, loader, liegg.Linear(3), run=liegg.Run(groups=list(range(50))))
    with pytest.raises(ArgumentError, match="groups= is for intervals, which controls='none'"):
        liegg.discover(
            square,
            normal(50, 3),
            liegg.Linear(3),
            run=liegg.Run(groups=list(range(50))),
            controls="none",
        )
    with pytest.raises(ArgumentError, match="held_out has 1 sample; at least 2 are needed"):
        liegg.discover(square, normal(50, 3), liegg.Linear(3), held_out=normal(1, 3))
