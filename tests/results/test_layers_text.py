"""The table of layers: one line each, with what was asked for and what was out of the ordinary."""

import pytest
import torch
from torch import nn

import liegg
from cases import normal

WIDTHS = (60, 80, 120, 200)


def analysed(output_action=None):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(), nn.ReLU(), nn.Linear(4, 3)).double()
    return liegg.discover_layers(model, normal(60, 3), liegg.Linear(3), output_action=output_action)


@pytest.fixture(scope="module")
def found():
    return analysed()


@pytest.fixture(scope="module")
def pairs():
    return analysed(liegg.Linear(3))


def rows(text):
    """Lines of the table in columns, heading first."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("  layer"))
    return [line.split() for line in lines[start : start + 5]]


def test_every_layer_has_a_line_with_its_numbers(found):
    head, *lines = rows(found.table(width=120))
    assert head == ["layer", "kind", "output", "symmetries", "δ²", "motion"]
    names = [["0", "Linear"], ["1", "Dropout"], ["2", "ReLU"], ["3", "Linear"]]
    assert [line[:2] for line in lines] == names
    assert lines[1][2:4] == ["as", "0"]
    sym = found[0].invariance
    assert lines[0][2:5] == ["4", str(sym.nullity), f"{float(sym.defects[0]):.3g}"]
    assert " ".join(lines[0][5:]) == sym.candidates[0].words


def test_variances_are_there_on_request(found):
    assert "σ²" not in str(found)
    head, first, *_ = rows(found.table(variance=True))
    assert head[5:7] == ["σ²/|D|", "unit"]
    values = [found.variance()[0], found.variance("unit")[0]]
    assert first[5:7] == [f"{float(value):.3g}" for value in values]


def test_pairs_have_their_columns(pairs):
    head, first, *_, last = rows(str(pairs))
    assert head[-4:-1] == ["equiv.", "its", "δ²"]
    assert first[5:7] == ["–", "–"]
    pair = pairs[-1].equivariance
    assert last[5:7] == [str(pair.nullity), f"{float(pair.defects[0]):.3g}"]


def test_the_table_begins_with_the_sentence(found):
    head, _, _ = str(found).partition("\nlayers under")
    assert " ".join(head.split()) == found.sentence


def test_notes_come_once_and_name_their_layer(found):
    assert found["2"].notes
    unwrapped = " ".join(str(found).split())
    assert unwrapped.count(f"note on 2: {found['2'].notes[0]}") == 1


def test_every_width_fits_and_long_names_keep_their_end(found, pairs):
    inner = nn.Sequential(nn.Linear(3, 2))
    for _ in range(40):
        inner = nn.Sequential(inner)
    deep = liegg.discover_layers(inner.double(), normal(20, 3), liegg.Linear(3))
    for width in WIDTHS:
        for result in (found, pairs, deep):
            for variance in (False, True):
                text = result.table(width=width, variance=variance)
                assert max(map(len, text.splitlines())) <= width
        assert ("  …" in deep.table(width=width)) == (width < 200)
        assert "0.0.0 " in deep.table(width=width)
