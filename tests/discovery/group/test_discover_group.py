"""The verb: known groups, what data cannot tell, equivariance, bad input."""

import math

import pytest
import torch
from torch import nn

import liegg
from group_cases import (
    Case,
    SetNetwork,
    automorphism_cases,
    continuous_cases,
    exact_cases,
    lorentz_cases,
    network,
    normal,
    rotations_of_order,
    slot_cases,
    symmetrised,
)
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import ArgumentError, LieggError, ShapeError
from liegg.actions import Slots
from liegg.discovery.group.slot_probes import SOURCE

EXACT, SLOTS, CONTINUOUS = exact_cases(), slot_cases(), continuous_cases()
QUICK = {"|x| + |y|", "set of 10", "sets of 3 and 2"}


def of(cases, *, quick):
    return [pytest.param(case, id=case.name) for case in cases if (case.name in QUICK) is quick]


def check(case: Case):
    found = liegg.discover_group(case.model, case.data, case.action)
    assert (found.name, found.order) == (case.group, case.order)
    assert all(one.counted for one in (*found.elements, *found.permutations))
    return found


@pytest.mark.parametrize("case", of([*EXACT, *SLOTS, *CONTINUOUS], quick=True))
def test_known_groups(case):
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", of([*EXACT, *SLOTS, *CONTINUOUS], quick=False))
def test_more_known_groups(case):
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", automorphism_cases(), ids=lambda case: case.name)
def test_outer_automorphisms_are_structured_starts(case):
    found = liegg.discover_group(case.model, case.data, case.action, starts=0)
    assert (found.name, found.order) == (case.group, case.order)
    assert "mirror images differ" not in found.sentence


@pytest.mark.slow
def test_exchanged_parts_of_unequal_size_are_found_by_the_search():
    parts = automorphism_cases()[1]
    stretch = torch.diag(torch.tensor([1.0] * 5 + [3.0] * 5)).double() + 0.1 * normal(
        10, 10, seed=4
    )
    found = liegg.discover_group(
        lambda x: parts.model(x @ torch.linalg.inv(stretch)), parts.data @ stretch, parts.action
    )
    assert (found.name, found.order) == (parts.group, parts.order)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "words", "refuted"),
    [
        pytest.param(case, words, refuted, id=case.name)
        for case, (words, refuted) in zip(
            lorentz_cases(),
            [
                ({"parity", "time reversal", "parity and time reversal"}, []),
                ({"parity"}, ["time reversal changes"]),
                ({"time reversal"}, ["parity changes"]),
                ({"parity and time reversal"}, ["parity changes", "time reversal changes"]),
                (set(), ["parity changes", "time reversal changes", "reversal together change"]),
            ],
            strict=True,
        )
    ],
)
def test_parity_and_time_reversal_are_told_apart_in_sheared_coordinates(case, words, refuted):
    shear = torch.eye(4).double() + 0.3 * normal(4, 4, seed=5)
    inverse = torch.linalg.inv(shear)
    found = liegg.discover_group(
        lambda x: case.model(x @ inverse.mT), case.data @ shear.mT, case.action
    )
    assert (found.name, found.order) == (case.group, case.order)
    assert {one.partition(" (")[0] for one in found.words[1:]} == words
    assert [one for one in REFUTED if one in found.sentence] == refuted
    metric = inverse.mT @ torch.diag(torch.tensor([1.0, -1, -1, -1])).double() @ inverse
    for one in found.elements:  # the form was not given
        assert torch.allclose(one.matrix.mT @ metric @ one.matrix, metric, atol=1e-9)


REFUTED = ("parity changes", "time reversal changes", "reversal together change")


def test_the_elements_are_the_symmetries_with_their_evidence():
    found = liegg.discover_group(lambda x: x.abs().sum(1), normal(300, 2), liegg.Linear(2))
    x = normal(50, 2, seed=3)
    assert found.elements[0].words == "identity"
    for one in found.elements:
        assert torch.allclose((x @ one.matrix.mT).abs().sum(1), x.abs().sum(1), atol=1e-9)
        assert one.grade == "exact"
        assert one.effect <= found.floor
        assert one.interval[0] <= one.effect <= one.interval[1]
    assert found.samples == (150, 150)
    assert found.judged >= 8
    assert "reflection x₁ → −x₁" in found.words
    refuted = found.rejected[0]
    assert refuted.defect > 0.03
    assert not refuted.counted


