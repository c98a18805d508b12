"""Command lines that make no sense, or meet damaged files, in a folder with files of the user."""

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn

import liegg

NETS = """
import torch
def norm():
    return lambda x: x.square().sum(1)
def build():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
def fails():
    raise RuntimeError("no model today")
def number():
    return 3
def quartic():
    return lambda x: x.pow(4).sum(1)
def filters():
    torch.manual_seed(0)
    layers = torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.Flatten(), torch.nn.Linear(72, 2)
    return torch.nn.Sequential(*layers)
def exits():
    raise SystemExit("bye")
constant = 3
"""

BROKEN = "def build(:\n"


class Command(NamedTuple):
    """A command line.

    Attributes:
        words: the words after `liegg`.
        code: exit code; 0 or 2.
    """

    words: tuple[str, ...]
    code: int = 2


def prepare(folder: Path) -> None:
    """The files of the user, in the current folder."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(60, 4, generator=generator, dtype=torch.float64).numpy()
    np.save(folder / "x.npy", x)
    np.save(folder / "flat.npy", x[0, 0])
    np.save(folder / "nan.npy", np.where(x > 2, np.nan, x))
    np.save(folder / "narrow.npy", x[:, :3])
    np.save(folder / "one.npy", x[:1])
    np.save(folder / "none.npy", x[:0])
    np.save(folder / "whole.npy", (10 * x).astype(int))
    np.save(folder / "texts.npy", np.full((60, 4), "a"))
    np.save(folder / "objects.npy", x.astype(object), allow_pickle=True)
    np.save(folder / "groups.npy", np.arange(60) % 20)
    np.savez(folder / "x.npz", one=x, two=2 * x)
    for name in ("text.csv", "text.parquet", "text.onnx"):
        (folder / name).write_text("not numbers, but words\nof two lines")
    (folder / "empty.csv").touch()
    torch.save({"a": torch.zeros(3), "b": torch.zeros(4)}, folder / "two.pt")
    torch.save(torch.zeros(1).expand(10**13), folder / "wide.pt")
    torch.save({"state_dict": {}, "hyper_parameters": Path("x")}, folder / "code.ckpt")
    np.savez(folder / "empty.npz")
    (folder / "cut.npy").write_bytes((folder / "x.npy").read_bytes()[:200])
    with zipfile.ZipFile(folder / "bomb.npz", "w") as archive:
        archive.writestr("x.npy", _huge())
    (folder / "cut.npz").write_bytes((folder / "x.npz").read_bytes()[:300])
    (folder / "huge.npy").write_bytes(_huge())
    (folder / "text.npy").write_text("no array")
    (folder / "nets.py").write_text(NETS)
    (folder / "broken.py").write_text(BROKEN)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    save_file(net.state_dict(), folder / "w.safetensors")
    torch.save(net.state_dict(), folder / "w.pt")
    torch.save(net, folder / "model.pt")
    save_file({"other": torch.zeros(2)}, folder / "other.safetensors")
    (folder / "cut.safetensors").write_bytes((folder / "w.safetensors").read_bytes()[:100])
    (folder / "text.pt2").write_text("no program")
    liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(4)).save(folder / "run")
    liegg.discover(lambda x: x.square().sum(1), x[:, :3], liegg.Linear(3)).save(folder / "narrow")
    (folder / "proj" / "layers" / "2024-raw").mkdir(parents=True)
    (folder / "proj" / "layers" / "2024-raw" / "data.txt").write_text("mine")
    (folder / "taken").mkdir()
    (folder / "taken" / "record.json").write_text("mine")
    (folder / "file").write_text("mine")
    (folder / "mine.html").write_text("<!DOCTYPE html><title>mine</title>")
    for name in ("pipe.npy", "pipe.pt", "pipe.csv", "pipe.onnx", "pipe.safetensors", "pipe.txt"):
        os.mkfifo(folder / name)
    np.save(folder / "images.npy", np.random.default_rng(0).random((8, 1, 6, 6), np.float32))
    circle = np.random.default_rng(0).standard_normal((400, 2))
    np.save(folder / "circle.npy", circle)
    np.save(folder / "labels.npy", np.square(circle).sum(1))
    found = liegg.discover_group(lambda x: x.pow(4).sum(1), x[:, :2], liegg.Linear(2), starts=4)
    found.save(folder / "group")
    net = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    liegg.discover_layers(net, x, liegg.Linear(4)).save(folder / "layers")
    (folder / "link").symlink_to("proj")


def _huge() -> bytes:
    """The header of an array of 40 terabytes."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (5000000000000, 1), }"
    padded = header + b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded


def discover(**changes: str | None) -> tuple[str, ...]:
    """`liegg discover` of the norm, with some options changed or left out."""
    options = {"model": "nets:norm", "data": "x.npy", "action": "linear:4"} | changes
    words = ["discover"]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", *([] if value == "" else [value])]
    return tuple(words)


