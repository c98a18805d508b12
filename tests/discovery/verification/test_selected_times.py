# pyright: reportIncompatibleMethodOverride=false, reportAssignmentType=false
"""Large samples: fewer evaluations, the same verdicts; what is interpolated is what it stands for."""

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader

import liegg
from cases import normal
from liegg._utils.diagnoses import Diagnosis
from liegg.discovery.verification.measure import Directions, Question
from liegg.discovery.verification.orbits import grid
from liegg.discovery.verification.selected_times import (
    at_selected_times,
    between,
    follow_selected,
    profile,
    shares,
)
from liegg.inputs.model import Model
from liegg.results.verification import Verification

SIZE = 600


class Places(liegg.Action):
    """Translations of the first three of many coordinates."""

    size, words = 3, ("x", "y", "z")

    def act(self, h: Tensor, x: Tensor) -> Tensor:
        return x + torch.nn.functional.pad(h.to(x), (0, x.shape[1] - 3))


def asked(function, count: int = 40) -> Question:
    return Question(Model(function, "place"), Places(), None, normal(count, SIZE))


def along(*rows: tuple[float, float, float]) -> Directions:
    return Directions(torch.tensor(rows, dtype=torch.float64), None)


def test_an_interpolated_parabola_is_a_parabola():
    known = torch.tensor([0.1, 0.2, 1.0, 4.0], dtype=torch.float64)
    times = torch.linspace(0.01, 4, 50, dtype=torch.float64)
    assert torch.allclose(between(known, 3 * known[None] ** 2, times)[0], 3 * times**2)


def test_known_values_are_kept_and_infinity_begins_after_the_last_finite_one():
    known = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    values = torch.tensor([[1.0, torch.inf, torch.inf], [0.0, 5.0, 2.0]], dtype=torch.float64)
    assert torch.allclose(between(known, values, known), values)
    later = torch.tensor([1.5, 2.5, 9.0], dtype=torch.float64)
    assert between(known, values[:1], later).tolist() == [[torch.inf] * 3]


@pytest.mark.parametrize(("fraction", "place"), [(1e-4, 0.01), (0.04, 0.2), (0.5, 0.5**0.5)])
def test_a_failing_motion_is_measured_densely_before_it_fails_and_rarely_after(fraction, place):
    # f(x) = x₀: a shift by t changes it by t².
    question = asked(lambda x: x[:, 0])
    fraction = fraction / question.variance
    times = grid(1.0, 25)
    found = follow_selected(
        question, along((1.0, 0.0, 0.0)), times, both_ways=False, fraction=fraction
    )
    assert torch.allclose(found.values[0], found.times**2 / question.variance)
    assert bool(torch.isin(found.times, times).all())
    after = times[times > place]
    assert set(times[9:][times[9:] <= place].tolist()) <= set(found.times.tolist())
    assert float(after[0]) in found.times.tolist()  # both neighbours of the crossing
    assert float(times[times <= place][-1]) in found.times.tolist()
    assert int((found.times > place).sum()) <= len(after) // 3 + 2


def test_an_excursion_between_the_first_times_is_found():
    # Above the fraction at 7/16 alone, which is not among every third time from the end.
    question = asked(lambda x: x[:, 0])
    bump = asked(lambda x: x[:, 0] + 9 * ((x[:, 1] - 0.4375).abs() < 0.01))
    still = torch.zeros(40, SIZE, dtype=torch.float64)
    still[:, 0] = question.x[:, 0]
    bump = Question(bump.model, Places(), None, still)
    found = follow_selected(
        bump, along((0.0, 1.0, 0.0)), grid(1.0, 25), both_ways=False, fraction=0.1
    )
    assert found.times[found.values[0] > 0.1].tolist() == [0.4375]


def test_elements_share_the_samples():
    evaluated = []

    def function(x: Tensor) -> Tensor:
        evaluated.append(len(x))
        return x[:, 0]

    question = asked(function)
    elements = along(*[(1.0, 0.0, 0.0)] * 8)
    found = follow_selected(question, elements, grid(1.0, 7), both_ways=False, fraction=1e6)
    assert torch.allclose(found.values[0], found.times**2 / question.variance)
    assert sum(evaluated) == 40 + 2 * 40 * len(found.times)  # f(x) once; two elements per sample


def test_random_directions_cross_where_they_do():
    question = asked(lambda x: x[:, 0], 300)
    assert shares(300) == 8
    directions = along((1.0, 0, 0), (0.5, 1, 0), (0.0, 1, 0))
    fraction = 0.01 / question.variance
    found = profile(question, directions, (1.0, 10.0), fraction=fraction).scaled(2.0)
    times = torch.tensor([0.001, 0.03, 0.05, 0.1, 1.0, 5.0], dtype=torch.float64)
    change, _ = found.at(times)
    expected = torch.stack([(2 * times) ** 2, times**2, 0 * times]) / question.variance
    assert torch.allclose(change, expected)
    assert not question.has_classes


# Images


