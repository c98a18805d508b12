"""Records of layer errors: causes, sentence, table."""

import json
import math
from dataclasses import replace

import pytest

import liegg
from liegg._utils.errors import ArgumentError
from liegg.results.layer_errors import LayerError, LayerErrors

CONV = LayerError(
    name="features.with.a.long.name.conv1",
    kind="Conv2d",
    role="convolution",
    shape=(4, 8, 8),
    cause="filters",
    pads=True,
    total=0.5,
    added=0.4,
    interior=0.1,
    unstrided=math.nan,
    resampling=0.02,
    exact=False,
    effect=0.2,
)
RELU = replace(
    CONV,
    name="relu",
    kind="ReLU",
    role="nonlinearity",
    cause="nonlinearity",
    pads=False,
    effect=0.03,
)
FREE = replace(RELU, added=0.0, effect=0.0)
BLOCK = replace(CONV, name="block", role="block", cause="other", effect=5.0)


def result(*layers, output=0.25, size=15.0):
    return LayerErrors(
        motion="rotation",
        size=size,
        unit="°",
        model="Net",
        action=liegg.Image(),
        samples=64,
        output=output,
        floor=1e-9,
        layers=layers,
    )


def test_causes_of_a_layer_that_pads():
    """A quarter of its error is inside; of that, interpolation makes a fifth."""
    assert CONV.causes() == pytest.approx({"padding": 0.15, "interpolation": 0.01, "filters": 0.04})
    assert CONV.main_cause == "padding"
    assert CONV.weight == pytest.approx(0.19)


def test_causes_without_effects_come_from_the_errors():
    plain = replace(CONV, effect=math.nan)
    assert plain.causes() == pytest.approx({"padding": 0.3, "interpolation": 0.02, "filters": 0.08})


def test_causes_of_a_stride():
    strided = replace(CONV, cause="stride or pooling", pads=False, unstrided=0.025, interior=0.1)
    found = strided.causes()
    assert found["interpolation"] == pytest.approx(0.05 * 0.2)
    assert found["filters"] == pytest.approx(0.25 * 0.19)
    assert found["stride or pooling"] == pytest.approx(0.75 * 0.19)


def test_what_interpolation_makes_alone_is_nobodys_fault():
    """A layer that mixes pixels has no more error than moving its output there and back."""
    other = replace(CONV, pads=False, resampling=0.9)
    assert other.causes() == {"interpolation": 0.2}
    assert other.weight == 0
    assert other.main_cause == "interpolation"


def test_interpolation_is_no_excuse_for_a_nonlinearity():
    assert replace(RELU, resampling=0.9).causes() == {"nonlinearity": 0.03}


def test_padding_is_not_guessed_without_an_interior():
    assert "padding" not in replace(CONV, interior=math.nan).causes()
    assert replace(CONV, effect=0.0).causes() == {}
    assert replace(CONV, effect=math.nan, added=math.inf).causes() == {}


def test_the_worst_layer_and_the_shares():
    found = result(CONV, RELU, BLOCK)
    assert found.single == (CONV, RELU)
    assert found.worst == (CONV, RELU)
    shares = found.by_cause()
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["padding"] == pytest.approx(0.15 / 0.23)
    assert "rotation by 15° changes the output of net by 25 %" in found.sentence.lower()
    assert "most is added by features.with.a.long.name.conv1 (padding, 86 %" in found.sentence
    numbered = result(replace(CONV, name="0"), RELU, BLOCK)
    assert "added by layer 0 (padding" in numbered.sentence
    assert found.explained  # (√0.2 + √0.03)² is more than 0.25
    assert not result(CONV, RELU, output=0.4).explained
    assert "does not change" in result(CONV, output=0.0).sentence
    counted = replace(found, changed=0.125)
    assert "changes 12 % of the predictions of Net, and its output by 25 %" in counted.sentence
    assert result(FREE, output=0.0).sentence.endswith("Net.")
    assert "no layer that was measured" in result(FREE).sentence


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_lines_fit(width):
    many = [replace(CONV, name=f"layers.{i}.convolution.{i}", effect=0.1 * i) for i in range(40)]
    lines = result(*many, RELU).table(width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert "… and 29 more, which add less" in lines[-1]
    assert lines[-2].lstrip().startswith("…")  # the end of a long name is shown, not its beginning


def test_records_by_name_and_as_json():
    found = result(CONV, RELU)
    assert found["relu"] is found[1] is found[-1]
    assert (len(found), found.names) == (2, (CONV.name, "relu"))
    stored = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stored["layers"][0]["unstrided"] is None
    assert stored["layers"][0]["effect"] == 0.2
    assert stored["by_cause"] == pytest.approx(found.by_cause())
    assert "LayerErrors(rotation by 15°, 2 layers" in repr(found)
    assert "<pre" in found._repr_html_()
    for which in ("conv", 2, -3):
        with pytest.raises(ArgumentError, match=r"no layer"):
            _ = found[which]