def test_the_task_decides_whether_predictions_are_compared():
    model = lambda x: torch.stack([x[:, 0] + x[:, 1] ** 2, x[:, 1] ** 2 + 1], 1)  # noqa: E731
    x = normal(200, 2)
    classes, values = (
        liegg.discover_group(model, x, liegg.Linear(2), target=task, starts=0)
        for task in ("classes", "values")
    )
    flip = next(one for one in classes.rejected if one.words == "reflection x₁ → −x₁")
    before = x[1::2, 0] > 1
    after = -x[1::2, 0] > 1
    assert flip.changed == pytest.approx(float((before != after).double().mean()))
    assert all(one.changed is None for one in values.rejected)


@pytest.mark.slow
def test_parity_of_a_network_is_found_by_structured_starts_alone():
    pair = torch.stack([torch.eye(3), -torch.eye(3)]).double()
    found = liegg.discover_group(symmetrised(network(3), pair), normal(300, 3), liegg.Linear(3))
    assert found.order == 2
    assert torch.equal(found.elements[1].matrix.round(decimals=9), -torch.eye(3).double())


@pytest.mark.slow
def test_a_learned_symmetry_is_approximate_and_a_broken_one_is_none():
    pair = torch.stack([torch.eye(2), -torch.eye(2)]).double()
    even, other = symmetrised(network(2), pair), network(2, seed=5)
    near = liegg.discover_group(
        lambda x: even(x) + 0.02 * other(x), normal(400, 2), liegg.Linear(2)
    )
    assert near.order == 2
    assert near.elements[1].grade in ("strong", "approximate")
    assert 0 < near.elements[1].effect < 0.1
    far = liegg.discover_group(lambda x: even(x) + other(x), normal(400, 2), liegg.Linear(2))
    assert far.order == 1


def chiral(x):
    """Distances and the volume of four points."""
    gaps = (x[:, :, None] - x[:, None]).square().sum(-1)
    return (-gaps).exp().flatten(1) @ normal(16, seed=1) + 0.1 * torch.linalg.det(
        x[:, :3] - x[:, 3:]
    )


@pytest.mark.slow
def test_planar_molecules_do_not_tell_a_mirror_from_a_rotation():
    x = normal(200, 4, 3)
    x[..., 2] = 0
    frames = torch.linalg.qr(normal(200, 3, 3)).Q
    found = liegg.discover_group(chiral, x @ frames, liegg.Affine(3, copies=4))
    assert (found.name, found.order) == ("SE(3)", 1)
    assert any(torch.linalg.det(one.matrix) < 0 for one in found.not_testable)
    assert "not testable on this data" in found.sentence


@pytest.mark.slow
def test_points_of_a_plane_do_not_say_what_happens_outside():
    x = normal(200, 4, 3)
    x[..., 2] = 0
    found = liegg.discover_group(chiral, x, liegg.Affine(3, copies=4))
    assert (found.name, found.order) == ("SE(3)", 1)
    assert found.not_testable
    assert Diagnosis.GROUP_FLAT_DATA in {note.diagnosis for note in found.notes}


def test_one_point_decides_nothing():
    x = normal(1, 3).expand(64, 3).clone()
    found = liegg.discover_group(network(3), x, liegg.Linear(3))
    assert found.order == 1
    assert found.sentence.startswith("Undecided")


def test_few_distinct_points_are_not_solved_for():
    x = normal(3, 3).repeat(30, 1)
    found = liegg.discover_group(network(3), x, liegg.Linear(3))
    assert found.order == 1
    assert Diagnosis.GROUP_FEW_SAMPLES in {note.diagnosis for note in found.notes}


def test_slots_that_are_always_equal_are_not_testable():
    x = normal(200, 4, 2)
    x[:, 1] = x[:, 0]
    model = nn.Sequential(nn.Flatten(), network(8))
    found = liegg.discover_group(model, x, Slots())
    assert found.slots is not None
    assert found.slots.order == 1
    assert [one.words for one in found.not_testable] == ["swaps slots 1 and 2"]


def test_a_constant_output_is_undecided():
    found = liegg.discover_group(lambda x: 0 * x[:, 0] + 1, normal(64, 2), liegg.Linear(2))
    assert found.sentence.startswith("Undecided")
    assert (found.name, found.order) == ("undecided", 1)


