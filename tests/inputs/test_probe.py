"""Models that are refused: random ones, those that mix samples, fail, or have no derivative."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import liegg
from liegg._utils.errors import (
    ArgumentError,
    BatchMixingError,
    DtypeError,
    ModelError,
    NonFiniteError,
    NotDifferentiableError,
    RandomModelError,
    ShapeError,
)

X = torch.randn(40, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


LINEAR = liegg.Linear(3)


@torch.no_grad()
def blind(x: Tensor) -> Tensor:
    return x.sum(1)


def rare_class(x: Tensor) -> Tensor:
    """A hard decision that no sample among the first three triggers."""
    return (x[:, 0] > X[:3, 0].max()).double()


def failing(x: Tensor) -> Tensor:
    raise KeyError("no such layer")


class BrokenBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, *_: Tensor) -> Tensor:
        raise RuntimeError("no derivative here")


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "random": (
        lambda x: x.sum(1) + torch.rand(len(x)),
        RandomModelError,
        "two calls of <lambda> on the same 3 samples differ by",
    ),
    "functional dropout": (
        lambda x: torch.dropout(x, 0.5, train=True),
        RandomModelError,
        "the model draws random numbers",
    ),
    "batch mean": (
        lambda x: x - x.mean(0),
        BatchMixingError,
        "it mixes samples (batch statistics, a quantised layer",
    ),
    "batch rank": (
        lambda x: x.sum(1) * len(x),
        BatchMixingError,
        "when the other samples of the batch are left out",
    ),
    "no_grad": (
        blind,
        NotDifferentiableError,
        "the output of blind changes with the input but carries no derivative",
    ),
    "detach": (
        lambda x: x.detach().sum(1),
        NotDifferentiableError,
        "torch.no_grad, .detach(), .numpy(), argmax",
    ),
    "argmax": (
        lambda x: x.argmax(1).double(),
        NotDifferentiableError,
        "Return the differentiable quantity, such as logits.",
    ),
    "rare class": (
        rare_class,
        NotDifferentiableError,
        "the output of rare_class changes with the input",
    ),
    "numpy": (
        lambda x: torch.from_numpy(x.detach().numpy().sum(1)),
        NotDifferentiableError,
        "carries no derivative",
    ),
    "integers": (
        lambda x: x.argmax(1),
        DtypeError,
        "<lambda> returned torch.int64; symmetries need real floating point outputs. "
        "Return logits, not classes.",
    ),
    "complex": (lambda x: x * 1j, DtypeError, "<lambda> returned torch.complex128"),
    "tuple": (
        lambda x: (x, x),
        DtypeError,
        "<lambda> returned a tuple with fields 0 (3, 3) float64, 1 (3, 3) float64; expected one "
        "tensor. Choose one of them, for example output=0",
    ),
    "scalar": (
        lambda x: x.sum(),
        ShapeError,
        "<lambda> returned shape () for a batch of 3 samples; expected 3 along",
    ),
    "flat": (
        lambda x: x.flatten(),
        ShapeError,
        "returned shape (9,) for a batch of 3 samples; expected 3 along the first axis. "
        "If it takes one sample, pass torch.func.vmap(model).",
    ),
    "one sample": (
        lambda x: torch.ones(2, 3, dtype=x.dtype) @ x.reshape(3),
        ModelError,
        "It takes one sample of shape (3,), and no batch: pass torch.func.vmap(model).",
    ),
    "no output": (lambda x: x[:, :0], ShapeError, "no output at all"),
    "NaN": (
        lambda x: torch.where(x == X[1], torch.nan, x),
        NonFiniteError,
        "<lambda> returned NaN or infinity for sample 1.",
    ),
    "infinity": (
        lambda x: torch.where(x == X[2], torch.inf, x),
        NonFiniteError,
        "returned NaN or infinity for sample 2.",
    ),
    "rounding": (
        lambda x: x.norm(dim=1).round(),
        NotDifferentiableError,
        "changes with the input but carries no derivative",
    ),
    "not callable": (
        3,
        ArgumentError,
        "model is a int; expected an nn.Module, an exported program, a function, an estimator with "
        "fit and predict, or a session of onnxruntime.",
    ),
    "raises": (
        failing,
        ModelError,
        "the model failed on a batch of shape (3, 3), dtype torch.float64: KeyError: 'no such layer'.",
    ),
    "wrong width": (
        nn.Linear(4, 1).double(),
        ModelError,
        "the model failed on a batch of shape (3, 3)",
    ),
    "backward raises": (
        lambda x: BrokenBackward.apply(x),
        ModelError,
        "the derivative of <lambda> failed on a batch of shape (3, 3): RuntimeError: no derivative here.",
    ),
}


@pytest.mark.parametrize(("model", "error", "text"), ERRORS.values(), ids=ERRORS)
def test_a_model_that_is_no_function_of_one_sample(model, error, text):
    with pytest.raises(error, match=re.escape(text)) as caught:
        liegg.discover(model, X, LINEAR)
    assert type(caught.value) is error


@pytest.mark.parametrize(
    "model",
    [lambda x: x.square().sum(1).sqrt(), lambda x: x.abs().sqrt()],
    ids=["one output", "three"],
)
def test_a_derivative_that_does_not_exist_names_its_sample(model):
    data = X.clone()
    data[30] = 0
    with pytest.raises(
        NonFiniteError,
        match=re.escape("the derivative of <lambda> at sample 30 is NaN or infinite."),
    ):
        liegg.discover(model, data, LINEAR, run=liegg.Run(batch_size=8))
