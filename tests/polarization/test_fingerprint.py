"""Fingerprints of an analysis, and the arguments about processes."""

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg.polarization.checkpoint import difference, fingerprint, weight_checksums
from liegg.polarization.distributed import join


def test_outside_a_group_there_is_no_group():
    assert join() is None


def test_fingerprints_tell_what_differs():
    x, y = normal(5, 3), normal(5, 2)
    mine = fingerprint(x, y, {"seed": 1})
    assert difference(mine, fingerprint(x.clone(), y * (1 + 1e-6), {"seed": 1})) == ""
    assert difference(mine, fingerprint(x, y, {"seed": 2})) == "seed: 1 and 2"
    assert difference(mine, fingerprint(x + 1e-12, y, {"seed": 1})).startswith(
        "data: (5, 3) torch.float64 "
    )
    assert difference(mine, fingerprint(x, y + 1, {"seed": 1})).startswith("the model: ")
    assert difference(mine, fingerprint(x, y[:, :1], {"seed": 1})).startswith("the model: ")


def test_checksums_are_of_weights_and_buffers_apart():
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    before = weight_checksums(net)
    net(normal(4, 2).float())
    after = weight_checksums(net)
    assert before["weights"] == after["weights"]
    assert before["buffers"] != after["buffers"]
    with torch.no_grad():
        next(net.parameters())[0, 0] += 1e-3
    assert weight_checksums(net)["weights"] != before["weights"]
    assert weight_checksums(lambda x: net(x)) == weight_checksums(net)  # what a function reaches


@pytest.mark.parametrize(
    ("timeout", "expected"),
    [
        (0.0, "a number of seconds, for example timeout=1800"),
        (-1.0, "a number of seconds, for example timeout=1800"),
        (float("nan"), "a number"),
    ],
)
def test_a_timeout_is_some_time(timeout, expected):
    with pytest.raises(liegg.LieggError, match=f"^timeout={timeout}: expected {expected}"):
        liegg.Run(timeout=timeout)


def test_processes_are_asked_for_by_one_of_two_words(monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match="processes='some': expected 'all' or 'alone'"):
        liegg.discover(
            mlp(3, 8, 2),
            normal(50, 3),
            liegg.Linear(3),
            run=liegg.Run(processes="some"),  # pyright: ignore[reportArgumentType]
        )
