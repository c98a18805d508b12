"""Layer errors on disk, as a page and on the command line."""

import json

import numpy as np
import pytest
import torch
from torch import nn

import liegg
from liegg._utils.errors import RecordError
from liegg.results import load_layer_errors
from liegg.results.run_folder import only_result, write_run
from stored import accept_changes


def network():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(4, 4, 3, stride=2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 3),
    ).double()


IMAGES = torch.rand(12, 1, 9, 9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
ACTION = liegg.Image("affine")


@pytest.fixture(scope="module")
def found():
    return liegg.layer_errors(network(), IMAGES, ACTION, "shift", size=1, target="classes")


def test_what_was_written_is_read_back(found, tmp_path):
    again = liegg.load(found.save(tmp_path / "run"))
    assert again.to_dict() == found.to_dict()
    assert str(again) == str(found)
    assert repr(again.action) == repr(found.action)
    assert [note.diagnosis for note in again.notes] == [note.diagnosis for note in found.notes]
    assert only_result(tmp_path / "run") == "layer errors"
    bare = liegg.layer_errors(network(), IMAGES, ACTION, "shift", size=1, effects=False)
    again = liegg.load(bare.save(tmp_path / "run"))  # numbers that JSON does not have
    assert again[0].effect != again[0].effect
    assert again[0].changed != again[0].changed


def test_errors_lie_beside_another_result(found, tmp_path):
    sym = liegg.discover(network(), IMAGES, ACTION, about=(), controls="none")
    write_run(tmp_path, sym)
    found.save(tmp_path)
    assert liegg.load(tmp_path).nullity == sym.nullity
    assert load_layer_errors(tmp_path).to_dict() == found.to_dict()


def test_damaged_folders_are_refused(found, tmp_path):
    path = found.save(tmp_path) / "layer-errors.json"
    for damage, message in (
        ("{", "damaged"),
        ('{"format": 9}', "format 9"),
        ('{"format": 1}', "damaged"),
    ):
        path.write_text(damage)
        accept_changes(tmp_path)
        with pytest.raises(RecordError, match=message):
            load_layer_errors(tmp_path)
    path.unlink()
    with pytest.raises(RecordError, match="missing"):
        load_layer_errors(tmp_path)


def test_single_layers_change_predictions(found):
    """A layer without an error changes none; shares are multiples of one sample and direction."""
    assert found["1"].changed == 0
    assert all(0 <= layer.changed <= 1 for layer in found)
    steps = torch.tensor([layer.changed for layer in found]) * 24
    assert torch.allclose(steps, steps.round(), atol=1e-4)
    assert "predictions" in found.table(width=120)


def test_the_page_says_it_first(found, tmp_path):
    page = found.report(tmp_path / "page.html").read_text()
    verdict = page[page.index('class="verdict') :]
    assert (
        "Shift by 1 pixel changes 0 % of the predictions of Sequential, and its output by"
        in verdict[:400]
    )
    assert found.worst[0].name in page
    assert "padding" in page


def test_the_command(tmp_path):
    from typer.testing import CliRunner

    from liegg.cli import app

    np.save(tmp_path / "x.npy", IMAGES.numpy())
    words = ["layer-errors", "--model", f"{__name__}:network", "--data", str(tmp_path / "x.npy")]
    words += ["--action", "image:affine", "--about", "shift", "--size", "1"]
    out = tmp_path / "run"
    done = CliRunner().invoke(app, [*words, "--target", "classes", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("Shift by 1 pixel changes 0 % of the predictions of Sequential")
    assert (out / "layer-errors.html").is_file()
    shown = CliRunner().invoke(app, ["show", str(out), "--quiet"])
    assert shown.output.startswith("Shift by 1 pixel")
    again = CliRunner().invoke(app, ["report", str(out)])
    assert again.exit_code == 0
    printed = CliRunner().invoke(app, [*words, "--json", "--no-effects", "--layers", "0,2"])
    assert [layer["name"] for layer in json.loads(printed.output)["layers"]] == ["0", "2"]
    for wrong, text in [
        (["--about", "hue"], "about='hue'"),
        (["--size", "0"], "size=0"),
        (["--layers", "nothing"], "no layer 'nothing'"),
        (["--target", "words"], "'words'"),
        (["--data", str(tmp_path)], "is a folder; expected a file of arrays"),
    ]:
        failed = CliRunner().invoke(app, [*words, *wrong])
        assert failed.exit_code == 2, wrong
        assert text in " ".join(failed.stderr.split()), failed.stderr