def blobs(count: int, seed: int) -> Tensor:
    """Smooth images of 24 by 24 pixels that vanish towards the border."""
    place = torch.linspace(-1, 1, 24, dtype=torch.float64)
    centres = 0.25 * normal(count, 2, 2, 1, 1, seed=seed).clamp(-1.5, 1.5)
    across, up = place[None, None, None, :], -place[None, None, :, None]
    squares = (across - centres[:, :, 0]) ** 2 + (up - centres[:, :, 1]) ** 2
    return torch.exp(-14 * squares).sum(1)


def moments(tilt: float):
    """Two means of the image that rotations keep, and a little of one that they do not."""
    place = torch.linspace(-1, 1, 24, dtype=torch.float64)
    weight = torch.exp(-3 * (place[:, None] ** 2 + place**2))

    def function(x: Tensor) -> Tensor:
        both = [(x * weight).mean((1, 2)), (x.square() * weight).mean((1, 2))]
        return torch.stack(both, 1) + tilt * (x * place).mean((1, 2))[:, None]

    return function


def curves(found: Verification):
    return (*found.curves, *found.others, *([] if found.group is None else [found.group]))


@pytest.mark.parametrize("tilt", [0.0, 0.3, 2.0])
def test_verdict_and_radius_are_those_of_all_times(tilt):
    function, held_out = moments(tilt), blobs(20, 9)
    turn_and_grow = torch.tensor([[[0.0, -1], [1, 0]], [[1, 0], [0, 1]]], dtype=torch.float64)
    sym = liegg.discover(function, blobs(60, 0), liegg.Image())
    auto, full = (
        liegg.verify(function, held_out, sym, turn_and_grow, controls=4, effort=effort)
        for effort in ("auto", "full")
    )
    assert auto.holds == full.holds
    for one, other in zip(auto.curves, full.curves, strict=True):
        assert one.radius == pytest.approx(other.radius, rel=1e-9)
        assert one.holds == other.holds
        # Followed in one sense, where the larger change of both ends earlier.
        assert 0.95 < one.control_radius / other.control_radius < 1.3
        assert one.curvature == other.curvature
        at = torch.isin(other.times, one.times)
        assert torch.allclose(one.change, other.change[at], atol=1e-15)
        assert one.resampling is not None
        assert other.resampling is not None
        assert float(one.resampling.max()) == pytest.approx(float(other.resampling.max()), rel=0.5)
    assert auto.group is not None
    assert full.group is not None
    assert auto.group.radius == pytest.approx(full.group.radius, rel=0.3)


def test_a_note_says_what_was_measured_and_full_has_none():
    function, held_out = moments(0.3), blobs(20, 9)
    sym = liegg.discover(function, blobs(60, 0), liegg.Image())
    auto, full = (liegg.verify(function, held_out, sym, effort=e) for e in ("auto", "full"))
    said = [note for note in auto.notes if note.diagnosis is Diagnosis.SELECTED_TIMES]
    assert [note.values["numbers"] for note in said] == [576]
    assert Diagnosis.SELECTED_TIMES not in [note.diagnosis for note in full.notes]
    assert {len(curve.times) for curve in curves(full)} == {25}


def test_small_samples_are_measured_in_full():
    question = Question(Model(lambda x: x[:, 0], "place"), liegg.Linear(3), None, normal(9, 3))
    assert not at_selected_times(question, "auto")
    assert at_selected_times(asked(lambda x: x[:, 0]), "auto")
    assert not at_selected_times(asked(lambda x: x[:, 0]), "full")


@pytest.mark.parametrize("effort", ["auto", "full"])
@pytest.mark.parametrize("group", ["linear", "euclidean"])
def test_progress_rises_to_a_total_that_the_evaluations_do_not_exceed(effort, group):
    evaluated, reports = [], []

    def function(x: Tensor) -> Tensor:
        evaluated.append(len(x))
        return moments(0.0)(x)

    action, held_out = liegg.Image(group), blobs(20, 9)
    generators = torch.eye(action.size, dtype=torch.float64)[:2]
    liegg.verify(
        function,
        held_out,
        action,
        generators,
        controls=2,
        points=7,
        effort=effort,
        progress=lambda done, total: reports.append((done, total)),
    )
    done = [report[0] for report in reports]
    total = reports[-1][1]
    assert done == sorted(done)
    assert done[-1] == total
    assert {report[1] for report in reports[2:]} == {total}
    assert 0.2 * total < sum(evaluated) <= 1.05 * total  # and some to probe the model
    assert len(set(done)) > 5


@pytest.mark.parametrize("loaded", [True, False])
def test_structured_samples_come_in_batches_no_larger_than_those_of_the_analysis(loaded):
    generator = torch.Generator().manual_seed(0)
    clouds = [{"pos": torch.randn(4, 3, generator=generator).double()} for _ in range(96)]
    seen: list[int] = []

    def model(pos):
        seen.append(len(pos))
        return torch.cdist(pos, pos).exp().sum((1, 2))

    data = DataLoader(clouds, batch_size=24) if loaded else clouds  # pyright: ignore[reportArgumentType]
    sym = liegg.discover(model, data, {"pos": liegg.Affine(3)})
    seen.clear()
    found = liegg.verify(model, clouds[:32], sym)
    assert found.holds
    assert len(found.curves) == 6
    assert max(seen) <= (24 if loaded else 96)
    assert sum(seen) < 400 * 32