def layer_errors(**changes: str | None) -> tuple[str, ...]:
    """`liegg layer-errors` of a small network, with some options changed or left out."""
    given = {"model": "nets:filters", "data": "images.npy", "action": "image", "samples": "4"}
    return ("layer-errors", *discover(**given | changes)[1:])


def of_data(**changes: str | None) -> tuple[str, ...]:
    """`liegg discover` of a data set."""
    given = {"model": None, "data": "circle.npy", "action": "linear:2"}
    return discover(**given | changes)


OUTS = ("file", "file/run", "taken", "x.npy", "/proc/run", "a\tb", "pipe.txt", "/dev/null")
"""Where no run folder can be written."""


def other_commands() -> Iterator[Command]:
    """Groups, data sets, errors of layers, and pages."""
    group = {"model": "nets:quartic", "data": "circle.npy", "action": "linear:2", "group": ""}
    yield Command(discover(**group, out="new"), 0)
    yield Command(discover(**group, out="proj", json=""), 0)
    yield Command(discover(**group, at="0"))
    yield Command(layer_errors(), 0)
    yield Command(layer_errors(out="proj"), 0)
    yield Command(layer_errors(out="new/run"), 0)
    yield Command(of_data(), 0)
    yield Command(of_data(out="proj", held_out="0.3"), 0)
    yield Command(of_data(question="label", labels="labels.npy"), 0)
    for out in OUTS:
        yield Command(discover(**group, out=out))
        yield Command(layer_errors(out=out))
        yield Command(of_data(out=out))
    for option, values in {
        "about": ("nonsense", "", "color"),
        "size": ("nan", "inf", "a"),
        "layers": ("nonsense", ",", ""),
        "samples": ("0", "-1", "a"),
        "target": ("nonsense", "3"),
        "seed": ("-1", "a"),
        "model": (None, "nets:norm", "nets:fails", "pipe.onnx"),
        "data": ("x.npy", "proj", "pipe.npy", "missing.npy"),
        "action": ("linear:4", "color"),
    }.items():
        for value in values:
            yield Command(layer_errors(**{option: value}))
    for option, values in {
        "question": ("nonsense", "label"),
        "labels": ("missing.npy", "x.npy"),
        "held_out": ("2", "x.npy"),
        "groups": ("x.npy",),
        "action": ("linear:3", "image", "nonsense"),
        "data": ("pipe.csv", "narrow.npy", "nan.npy", "one.npy", "texts.npy"),
        "weights": ("w.pt",),
        "layers": ("",),
        "checkpoint": ("c",),
        "limit": ("treshold=1",),
    }.items():
        for value in values:
            yield Command(of_data(**{option: value}))
    for option, values in {
        "target": ("9", "nonsense", "1 minus", "1 minus 1"),
        "at": ("nowhere", "0"),
        "output": ("nothing", "7"),
        "about": ("nonsense",),
        "classes": (",", "pipe.txt", "missing.txt", "x.npy"),
        "names": ("a,b", "a,a,b,c"),
        "checkpoint": ("pipe.npy",),
        "data": ("pipe.pt", "pipe.safetensors"),
        "verify_effort": ("some",),
        "labels": ("labels.npy",),
        "question": ("label",),
    }.items():
        for value in values:
            code = 0 if (option, value) == ("classes", "x.npy") else 2
            yield Command(discover(**{option: value}), code)
    yield from pages()


def pages() -> Iterator[Command]:
    """Stored groups and layers, and pages that would overwrite a file of the user."""
    for run in ("group", "layers"):
        yield Command(("show", run), 0)
        yield Command(("report", run, "--out", "new.html"), 0)
        yield Command(("compare", run, "run"))
    yield Command(("compare", "group", "group"), 0)
    yield Command(("compare", "layers", "layers", "--out", "new.html"), 0)
    yield Command(("compare", "group", "group", "--out", "new.html"))
    for out in ("file", "x.npy", "mine.html", "nets.py", "pipe.txt", "/dev/null", "/proc/a.html"):
        yield Command(("report", "run", "--out", out))
        yield Command(("report", "group", "--out", out))
        yield Command(("compare", "run", "run", "--out", out))
    for names in ("a", "a,b,c", ",", "a,a"):
        yield Command(("compare", "run", "run", "--names", names))
    yield Command(("compare", "run", "run", "--about", "nonsense"))
    yield Command(("compare", "run", "run", "--layers"))
    yield Command(("compare", "run", "run", "--group"))