@pytest.mark.slow
def test_the_output_turns_with_the_input():
    def gradient(x):
        return x * (1 + x.square().sum(1, keepdim=True).tanh()) + 0.3 * x.pow(3).tanh()

    found = liegg.discover_group(
        gradient, normal(300, 2), liegg.Linear(2), output_action=liegg.Linear(2)
    )
    assert (found.name, found.order) == ("D₄", 8)
    for one in found.elements[1:]:
        assert torch.allclose(one.output_matrices[0], one.matrix, atol=1e-6)


@pytest.mark.slow
def test_outputs_are_permuted_by_the_rotations_of_the_plane():
    angles = [2 * math.pi * k / 3 for k in range(3)]
    turns = [
        torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]], dtype=torch.float64)
        for a in angles
    ]
    base = network(2)
    found = liegg.discover_group(
        lambda x: torch.cat([base(x @ turn.mT) for turn in turns], 1),
        normal(400, 2),
        liegg.Linear(2),
        output_action=liegg.Linear(3),
    )
    assert (found.name, found.order) == ("C₃", 3)
    permutation = found.elements[1].output_matrices[0]
    assert torch.allclose(permutation, permutation.round(), atol=1e-6)


def test_members_of_a_set_permute_with_their_outputs():
    each = nn.Linear(2, 3).double()
    mean = nn.Linear(2, 3).double()
    model = lambda x: torch.tanh(each(x) + mean(x).mean(1, keepdim=True))  # noqa: E731
    x = normal(200, 5, 2)
    assert liegg.discover_group(model, x, Slots(), output_action=Slots()).name == "S₅"
    assert liegg.discover_group(model, x, Slots()).name == "trivial"


@pytest.mark.parametrize(
    ("model", "n", "name"),
    [
        (
            lambda x: torch.stack(
                [(x[:, i] - x[:, j]) for i in range(4) for j in range(i)], 1
            ).prod(1, keepdim=True),
            4,
            "A₄",
        ),
        (lambda x: (x.sin() * x.roll(1, 1).square()).sum(1), 6, "C₆"),
        (lambda x: SET(x[:, :3, None]).tanh() + SET(x[:, 3:, None]).tanh(), 6, "S₃ ≀ S₂"),
        (network(5), 5, "trivial"),
    ],
)
def test_cycles_blocks_and_even_permutations(model, n, name):
    found = liegg.discover_group(model, normal(300, n), Slots())
    assert found.name == name
    judged = [
        tuple(one.matrix.argmax(1).tolist()) for one in (*found.permutations, *found.rejected)
    ]
    assert len(set(judged)) == len(judged)  # a permutation that two rules propose is tried once


def ring(x):
    """Neighbours on a ring, in one direction."""
    return (x * torch.sin(2 * x.roll(1, 1))).tanh().mean((1, 2)) + (
        x.square() * x.roll(1, 1)
    ).tanh().mean((1, 2))


def two_rings(x):
    """Two rings of four that are told apart."""
    return 1.3 * ring(x[:, :4]) + ring(x[:, 4:]) + ring(x[:, :4]) * ring(x[:, 4:])


def nearly_cyclic(x):
    """A mean over the shifts of seven slots, and a little of what they do not keep."""
    even = torch.stack([CYCLIC(x.roll(k, 1).flatten(1)) for k in range(7)]).mean(0)
    return even + 0.003 * torch.sin(3 * x[:, :, :1].mT @ torch.arange(7).double())


CYCLIC = network(14)


@pytest.mark.parametrize(
    ("model", "n", "name", "grades"),
    [
        (ring, 7, "C₇", {"exact"}),
        (two_rings, 8, "C₄ × C₄", {"exact"}),
        (lambda x: (x * x.roll(1, 1)).tanh().mean((1, 2)), 12, "D₁₂", {"exact"}),
        (nearly_cyclic, 7, "C₇", {"approximate", "strong"}),
    ],
)
def test_cycles_are_found_in_any_order_of_the_slots(model, n, name, grades):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(1))
    found = liegg.discover_group(lambda x: model(x[:, order]), normal(200, n, 2), Slots())
    assert found.name == name
    assert {one.grade for one in found.permutations} <= grades


