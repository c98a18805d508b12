"""Moved samples: symmetries hold at finite size, other elements do not."""

import math

import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.diagnoses import Diagnosis
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


def no_pass(*args: object, **kwargs: object) -> None:
    raise AssertionError("something was computed first")


@pytest.mark.parametrize("question", ["density", "support", "label", "discriminator"])
@pytest.mark.parametrize(
    "held_out", [data_set("cube", 1), torch.zeros(50, 2), torch.full((50, 3), torch.nan), ["a"]]
)
def test_bad_held_out_samples_are_refused_before_the_pass(monkeypatch, question, held_out) -> None:
    for name in ("means_of", "level_function"):
        monkeypatch.setattr(f"liegg.discovery.data.discover_data.{name}", no_pass)
    labels = torch.arange(200) % 2 if question == "label" else None
    with pytest.raises(LieggError, match="held_out"):
        liegg.discover_data(
            data_set("cube", 200),
            liegg.Linear(3),
            question=question,
            labels=labels,
            held_out=held_out,
        )


def test_bad_elements_are_refused_before_the_pass(monkeypatch) -> None:
    monkeypatch.setattr("liegg.discovery.data.discover_data.means_of", no_pass)
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


def test_elements_leave_the_labels() -> None:
    x = data_set("gaussian", 1000)
    across = torch.diag(torch.tensor([-1.0, 1.0, 1.0]))
    for batches in (x, [x[:300], x[300:]]):
        sym = liegg.discover_data(
            batches,
            liegg.Linear(3),
            functions=16,
            labels=x[:, 2] > 0,
            elements={"flip": FLIP, "across": across},
        )
        assert sym.distribution is not None
        flip, other = sym.distribution.moved
        assert flip.p_value <= 0.005
        assert other.p_value > 0.01


def _blobs(count: int) -> torch.Tensor:
    angles = torch.arange(count, dtype=torch.float64).repeat(300) * (2 * math.pi / count)
    centres = torch.stack([angles.cos(), angles.sin()], 1)
    return centres + 0.02 * data_set("gaussian", 300 * count)[:, :2]


def test_tight_clusters_decide_nothing() -> None:
    sym = liegg.discover_data(_blobs(12), liegg.Linear(2))
    assert sym.decision.undecided == 1
    assert sym.nullity == 0
    warnings = {one.diagnosis: one for one in sym.decision.warnings}
    assert set(warnings) <= {Diagnosis.DATA_CLUSTERED, Diagnosis.DATA_FAILS_FURTHER}
    assert warnings[Diagnosis.DATA_CLUSTERED].values["clusters"] == 12


def test_a_motion_that_fails_on_held_out_samples_is_not_claimed() -> None:
    x = _blobs(10)
    sym = liegg.discover_data(x[:2000], liegg.Linear(2), functions=64, held_out=x[2000:])
    assert sym.nullity == 0
    assert sym.decision.undecided == 1
    assert Diagnosis.DATA_FAILS_WHEN_MOVED in [one.diagnosis for one in sym.decision.warnings]
    assert sym.distribution is not None
    assert len(sym.distribution.moved) == 1


def test_an_element_that_gives_no_finite_sample() -> None:
    with pytest.raises(ArgumentError, match="burst: no moved sample is finite"):
        liegg.discover_data(
            data_set("cube", 200),
            liegg.Linear(3),
            functions=16,
            elements={"burst": lambda x: x / 0},
        )
