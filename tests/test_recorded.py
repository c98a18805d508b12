"""88 analyses find what they found before, to rounding."""

import json
import math

import pytest
import torch

from recorded.analyses import STORED, analyses, layers, outcome

BEFORE = json.loads(STORED.read_text(encoding="utf-8"))["outcomes"]
SAME = (
    "nullity",
    "undecided",
    "trivial",
    "exact",
    "name",
    "warnings",
    "notes",
    "learned",
    "samples",
    "rows",
)
"""Members that do not depend on the last bits."""


COMPUTED_DATA = (
    *("plane/float64", "product-of-three/float64", "radial image", "radial image affine"),
    *("network on images", "similarity", "colour", "image and colour", "sequence"),
)
"""Analyses of samples that are products, exponentials or interpolated, whose last bits differ between CPUs. Samples are assigned to
blocks by a hash of their bits, so that intervals of defects and of the count, the angle of the span, and grades that are near a threshold
are those of other blocks there."""


def tolerance(name: str) -> float:
    """Relative error of a ratio of sums of some hundred products: square root of the rounding unit, as defects are squares."""
    return 2e-3 if "float32" in name else 1e-6


def close(name: str, now: object, before: object, floor: float) -> bool:
    """Whether numbers agree to rounding: relatively, or within what rounding does to a defect at all."""
    if isinstance(now, list) and isinstance(before, list):
        return len(now) == len(before) and all(
            close(name, a, b, floor) for a, b in zip(now, before, strict=True)
        )
    if now is None or before is None:
        return now is before
    assert isinstance(now, float | int)
    assert isinstance(before, float | int)
    return math.isclose(now, before, rel_tol=tolerance(name), abs_tol=2 * floor)


def check(name: str, now: dict) -> None:
    before = BEFORE[name]
    assert {key: now[key] for key in SAME} == {key: before[key] for key in SAME}
    same = [a == b for a, b in zip(now["grades"], before["grades"], strict=True)]
    near = [
        name in COMPUTED_DATA and (a or b) for a, b in zip(now["near"], before["near"], strict=True)
    ]
    assert all(a or b for a, b in zip(same, near, strict=True)), (now["grades"], before["grades"])
    for key in ("defects", "intervals", "variance", "control", "curves"):
        if key == "intervals" and name in COMPUTED_DATA:
            continue
        assert close(name, now[key], before[key], before["floor"]), key
    if name not in COMPUTED_DATA or before["counts"] is None:
        assert now["counts"] == before["counts"]
    else:
        assert now["counts"][0] <= now["nullity"] <= now["counts"][1]
    if before["angle"] is not None and name not in COMPUTED_DATA:
        assert math.isclose(
            now["angle"],
            before["angle"],
            rel_tol=1e-3,
            abs_tol=1e-6 if "float32" not in name else 1e-3,
        )


@pytest.mark.parametrize(
    ("name", "call"), list(analyses()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_an_analysis_finds_what_it_did(name, call):
    check(name, outcome(call()))


def test_layers_find_what_they_did():
    now = layers()
    assert len(now) > 5
    for name, found in now.items():
        check(name, found)


def test_the_record_is_whole():
    assert {name for name, _ in analyses()} | {
        name for name in BEFORE if name.startswith("layer ")
    } == set(BEFORE)
    assert len(BEFORE) >= 60
    assert not math.isclose(1.0, 1.01, rel_tol=tolerance("float32"))


def test_a_change_would_be_noticed():
    name = "lorentz/float64"
    with pytest.raises(AssertionError):
        check(name, BEFORE[name] | {"nullity": 5})
    with pytest.raises(AssertionError):
        check(
            name, BEFORE[name] | {"defects": [1.001 * value for value in BEFORE[name]["defects"]]}
        )


def test_the_caller_is_left_alone():
    state = torch.random.get_rng_state()
    next(analyses())[1]()
    assert torch.equal(state, torch.random.get_rng_state())