def commands() -> Iterator[Command]:
    """Every command line."""
    yield from other_commands()
    yield Command(discover(), 0)
    yield Command(discover(out="new/run"), 0)
    yield Command(discover(out="proj", layers="", model="nets:build", weights="w.pt"), 0)
    yield Command(discover(out="link"), 0)
    yield Command(discover(data="x.npz:two"), 0)
    yield Command(discover(groups="groups.npy"), 0)
    yield Command(discover(held_out="0.2"), 0)
    yield Command(discover(title="\x1b[31mred"), 0)
    for model in (
        "", "nets", "nets:", ":norm", "nets:nothing", "nowhere:norm", "nets.py:norm", "nets:fails",
        "nets:number", "nets:constant", "broken:build", "text.pt2", "missing.pt2",
        "missing.onnx", "text.onnx", "model.pt", "w.safetensors", "os:system", "nets:norm:more", "../nets:norm", "\x1b[31m:a",
    ):  # fmt: skip
        yield Command(discover(model=model))
    for data in (
        "", "missing.npy", "x", "x.txt", "x.npz", "x.npz:three", "x.npz:", "empty.npz", "cut.npy",
        "cut.npz", "text.npy", "flat.npy", "nan.npy", "narrow.npy", "none.npy", "whole.npy",
        "texts.npy", "objects.npy", "huge.npy", "bomb.npz", "bomb.npz:x", "proj", "a\x1b[31m.npy", "/dev/null", "nets.py",
        "text.csv", "empty.csv", "text.parquet", "model.pt", "model.pt:x", "cut.safetensors", "two.pt", "wide.pt",
    ):  # fmt: skip
        yield Command(discover(data=data))
    for action in (
        "", "linear", "linear:", "linear:0", "linear:-1", "linear:4.5", "linear:four", "linear:5",
        "linear:4x0", "linear:4x", "linear:" + "9" * 5000, "linear:99999", "affine:100000x2",
        "rotation", "so(4)", "Linear(4)", "image", "image:warp", "image:0x0", "image:affine:affine",
        "image:sigma=nan", "image:frame=-1", "color", "color:0", "volume", "sequence:x", "+",
        "linear:4+", "image+color",
    ):  # fmt: skip
        yield Command(discover(action=action))
    for option, values in {
        "weights": ("w.pt", "missing.pt", "x.npy", "code.ckpt"),
        "size": ("64x64", "0x0", "a"),
        "samples": ("0", "-1", "a"),
        "moves": ("pos",),
        "budget": ("0", "-1", "a"),
        "outputs": ("some", "0", "-1", "2.5", "1e3"),
        "output_action": ("linear:7", "nonsense"),
        "held_out": ("0", "1", "1.5", "nan", "missing.npy", "narrow.npy", "nan.npy", "one.npy"),
        "groups": ("x.npy", "missing.npy", "objects.npy"),
        "seed": ("-1", "a", "1.5", "99999999999999999999"),
        "limit": ("threshold", "threshold=a", "treshold=1", "threshold=-1", "threshold=nan", "=1"),
        "control": ("fresh", "reinitialised"),
        "control_draws": ("0", "a"),
        "batch_size": ("0", "-3", "a"),
        "route": ("forward",),
        "bottom": ("0", "-1", "a"),
        "checkpoint": ("proj", "x.npy", "/dev/null", "file/c.pt"),
        "checkpoint_every": ("-1", "a"),
        "timeout": ("0", "-1", "a"),
        "device": ("gpu", "cuda:99", "meta", ""),
        "out": ("file", "file/run", "taken", "x.npy", "/proc/run", "a\tb"),
    }.items():
        for value in values:
            yield Command(discover(**{option: value}))
    yield Command(discover(layers=""))
    yield Command(discover(weights="other.safetensors", model="nets:build"))
    yield Command(discover(weights="cut.safetensors", model="nets:build"))
    yield Command(discover(weights="model.pt", model="nets:build"))
    yield Command(discover(weights="missing.safetensors", model="nets:build"))
    for missing in ("model", "data", "action"):
        yield Command(discover(**{missing: None}))
    for folder in ("missing", "file", "taken", "proj", "x.npy", "", "/dev/null"):
        yield Command(("show", folder))
        yield Command(("report", folder))
        yield Command(("compare", folder, "run"))
    yield Command(("show", "run"), 0)
    yield Command(("show", "run", "--log"))
    yield Command(("report", "run", "--out", "page.html"), 0)
    yield Command(("report", "run", "--out", "file/page.html"))
    yield Command(("report", "run", "--samples", "missing.npy"))
    yield Command(("report", "run", "--samples", "narrow.npy"))
    yield Command(("compare", "run", "run"), 0)
    yield Command(("compare", "run", "narrow"))
    yield Command(("compare", "run"))
    yield Command(("nonsense",))
    yield Command(("discover", "--nonsense"))
    yield Command(("reproduce", "nothing"))
    yield Command(("--nonsense",))
