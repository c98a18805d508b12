"""Rows from samples that are really moved: half the change between both ends of a step, over the step."""

import pytest
import torch

import liegg
from liegg._utils.errors import ArgumentError
from liegg.inputs.model import Model
from liegg.polarization.plan import Plan
from liegg.polarization.rows import plan, polarize


def images(count=6, side=12):
    drawn = torch.Generator().manual_seed(0)
    return torch.rand(count, 1, side, side, generator=drawn, dtype=torch.float64)


WEIGHTS = torch.randn(144, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
MODEL = Model(
    lambda x: torch.sin(x.flatten(1) @ WEIGHTS / 6), "model", output_shape=(3,), in_place=False
)


@pytest.mark.parametrize("together", [1, 4, 6])
def test_rows_are_the_changes_of_moved_images(together):
    action, x = liegg.Image("affine"), images()
    rows, y = polarize(MODEL, action, x, Plan("each", "moved", together=together))
    assert torch.equal(y, MODEL(x))
    for place, step in enumerate(action.steps(tuple(x.shape[1:])).tolist()):
        h = torch.zeros(action.size, dtype=x.dtype)
        h[place] = step
        expected = (MODEL(action.act(h, x)) - MODEL(action.act(-h, x))) / (2 * step)
        assert torch.allclose(rows[..., place], expected, rtol=1e-9, atol=1e-12)


def test_a_linear_model_has_the_rows_of_the_secant():
    """The field is the secant of the moved image, so that a linear model cannot tell the two."""
    action, x = liegg.Image("affine"), images()
    linear = Model(lambda x: x.flatten(1) @ WEIGHTS, "linear", output_shape=(3,), in_place=False)
    moved, _ = polarize(linear, action, x, Plan("each", "moved"))
    derived, _ = polarize(linear, action, x, Plan("each", "jvp"))
    # A secant mixes slopes by the distance along each axis; a step is not split so.
    assert float((moved - derived).norm() / derived.norm()) < 0.1


def test_shifts_by_a_pixel_are_seen_as_they_are():
    """A mean over all pixels keeps whole shifts of periodic images, although its derivative does not say so."""
    model = Model(
        lambda x: torch.sin(20 * x).mean((1, 2, 3)), "mean", output_shape=(), in_place=False
    )
    action, x = liegg.Image("affine", border="periodic"), images()
    shifts = action.coefficients(liegg.translation(2)).to(x)
    moved, derived = (
        (polarize(model, action, x, Plan("each", route))[0] @ shifts.mT).abs().max()
        for route in ("moved", "jvp")
    )
    assert float(moved) < 1e-12
    assert float(derived) > 0.1


def test_batches_and_the_sum_of_outputs():
    action, x = liegg.Image("affine"), images(20)
    sums = [
        liegg.discover(
            lambda x: torch.sin(x.flatten(1) @ WEIGHTS / 6),
            x,
            action,
            outputs=outputs,
            run=liegg.Run(route="moved", batch_size=size),
        ).defects
        for outputs in ("each", "sum")
        for size in (5, 20)
    ]
    assert torch.allclose(sums[0], sums[1], rtol=1e-8)
    assert torch.allclose(sums[2], sums[3], rtol=1e-8)


def test_actions_without_steps_are_refused():
    x = torch.randn(10, 3, dtype=torch.float64)
    model = Model(lambda x: x.square().sum(1), "model", output_shape=())
    with pytest.raises(ArgumentError, match="moved"):
        plan(model, liegg.Linear(3), x, route="moved")
