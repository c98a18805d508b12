"""The printed table of layers: one line each, with what was asked for and what was out of the ordinary."""

import torch
from torch import nn

import liegg
from cases import normal


def printed(output_action=None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.ReLU(), nn.Linear(4, 3)).double()
    found = liegg.discover_layers(
        model, normal(60, 3), liegg.Linear(3), output_action=output_action
    )
    return found, str(found)


def rows(text):
    return [
        line.split() for line in text.splitlines() if line.startswith("  ") and "note" not in line
    ]


def test_every_layer_has_a_line_with_its_numbers():
    found, text = printed()
    assert (
        text.splitlines()[0]
        == "4 layers of Sequential under Linear(n=3, copies=1, layout='copies_first')"
    )
    assert text.splitlines()[1] == "60 samples, outputs=each, float64"
    head, *lines = rows(text)
    assert head == [
        "layer",
        "kind",
        "output",
        "symmetries",
        "defect",
        "δ²",
        "variance",
        "unit",
        "variance",
    ]
    assert [line[:2] for line in lines] == [
        ["0", "Linear"],
        ["1", "Dropout"],
        ["2", "ReLU"],
        ["3", "Linear"],
    ]
    assert lines[0][2:4] == ["4", str(found[0].invariance.nullity)]
    assert lines[1][2:4] == ["as", "0"]
    first = found[0]
    assert lines[0][4:] == [
        f"{value:.2e}"
        for value in (first.invariance.defects[0], first.invariance.variance, first.unit.variance)
    ]


def test_columns_stand_under_their_heads():
    found, text = printed(liegg.Linear(3))
    assert "equivariance with Linear(n=3, copies=1, layout='copies_first') on the outputs" in text
    lines = [line for line in text.splitlines() if line.startswith("  ") and "note" not in line]
    assert len({line.rstrip()[-1] for line in lines}) > 1
    assert len({len(line) for line in lines}) == 1
    assert rows(text)[1][-2:] == ["–", "–"]
    last = found[-1].equivariance
    assert last is not None
    assert rows(text)[-1][-2:] == [str(last.nullity), f"{float(last.defects[0]):.2e}"]


def test_notes_come_once_and_name_their_layer():
    found, text = printed()
    assert found["2"].notes
    assert text.count(f"note on 2: {found['2'].notes[0]}") == 1


def test_long_names_keep_their_end():
    inner = nn.Sequential(nn.Linear(3, 2))
    for _ in range(20):
        inner = nn.Sequential(inner)
    text = str(liegg.discover_layers(inner.double(), normal(20, 3), liegg.Linear(3)))
    assert "  …0.0.0." in text
    assert max(map(len, text.splitlines())) < 130
