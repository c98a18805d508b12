"""Labels beside samples."""

from typing import Any

import numpy as np
import pytest
import torch

import liegg
from known_data import data_set
from liegg._utils.errors import ArgumentError
from liegg.discovery.data.classes import BINS, as_classes


def test_labels_become_classes() -> None:
    classes = as_classes(["b", "a", "b"])
    assert classes.count == 2
    assert classes.numbers is not None
    assert classes.numbers.tolist() == [1, 0, 1]
    binned = as_classes(np.linspace(0, 1, 100))
    assert binned.numbers is not None
    assert np.bincount(binned.numbers).tolist() == [25] * BINS
    assert as_classes(None).count == 1


def test_bad_labels():
    for bad in [np.arange(40), np.zeros((3, 2)), [], [0.0, float("nan")]]:
        with pytest.raises(ArgumentError, match="labels"):
            as_classes(bad)


def test_labels_restrict_the_symmetries() -> None:
    x = data_set("gaussian", 6000)
    fixed: dict[str, Any] = {"functions": 24}
    sided = liegg.discover_data(x, liegg.Linear(3), labels=x[:, 2] > 0, **fixed)
    assert sided.name == "so(2)"
    assert sided.words == ("rotation in x₁–x₂",)
    radial = liegg.discover_data(x, liegg.Linear(3), labels=x.norm(dim=1) > 1.5, **fixed)
    assert radial.nullity == 3


def test_labels_must_match_the_samples() -> None:
    for count in (150, 250):
        with pytest.raises(ArgumentError, match=f"labels has {count} entries"):
            liegg.discover_data(
                data_set("cube", 200), liegg.Linear(3), functions=16, labels=torch.zeros(count)
            )


@pytest.mark.parametrize("labels", [["a", None], [[1.0], [1.0, 2.0]], [object(), object()]])
def test_labels_that_cannot_be_compared_are_refused(labels):
    with pytest.raises(ArgumentError, match="cannot be compared"):
        as_classes(labels)
