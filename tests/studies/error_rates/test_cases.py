"""Functions with known answers: networks that are what they say."""

import numpy as np
import pytest
import torch

from liegg.studies.error_rates.cases import normal, perceptron, pick, product


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_a_perceptron_is_what_numpy_makes_of_its_weights() -> None:
    network = perceptron((3, 5, 4, 2), generator(), gain=2.0, activation="tanh")
    x = normal(7, 3, generator(1))
    (a, b, c), (p, q, r) = (
        [part.numpy() for part in parts] for parts in (network.weights, network.biases)
    )
    by_hand = np.tanh(np.tanh(x.numpy() @ a + p) @ b + q) @ c + r
    assert network(x).numpy() == pytest.approx(by_hand, abs=1e-14)


def test_the_gain_multiplies_the_default_weights() -> None:
    one, other = (perceptron((4, 50, 50, 1), generator(), gain=gain) for gain in (1.0, 2.5))
    assert torch.equal(other.weights[0], one.weights[0] * 2.5)
    assert 0.45 < float(one.weights[0].abs().max()) <= 0.5
    assert 0.13 < float(one.biases[1].abs().max()) <= 50**-0.5


def test_products_in_half_precision_are_rounded_once() -> None:
    x, weight = normal(20, 30, generator()).bfloat16(), normal(30, 4, generator(1)).bfloat16()
    exact = torch.from_numpy(x.double().numpy() @ weight.double().numpy())
    assert product(x, weight).dtype == torch.bfloat16
    assert (
        float((product(x, weight).double() - exact).abs().max())
        <= 2**-8 * float(exact.abs().max()) * 1.01
    )
    assert torch.equal(product(x.double(), weight.double()), x.double() @ weight.double())


def test_pick_takes_every_option() -> None:
    source = generator()
    assert {pick((1, 2, 3), source) for _ in range(50)} == {1, 2, 3}
