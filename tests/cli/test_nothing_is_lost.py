"""Whatever fails after the analysis, the result is printed and stored; and nothing is left behind after a refusal."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer

import liegg
from cli.test_discover import NETWORK, NORM, discover
from command import run


def full(*_, **__):
    raise OSError(28, "No space left on device")


def full_at_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A disk that is full at `run`; the folder in which results are kept instead."""
    place = folder / "elsewhere"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    real = os.fsync
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: (
            full() if "run" in str(Path(f"/proc/self/fd/{handle}").readlink()) else real(handle)
        ),
    )
    return place


def test_a_full_disk_at_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = full_at_run(folder, monkeypatch)
    code, out, err = discover(NORM, "--out", "run")
    assert code == 2
    assert "6 symmetries" in out
    assert "No space left on device" in err
    (kept,) = place.glob("liegg-*")
    assert str(kept) in err
    assert liegg.load(kept).nullity == 6
    assert not Path("run").exists()


def test_no_room_anywhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The result is printed at least, and no empty folder stays behind."""
    place = folder / "elsewhere"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    monkeypatch.setattr(os, "fsync", full)
    code, out, err = discover(NORM, "--out", "run")
    assert (code, "6 symmetries" in out) == (2, True)
    assert "could not be stored in a temporary folder either" in err
    assert not any(place.iterdir())
    assert not Path("run").exists()


@pytest.mark.parametrize("out", [("--out", "run"), ()])
def test_standard_output_on_a_full_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, out: tuple[str, ...]
) -> None:
    """The result is stored where it was asked for, or in a temporary folder."""
    place = folder / "elsewhere"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    real = typer.echo
    monkeypatch.setattr(
        typer, "echo", lambda *given, err=False, **more: real(*given, err=True) if err else full()
    )
    code, printed, err = discover(NORM, *out)
    assert (code, printed) == (2, "")
    assert "standard output cannot be written: No space left on device" in err
    (kept,) = [Path("run")] if out else place.iterdir()
    assert str(kept) in err
    assert liegg.load(kept).nullity == 6


def other_verb(name: str, *more: str) -> tuple[int, str, str]:
    """Run another command on small inputs, with a module of its own."""
    generator = np.random.default_rng(0)
    np.save("points.npy", generator.standard_normal((200, 2)))
    np.save("images.npy", generator.random((8, 1, 6, 6), np.float32))
    Path("nets_of_others.py").write_text(OTHERS)
    sys.modules.pop("nets_of_others", None)
    words = {
        "data": "discover --data points.npy --action linear:2",
        "group": "discover --model nets_of_others:quartic --data points.npy --action linear:2 --group",
        "layer errors": "layer-errors --model nets_of_others:filters --data images.npy --action image",
    }
    return run(*words[name].split(), *more)


OTHERS = """
from torch import nn
def quartic():
    return lambda x: x.pow(4).sum(1)
def filters():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(32, 2))
"""

READERS = {
    "data": liegg.load,
    "group": liegg.results.load_group,
    "layer errors": liegg.results.load_layer_errors,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("out", [("--out", "run"), ()])
def test_other_commands_store_what_they_cannot_print(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, out: tuple[str, ...]
) -> None:
    place = folder / "elsewhere"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    real = typer.echo
    monkeypatch.setattr(
        typer, "echo", lambda *given, err=False, **more: real(*given, err=True) if err else full()
    )
    code, _, err = other_verb(name, *out)
    assert (code, "standard output cannot be written" in err) == (2, True)
    (kept,) = [Path("run")] if out else place.iterdir()
    assert str(kept) in err
    assert str(READERS[name](kept))


@pytest.mark.parametrize("name", READERS)
def test_other_commands_on_a_full_disk(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place = full_at_run(folder, monkeypatch)
    code, out, err = other_verb(name, "--out", "run")
    assert (code, "No space left on device" in err) == (2, True)
    (kept,) = place.glob("liegg-*")
    assert " ".join(str(READERS[name](kept)).split()[:8]) in " ".join(out.split())
    assert not Path("run").exists()


@pytest.mark.parametrize("error", [liegg.LieggError("no group"), RuntimeError("no group")])
def test_a_search_for_a_group_that_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Whatever it is, the continuous symmetries are printed and stored."""

    def fails(*_, **__):
        raise error

    monkeypatch.setattr("liegg.discover_group", fails)
    code, out, _ = other_verb("group", "--out", "run")
    assert code == (2 if isinstance(error, liegg.LieggError) else 1)
    assert out.startswith(str(liegg.load("run")))


