"""Random directions move the data as much as they say, and go with the best output there is."""

import pytest
import torch

import liegg
from cases import normal, regular, square
from liegg.actions import Displacement
from liegg.discovery.verification.follow import (
    moving,
    partners,
    random_directions,
    random_elements,
    speeds,
)
from liegg.discovery.verification.measure import Question
from liegg.inputs.model import Model


def displacement(n: int, repeat: int) -> Displacement:
    root = regular(n)
    return Displacement(root @ root.mT, repeat)


def test_speed_is_that_of_the_dense_matrix():
    m, h = displacement(3, 2), normal(5, 6)
    assert torch.allclose(speeds(h, m).square(), torch.einsum("mi,ij,mj->m", h, m.dense(), h))


def test_random_directions_have_unit_speed_and_no_preference():
    m = displacement(3, 2)
    h = random_directions(m, 4000, 1e-12, seed=0)
    assert torch.allclose(speeds(h, m), torch.ones(4000, dtype=torch.float64))
    second = h.mT @ h / len(h)  # E[h hᵀ] = M⁻¹/g where z is uniform on the sphere
    assert torch.allclose(
        second, torch.linalg.inv(m.dense()) / 6, atol=0.05 * float(second.diagonal().max())
    )


def test_directions_that_move_nothing_are_not_drawn():
    m = Displacement(
        torch.diag(torch.tensor([1.0, 1e6, 0.0, 1e-20], dtype=torch.float64)), noise=1e-15
    )
    assert moving(m, 1e-12) == 2
    h = random_directions(m, 10, 1e-12, seed=0)
    assert torch.equal(h[:, 2:], torch.zeros(10, 2, dtype=torch.float64))
    assert torch.allclose(speeds(h, m), torch.ones(10, dtype=torch.float64))


def test_elements_of_a_span_have_unit_speed_also_where_it_is_dependent():
    m, span = displacement(3, 1), normal(2, 3)
    span = torch.cat([span, span[:1]])
    mixed = random_elements(span, m, 6, seed=0)
    assert torch.allclose(speeds(mixed @ span, m), torch.ones(6, dtype=torch.float64))


def test_seeds_decide():
    m = displacement(3, 2)
    assert torch.equal(
        random_directions(m, 3, 1e-12, seed=1), random_directions(m, 3, 1e-12, seed=1)
    )
    assert not torch.equal(
        random_directions(m, 3, 1e-12, seed=1), random_directions(m, 3, 1e-12, seed=2)
    )


@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-6), (torch.float32, 1e-2)])
def test_the_best_partner_of_an_equivariant_function_is_its_own(dtype, close):
    # f(x) = x |x|²: a rotation goes with itself, the unit matrix with three times itself.
    linear = liegg.Linear(3)
    question = Question(
        Model(lambda x: x * square(x)[:, None], "cube", output_shape=(3,)),
        linear,
        linear,
        normal(100, 3).to(dtype),
    )
    h = torch.cat([liegg.so(3), torch.eye(3, dtype=torch.float64)[None]]).flatten(1)
    expected = h * torch.tensor([1.0, 1.0, 1.0, 3.0], dtype=torch.float64)[:, None]
    found = partners(question, h / 2)
    assert found is not None
    assert torch.allclose(found, expected / 2, atol=close)


def test_invariance_has_no_partners():
    question = Question(Model(square, "norm"), liegg.Linear(3), None, normal(10, 3))
    assert partners(question, normal(2, 9)) is None
