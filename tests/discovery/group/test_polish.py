"""Levenberg–Marquardt over matrices: its Jacobian, and where it arrives."""

import torch

import liegg
from liegg.actions.finite.vectors import VectorSpace
from liegg.discovery.group.polish import Residual, polish
from liegg.discovery.group.setting import Setting, rounding_floor
from liegg.discovery.group.starts import Moments, axis_starts, random_starts, spectral_starts
from liegg.discovery.verification.measure import Question
from liegg.inputs.model import eval_view
from liegg.inputs.probe import probe
from liegg.polarization.rows import plan


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def setting_of(function, x, action, output_action=None):
    with eval_view(function) as model:
        question = Question(probe(model, x), action, output_action, x)
    return Setting(question, question)


def residual_of(function, x, action, output_action=None):
    setting = setting_of(function, x, action, output_action)
    made = plan(setting.search.model, action, x)
    space = action.spaces(tuple(x.shape[1:]))[0]
    assert isinstance(space, VectorSpace)
    return Residual(setting, space, made, len(x))


def cubic(x):
    return torch.stack([x.flatten(1).pow(3).sum(1), x.flatten(1)[:, 0] * x.flatten(1)[:, 1]], 1)


def test_the_jacobian_is_the_derivative_along_left_multiplication():
    for action, shape in ((liegg.Linear(3), (3,)), (liegg.Affine(2, copies=2), (2, 2))):
        residual = residual_of(cubic, normal(20, *shape), action)
        side = action.ambient
        h = torch.eye(side, dtype=torch.float64)
        h[:-1, :-1] += 0.3 * normal(side - 1, side - 1)
        values, rows = residual(h[None])
        step = 1e-6 * torch.eye(action.size, dtype=torch.float64)
        moved = torch.linalg.matrix_exp(action.matrices(step)) @ h
        back = torch.linalg.matrix_exp(action.matrices(-step)) @ h
        slopes = (residual(moved)[0] - residual(back)[0]) / 2e-6
        assert torch.allclose(slopes.mT, rows[0], rtol=1e-6, atol=1e-6)
        assert values.shape == (1, 40)


def test_a_planted_reflection_is_found_from_a_rough_start():
    residual = residual_of(
        lambda x: x[:, 0] ** 2 + 2 * x[:, 1] ** 3, normal(100, 2), liegg.Linear(2)
    )
    start = torch.tensor([[-0.7, 0.2], [0.3, 1.2]], dtype=torch.float64)
    solved = polish(residual, start[None], 60)
    wanted = torch.tensor([[-1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    assert float(solved.cost[0]) < 1e-20
    assert torch.allclose(solved.h[0], wanted, atol=1e-8)


def test_the_outputs_own_matrix_is_eliminated():
    residual = residual_of(lambda x: x**3 + x, normal(100, 2), liegg.Linear(2), liegg.Linear(2))
    swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    values, _ = residual(swap[None])
    assert float(values.abs().max()) < 1e-12
    shear = torch.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
    assert float(residual(shear[None])[0].abs().max()) > 0.1


def test_random_starts_lie_in_both_components_and_preserve_their_metric():
    metric = torch.diag(torch.tensor([4.0, 1.0, 0.25], dtype=torch.float64))
    moments = Moments(torch.zeros(3).double(), metric, 0 * metric)
    h = random_starts(32, moments, torch.Generator().manual_seed(0))
    signs = torch.linalg.det(h).sign()
    assert int((signs > 0).sum()) == 16
    # Two of four preserve the metric of the coordinates, two that of the data; every fourth pair neither.
    for which, own in enumerate((torch.eye(3).double(), metric)):
        orthogonal = h[[k for k in range(32) if k % 8 < 6 and k // 2 % 2 == which]]
        assert len(orthogonal) >= 8
        moved = orthogonal @ own @ orthogonal.mT
        assert torch.allclose(moved, own.expand_as(moved), atol=1e-10)


def test_structured_starts_are_distinct_and_commute_with_the_moments():
    matrices = torch.stack([h for _, h in axis_starts(3)])
    assert len(matrices.unique(dim=0)) == len(matrices)
    a, b = normal(3, 3), normal(3, 3, seed=1)
    moment, gradients = a @ a.mT, b @ b.mT
    product = moment @ gradients
    for _, h in spectral_starts(Moments(torch.zeros(3).double(), moment, gradients)):
        assert torch.allclose(h @ product, product @ h, atol=1e-8 * float(product.norm()))
        assert torch.allclose(h @ h, torch.eye(3, dtype=torch.float64), atol=1e-8)


def test_rounding_has_a_floor_that_depends_on_the_precision():
    x = normal(64, 3)
    fine = rounding_floor(setting_of(lambda x: x.square().sum(1), x, liegg.Linear(3)).held_out)
    coarse = rounding_floor(
        setting_of(lambda x: x.square().sum(1), x.float(), liegg.Linear(3)).held_out
    )
    assert fine < 1e-12 < 1e-6 < coarse < 1e-3
