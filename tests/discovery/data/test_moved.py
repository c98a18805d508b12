"""Moved samples: symmetries hold at finite size, other elements do not."""

import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.errors import ArgumentError, LieggError

FLIP = torch.diag(torch.tensor([1.0, 1.0, -1.0]))


def test_symmetries_and_elements_of_a_half_shell() -> None:
    x = data_set("half shell", 3000)
    sym = liegg.discover_data(
        x[:2400],
        liegg.Linear(3),
        functions=32,
        held_out=x[2400:],
        elements={"across": torch.diag(torch.tensor([-1.0, 1.0, 1.0])), "flip": FLIP},
    )
    assert sym.distribution is not None
    rotation, across, flip = sym.distribution.moved
    assert rotation.p_value > 0.01
    assert 0.5 < rotation.displacement < 1.5
    assert across.p_value > 0.01
    assert flip.p_value <= 0.005
    assert not sym.decision.warnings


def test_callables_move_samples_too() -> None:
    sym = liegg.discover_data(
        data_set("cube", 500), liegg.Linear(3), functions=16, elements={"turn": lambda x: -x}
    )
    assert sym.distribution is not None
    assert sym.distribution.moved[0].p_value > 0.01


def test_bad_elements():
    for element in [torch.eye(2), torch.zeros(3, 3), lambda x: x[:, :1], lambda x: None]:
        with pytest.raises(LieggError, match="elements"):
            liegg.discover_data(
                data_set("cube", 200), liegg.Linear(3), functions=16, elements={"bad": element}
            )


def test_too_few_held_out_samples() -> None:
    with pytest.raises(ArgumentError, match="at least 40"):
        liegg.discover_data(
            data_set("cube", 200), liegg.Linear(3), functions=16, held_out=data_set("cube", 10)
        )
