"""Stored folders that were damaged, mixed, edited or replaced by something else, read and written over."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

import liegg
from liegg.results.run_folder import read_run, write_run
from reliability import functions
from stored import accept_changes

FILES = (
    "manifest.json",
    "record.json",
    "arrays.safetensors",
    "samples.safetensors",
    "layers.json",
    "layers.safetensors",
    "run.json",
    "group.json",
    "group.safetensors",
    "layer-errors.json",
)
"""What a run folder holds and is read back."""


class Damage(NamedTuple):
    """One way to damage a folder.

    Attributes:
        name: what is done.
        apply: does it, to a fresh folder; a second folder of another run is at hand, and one of the user.
        harmless: whether the result can still be read.
    """

    name: str
    apply: Callable[[Path, Path, Path], object]
    harmless: bool = False


class Read(NamedTuple):
    """What is read back from a folder: a run, and layer errors beside it."""

    run: Any
    errors: Any


@cache
def results() -> tuple[Any, Any, torch.Tensor]:
    """A result, the layers of a network, and samples."""
    x = torch.randn(60, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    return (
        liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(3)),
        liegg.discover_layers(net, x, liegg.Linear(3)),
        x,
    )


def make(folder: Path) -> tuple[Path, Path, Path]:
    """A run folder, one of another run, and a folder of the user, all in a new folder."""
    sym, layers, x = results()
    template = folder.parent / "template"
    if not template.exists():
        write_run(
            template / "run", sym, samples=x, layers=layers, title="One", group=functions.group()
        )
        functions.errors().save(template / "run")
        points = functions.normal(300, 2)
        write_run(template / "other", liegg.discover_data(points, liegg.Linear(2)), samples=points)
        (template / "user" / "layers" / "2024-raw").mkdir(parents=True)
        (template / "user" / "layers" / "2024-raw" / "x.npy").write_text("mine")
        (template / "user" / "thesis.tex").write_text("mine")
    shutil.copytree(template, folder)
    return folder / "run", folder / "other", folder / "user"


def damages() -> Iterator[Damage]:
    """Every way."""
    for name in FILES:
        yield from _of_bytes(name)
        yield from _of_place(name)
    for name in FILES[1:]:
        yield Damage(f"{name} of another run", lambda r, o, u, n=name: _from_other(r, o, n))
        yield Damage(
            f"{name} cut, accepted in the manifest",
            lambda r, o, u, n=name: (_cut(r / n, 0.5), accept_changes(r)),
        )
        yield Damage(
            f"{name} emptied, accepted in the manifest",
            lambda r, o, u, n=name: ((r / n).write_bytes(b""), accept_changes(r)),
        )
        yield Damage(
            f"{name} of another run, accepted in the manifest",
            lambda r, o, u, n=name: (_from_other(r, o, n), accept_changes(r)),
            harmless=name == "samples.safetensors",
        )
    yield from _of_records()
    yield from _of_manifest()
    yield Damage(
        "a stranger's file beside", lambda r, o, u: (r / "notes.txt").write_text("a"), True
    )
    yield Damage("a folder layers beside", lambda r, o, u: (r / "layers").mkdir(), True)
    yield Damage(
        "a left-over part", lambda r, o, u: (r / ".record.json.part").write_text("{"), True
    )
    yield Damage("the report removed", lambda r, o, u: (r / "report.html").unlink(), True)
    yield Damage("the log edited", lambda r, o, u: (r / "log.txt").write_text("a"), True)
    yield Damage("all files removed", lambda r, o, u: [p.unlink() for p in r.iterdir()])
    yield Damage("the folder removed", lambda r, o, u: shutil.rmtree(r))
    yield Damage("a file in its place", lambda r, o, u: (shutil.rmtree(r), r.write_text("a")))
    yield Damage("a pipe in its place", lambda r, o, u: (shutil.rmtree(r), os.mkfifo(r)))
    yield Damage("a link to itself", lambda r, o, u: (shutil.rmtree(r), r.symlink_to(r)))


def _of_bytes(name: str) -> Iterator[Damage]:
    """Damage to the content of one file."""
    for share in (0.0, 0.1, 0.5, 0.99):
        yield Damage(f"{name} cut at {share:.0%}", lambda r, o, u, s=share: _cut(r / name, s))
    for share in (0.0, 0.25, 0.5, 0.75, 0.999):
        yield Damage(
            f"{name}: a bit flipped at {share:.0%}", lambda r, o, u, s=share: _flip(r / name, s)
        )
    for text, content in (
        ("zeros", b"\0" * 1000),
        ("a pickle", b"\x80\x04K\x01."),
        ("null", b"null"),
    ):
        yield Damage(f"{name}: {text}", lambda r, o, u, c=content: (r / name).write_bytes(c))
    yield Damage(
        f"{name}: a space added",
        lambda r, o, u: (r / name).open("ab").write(b" "),
        name == "manifest.json",
    )


def _of_place(name: str) -> Iterator[Damage]:
    """Something else in the place of a file."""
    yield Damage(f"{name} removed", lambda r, o, u: (r / name).unlink())
    yield Damage(f"{name} a folder", lambda r, o, u: ((r / name).unlink(), (r / name).mkdir()))
    yield Damage(f"{name} a pipe", lambda r, o, u: ((r / name).unlink(), os.mkfifo(r / name)))
    yield Damage(
        f"{name} a link to a file of the user",
        lambda r, o, u: ((r / name).unlink(), (r / name).symlink_to(u / "thesis.tex")),
    )
    yield Damage(
        f"{name} a link to an equal file",
        lambda r, o, u: (
            shutil.copy(r / name, u / "copy"),
            (r / name).unlink(),
            (r / name).symlink_to(u / "copy"),
        ),
    )
    yield Damage(
        f"{name} a link to nothing",
        lambda r, o, u: ((r / name).unlink(), (r / name).symlink_to(u / "nothing")),
    )


def _of_records() -> Iterator[Damage]:
    """Records that are valid JSON and make no sense, accepted in the manifest."""
    changes: dict[str, Any] = {
        "another format": {"format": 99},
        "a format in words": {"format": "five"},
        "no decision": {"decision": None},
        "a decision that is a list": {"decision": []},
        "an unknown action": {"action": {"kind": "warp"}},
        "a huge action": {
            "action": {"kind": "linear", "n": 10**9, "copies": 1, "layout": "copies_first"}
        },
        "an action with code": {"action": {"kind": "os.system", "n": "echo"}},
        "no action": {"action": None},
        "samples in words": {"samples": "many"},
        "notes that are numbers": {"notes": [1, 2]},
        "an unknown note": {"notes": [{"diagnosis": "NO_SUCH", "values": {}}]},
        "candidates that are numbers": {"candidates": [1]},
        "no stored part": {"stored": {}},
        "an output action": {
            "output_action": {"kind": "linear", "n": 3, "copies": 1, "layout": "copies_first"}
        },
        "a verification that is a text": {"verification": "fine"},
        "a control in words": {"control": "none"},
        "words that are numbers": {"generator_words": 3},
        "a distribution that is a text": {"distribution": "flat"},
        "a distribution without tests": {"distribution": {"question": "density"}},
        "answers that are a number": {"answers": 3},
        "answers that are texts": {"answers": ["rotation"]},
        "an unknown target": {"target": {"kind": "warp"}},
    }
    for text, change in changes.items():
        yield Damage(
            f"record.json: {text}",
            lambda r, o, u, c=change: (_edit(r / "record.json", c), accept_changes(r)),
        )
    for text, change in {
        "another format": {"format": 99},
        "no layers": {"layers": None},
        "layers that are texts": {"layers": ["a"]},
        "a place that is not there": {"layers": [{"unit": 99}]},
        "no results": {"results": []},
        "results that are numbers": {"results": [1, 2, 3]},
    }.items():
        yield Damage(
            f"layers.json: {text}",
            lambda r, o, u, c=change: (_edit(r / "layers.json", c), accept_changes(r)),
        )
    for text, change in {
        "another format": {"format": 99},
        "elements that are numbers": {"elements": [1, 2]},
        "no elements": {"elements": None},
        "an element without a matrix": {"elements": [{"words": "turn"}]},
        "a group that is a text": {"group": "C4"},
        "a continuous part that is a list": {"continuous": [1]},
        "samples that are a text": {"samples": "many"},
        "a floor in words": {"floor": "low"},
    }.items():
        yield Damage(
            f"group.json: {text}",
            lambda r, o, u, c=change: (_edit(r / "group.json", c), accept_changes(r)),
        )
    for text, change in {
        "another format": {"format": 99},
        "layers that are numbers": {"layers": [1, 2]},
        "no layers": {"layers": None},
        "an unknown action": {"action": {"kind": "warp"}},
        "a motion that is a number": {"motion": 3},
        "notes that are numbers": {"notes": [1, 2]},
        "samples in words": {"samples": "many"},
    }.items():
        yield Damage(
            f"layer-errors.json: {text}",
            lambda r, o, u, c=change: (_edit(r / "layer-errors.json", c), accept_changes(r)),
        )
    for text, content in {
        "deep": "[" * 100_000,
        "a huge number": '{"format": 1e999}',
        "digits": '{"format": ' + "9" * 5000 + "}",
        "twice the same key": '{"format": 5, "format": 5}',
        "NaN": '{"format": NaN}',
    }.items():
        yield Damage(
            f"record.json: {text}",
            lambda r, o, u, c=content: ((r / "record.json").write_text(c), accept_changes(r)),
        )


def _of_manifest() -> Iterator[Damage]:
    """Manifests that point elsewhere."""
    digest = "0" * 64
    for text, change in {
        "a file outside": {"files": {"../user/thesis.tex": digest}},
        "an absolute file": {"files": {"/etc/passwd": digest}},
        "a stale file outside": {"stale": {"../user/thesis.tex": digest}},
        "a part of the user": {"part": "../user"},
        "a part in words": {"part": "layers"},
        "another format": {"format": 2},
        "no files": {"files": {}},
        "files that are a list": {"files": ["record.json"]},
        "itself": {"files": {"manifest.json": digest}},
    }.items():
        yield Damage(
            f"manifest.json: {text}", lambda r, o, u, c=change: _edit(r / "manifest.json", c)
        )


def _cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])


def _flip(path: Path, share: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(share * len(content))] ^= 4
    path.write_bytes(bytes(content))


def _edit(path: Path, change: dict[str, Any]) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | change))


def _from_other(run: Path, other: Path, name: str) -> None:
    source = other / name if (other / name).exists() else other / "record.json"
    (run / name).write_bytes(source.read_bytes())


def is_right(read: Read) -> bool:
    """Whether what was read is what was written."""
    run, (sym, layers, x) = read.run, results()
    return (
        read.errors.to_dict() == functions.errors().to_dict()
        and run.group is not None
        and run.group.to_dict() == functions.group().to_dict()
        and run.sym.to_dict() == sym.to_dict()
        and run.layers is not None
        and run.layers.to_dict() == layers.to_dict()
        and run.title == "One"
        and torch.equal(run.samples, x[:8])
    )


def read(folder: Path) -> Read:
    """Read a run folder and print what it holds."""
    found = Read(read_run(folder), liegg.results.load_layer_errors(folder))
    for part in (found.run.sym, found.run.group, found.errors):
        str(part)
    return found


def write_over(folder: Path) -> Any:
    """Save another result into the folder."""
    sym, _, x = results()
    return write_run(folder, sym, samples=x)