def test_probes_of_slots_without_symmetry_suggest_none():
    found = liegg.discover_group(
        nn.Sequential(nn.Flatten(), network(24)), normal(200, 12, 2), Slots()
    )
    assert found.name == "trivial"
    assert SOURCE not in {one.source for one in (*found.permutations, *found.rejected)}


@pytest.mark.slow
def test_a_hundred_slots_on_a_ring():
    found = liegg.discover_group(ring, normal(200, 100, 2), Slots())
    assert found.name == "C₁₀₀"
    assert [one.words for one in found.permutations] == ["shifts all slots by 1"]


def test_words_are_those_of_the_space_that_an_element_acts_on():
    found = liegg.discover_group(network(3), normal(100, 3), liegg.Linear(3), starts=0)
    half_turns = {one.words for one in found.rejected if one.words.startswith("rotation by 180°")}
    # diag(−1, −1, 1) is a map of space, not an affine map of the plane.
    assert {f"rotation by 180° about {axis}" for axis in ("x₁", "x₂", "x₃")} <= half_turns


SET = SetNetwork(1)


@pytest.mark.slow
def test_the_model_and_the_generators_stay_as_they_were():
    model, x = network(2).train(), normal(100, 2)
    weights = [weight.clone() for weight in model.parameters()]
    state = torch.get_rng_state()
    one = liegg.discover_group(model, x, liegg.Linear(2), run=liegg.Run(seed=3))
    assert torch.equal(torch.get_rng_state(), state)
    assert model.training
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
    two = liegg.discover_group(model, x, liegg.Linear(2), run=liegg.Run(seed=3))
    assert one.to_dict() == two.to_dict()


def test_float32_models_and_numpy_data():
    model = SetNetwork(2).float()
    found = liegg.discover_group(model, normal(100, 6, 2).float().numpy(), Slots())
    assert found.name == "S₆"
    assert all(one.grade == "exact" for one in found.permutations)


def test_bad_input_is_explained():
    x, model = normal(100, 3), network(3)
    with pytest.raises(ArgumentError, match="at least 8 of each"):
        liegg.discover_group(model, x[:10], liegg.Linear(3))
    with pytest.raises(ShapeError, match="expects"):
        liegg.discover_group(model, x, liegg.Linear(4))
    with pytest.raises(ArgumentError, match="has no finite elements"):
        liegg.discover_group(model, x, liegg.actions.Banded(3, 1))
    other = liegg.discover(model, x, liegg.Linear(3))
    with pytest.raises(ArgumentError, match="continuous is a result for"):
        liegg.discover_group(model, x, liegg.Affine(3), continuous=other)
    with pytest.raises(LieggError, match="held_out"):
        liegg.discover_group(model, x, liegg.Linear(3), held_out=normal(100, 4))
    with pytest.raises(ArgumentError, match="Did you mean held_out"):
        liegg.discover_group(model, x, liegg.Linear(3), heldout=x)  # pyright: ignore[reportCallIssue]
    with pytest.raises(ArgumentError, match="seed"):
        liegg.discover_group(model, x, liegg.Linear(3), run=liegg.Run(seed=-1))


@pytest.mark.parametrize(
    "action", [Slots(noun="atom"), liegg.Linear(2, copies=3, noun="atom")], ids=["slots", "vectors"]
)
def test_slots_have_the_noun_of_the_action(action):
    model = lambda x: x[:, 0].sin() @ torch.ones(2).double() + x[:, 1:].tanh().sum((1, 2))  # noqa: E731
    found = liegg.discover_group(model, normal(100, 3, 2), action, starts=0)
    assert [one.words for one in found.permutations] == ["swaps atoms 2 and 3"]
    assert found.slots is not None
    assert found.slots.title() == "S₂ on the atoms 2–3"
    assert "slot" not in found.sentence


@pytest.mark.parametrize(("fold", "seed"), [(2, 0), (3, 2)])
def test_affine_symmetries_about_a_point_far_from_the_samples(fold, seed):
    centre = torch.tensor([0.9, -0.6], dtype=torch.float64)
    model = symmetrised(network(2, seed=seed), rotations_of_order(fold))
    found = liegg.discover_group(lambda x: model(x - centre), normal(600, 2), liegg.Affine(2))
    assert found.order == fold
    assert {one.grade for one in found.elements} == {"exact"}
    own = found.elements[1].matrix
    assert torch.allclose(own[:2, :2] @ centre + own[:2, 2], centre, atol=1e-8)
