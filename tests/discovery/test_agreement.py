"""Everything that was asked can be compared between processes."""

import inspect
from dataclasses import fields, replace

import pytest
import torch

import liegg
from cases import normal
from liegg.discovery.agreement import HELD_OUT_SAMPLES, MAY_DIFFER, everything
from liegg.discovery.request import Request
from liegg.inputs.batches import Data
from liegg.inputs.part import Part
from liegg.polarization.checkpoint import difference

REQUEST = Request(
    data=normal(10, 3),
    action=liegg.Linear(3),
    output_action=None,
    outputs="each",
    thresholds=liegg.Thresholds(),
    run=liegg.Run(),
)
X = normal(300, 3)
LABELS = torch.arange(10)


def what(request=REQUEST, *, controls="random", labels=LABELS, held_out: Data = X):
    return everything(request, controls=controls, labels=labels, held_out=held_out)


def test_the_same_question_agrees():
    assert difference(what(), what(labels=LABELS.clone(), held_out=X.clone())) == ""
    run = liegg.Run(progress=print, checkpoint="here", checkpoint_every=1.0, timeout=9.0)
    assert difference(what(), what(replace(REQUEST, run=run))) == ""


@pytest.mark.parametrize("name", [one.name for one in fields(liegg.Thresholds)])
def test_every_threshold_is_compared(name):
    value = getattr(REQUEST.thresholds, name)
    object.__setattr__(thresholds := replace(REQUEST.thresholds), name, value * 1.01)
    found = difference(what(), what(replace(REQUEST, thresholds=thresholds)))
    assert found == f"thresholds.{name}: {value} and {value * 1.01}"


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"run": liegg.Run(bottom=3)}, "run.bottom: null and 3"),
        ({"run": liegg.Run(batch_size=3)}, "run.batch_size: null and 3"),
        ({"run": liegg.Run(route="vjp")}, 'run.route: "auto" and "vjp"'),
        ({"run": liegg.Run(control_draws=3)}, "run.control_draws: null and 3"),
        ({"run": liegg.Run(seed=1)}, "seed: 0 and 1"),
        ({"outputs": 2}, 'outputs: "each" and 2'),
        ({"action": liegg.Affine(3)}, "action: "),
        ({"output_action": liegg.Linear(3)}, "output_action: null and "),
        ({"part": Part(target=(0, 1))}, "target: None and [0, 1]"),
        ({"part": Part(output=torch.sin)}, 'output: None and "sin()"'),
    ],
)
def test_every_part_of_the_question_is_compared(changed, text):
    assert difference(what(), what(replace(REQUEST, **changed))).startswith(text)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"controls": "none"}, 'controls: "random" and "none"'),
        ({"labels": LABELS.flip(0)}, "groups: the labels are not the same"),
        ({"labels": None}, "groups: the labels are not the same"),
        ({"held_out": X + 1e-9}, "held_out: the samples are not the same"),
        ({"held_out": None}, "held_out: the samples are not the same"),
        ({"held_out": X[:9]}, "held_out: the samples are not the same"),
    ],
)
def test_every_other_argument_is_compared(changed, text):
    assert difference(what(), what(**changed)) == text


def test_held_out_samples_are_compared_as_far_as_they_are_read():
    other = X.clone()
    other[HELD_OUT_SAMPLES] += 1
    assert difference(what(), what(held_out=list(other.split(100)))) == ""
    assert inspect.signature(liegg.verify).parameters["samples"].default == HELD_OUT_SAMPLES


def test_what_may_differ_is_a_field():
    assert set(MAY_DIFFER) < {one.name for one in fields(liegg.Run)}