def test_layer_errors_stay_beside_a_new_result(folder: Path) -> None:
    assert other_verb("layer errors", "--out", "run")[0] == 0
    assert other_verb("data", "--out", "run")[0] == 0
    assert liegg.results.load_layer_errors("run").layers
    assert other_verb("data", "--out", "run")[0] == 0  # a complete earlier run is replaced
    with pytest.raises(liegg.LieggError):
        liegg.results.load_layer_errors("run")


@pytest.mark.parametrize("words", ["report run", "compare run run"])
def test_pages_do_not_replace_files_of_the_user(folder: Path, words: str) -> None:
    assert discover(NORM, "--out", "run", "-q")[0] == 0
    Path("thesis.tex").write_text("mine")
    for _ in range(2):
        assert run(*words.split(), "--out", "page.html")[0] == 0
    code, _, err = run(*words.split(), "--out", "thesis.tex")
    assert (code, "thesis.tex" in err) == (2, True)
    assert Path("thesis.tex").read_text() == "mine"


@pytest.mark.parametrize("option", ["--checkpoint", "--classes"])
def test_pipes_are_refused(folder: Path, option: str) -> None:
    os.mkfifo("pipe.txt")
    code, out, err = discover(NORM, option, "pipe.txt")
    assert (code, out, "pipe.txt" in err) == (2, "", True)


def test_a_reader_that_went_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `| head`: the run folder is complete, and there is no message."""

    def gone(*_, **__):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(typer, "echo", gone)
    assert discover(NORM, "--out", "run") == (1, "", "")
    assert Path("run", "report.html").is_file()
    assert liegg.load("run").nullity == 6


def test_a_report_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_, **__):
        raise RuntimeError("no page today")

    monkeypatch.setattr("liegg.report.page.page.report_html", fails)
    code, out, err = discover(NORM, "--out", "run")
    assert (code, "6 symmetries" in out, "liegg report run" in err) == (2, True, True)
    assert liegg.load("run").nullity == 6


def test_layers_that_fail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_, **__):
        raise liegg.LieggError("no layers today")

    monkeypatch.setattr("liegg.discover_layers", fails)
    code, out, err = discover(NETWORK, "--layers", "--out", "run")
    assert (code, "no layers today" in err) == (2, True)
    assert out.startswith(str(liegg.load("run")))


def test_layers_of_a_function_are_refused_before_the_analysis(folder: Path) -> None:
    code, out, err = discover(NORM, "--layers", "--out", "run")
    assert (code, out) == (2, "")
    assert "--layers needs a torch.nn.Module" in err
    assert not Path("run").exists()


def test_a_verification_that_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_, **__):
        raise liegg.LieggError("no verification today")

    monkeypatch.setattr("liegg.discovery.discover.verify", fails)
    code, out, err = discover(NORM, "--held-out", "0.2", "--out", "run")
    assert (code, "no verification today" in err, "6 symmetries" in out) == (2, True, True)
    assert liegg.load("run").nullity == 6


@pytest.mark.parametrize("values", ["nan", "narrow", "one"])
def test_bad_held_out_samples_are_refused_before_the_analysis(folder: Path, values: str) -> None:
    x = np.load("x.npy")
    bad = {"nan": np.where(x > 2, np.nan, x), "narrow": x[:, :3], "one": x[:1]}[values]
    np.save("bad.npy", bad)
    code, out, err = discover(NORM, "--held-out", "bad.npy", "--out", "a/b/run")
    assert (code, out, "held" in err) == (2, "", True)
    assert not Path("a").exists()


def test_a_folder_of_someone_else_is_refused_before_the_analysis(folder: Path) -> None:
    Path("mine").mkdir()
    Path("mine", "record.json").write_text("mine")
    code, out, err = discover(NORM, "--out", "mine")
    assert (code, out, "already holds record.json" in err) == (2, "", True)
    assert Path("mine", "record.json").read_text() == "mine"


def test_names_cannot_steer_the_terminal(folder: Path) -> None:
    code, out, err = discover(NORM | {"--data": "a\x1b[31m.npy"})
    assert (code, "\x1b" in out + err) == (2, False)


SLOW = """
import time
from pathlib import Path
def norm():
    def f(x):
        Path("reading").touch()
        time.sleep(0.05)
        return x.square().sum(1)
    return f
"""


@pytest.mark.slow
def test_sigterm_ends_a_run_and_leaves_nothing(folder: Path) -> None:
    Path("slow_net.py").write_text(SLOW)
    words = [
        "--model",
        "slow_net:norm",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "--batch-size",
        "2",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "liegg", "discover", *words, "--out", "a/b/run"],
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if Path("reading").exists():
            break
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, "interrupted" in err) == (143, True)
    assert not Path("a").exists()
