"""The command line as a user meets it: in processes of its own where imports or terminals matter, else in this one."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jaxtyping
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from typer.testing import CliRunner

import liegg
from liegg.cli import app
from liegg.files import parse_action

ROOT = Path(__file__).parents[1]

MODULE = """
import torch
from torch import nn

def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

def norm():
    return lambda x: x.square().sum(1)

def broken():
    raise RuntimeError("no such file")

nothing = 3
"""

BROKEN = {
    "syntax_for_cli": "def f(:",
    "raising_for_cli": "raise RuntimeError('at import')",
    "attribute_for_cli": "import os\nos.nothing_here",
}


def run(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, list(words))
    return done.exit_code, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nets_for_cli.py").write_text(MODULE)
    for name, text in BROKEN.items():
        (tmp_path / f"{name}.py").write_text(text)
    np.save(tmp_path / "number.npy", np.float64(3.0))
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    np.save("x.npy", np.random.default_rng(0).standard_normal((300, 4)))
    np.savez("x.npz", one=np.ones((5, 4)), two=np.load("x.npy"))
    return tmp_path


def test_help_is_fast_because_torch_is_not_imported() -> None:
    script = "import sys\nfrom liegg.__main__ import main\ntry:\n    main()\nexcept SystemExit: pass\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
    assert "discover" in done.stdout


def test_missing_optional_package_gets_an_install_hint() -> None:
    script = "import sys\nsys.modules['typer'] = None\nfrom liegg.__main__ import main\nmain()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stderr.strip() == "liegg: the command line needs typer. Type: pip install 'liegg[cli]'"


def test_version() -> None:
    assert run("--version")[:2] == (0, f"liegg {liegg.__version__}\n")


def test_discover_prints_and_saves(folder: Path) -> None:
    code, out, _ = run("discover", "--model", "nets_for_cli:norm", "--data", "x.npy", "--action", "linear:4", "--out", "run")
    assert code == 0
    assert "6 symmetries" in out
    stored = liegg.load("run")
    assert stored.nullity == 6
    assert float(stored.angles(liegg.so(4)).max()) < 1e-12


def test_discover_json_is_only_json(folder: Path) -> None:
    words = ("discover", "--model", "nets_for_cli:norm", "--data", "x.npz:two", "--action", "linear:4", "--json")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert json.loads(out)["nullity"] == 6


def test_quiet_prints_the_number_alone(folder: Path) -> None:
    assert run("discover", "--model", "nets_for_cli:norm", "--data", "x.npy", "--action", "linear:4", "-q")[1] == "6\n"


def test_weights_are_loaded(folder: Path) -> None:
    linear = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    with torch.no_grad():
        for weight in linear.parameters():
            weight.zero_()
    save_file(linear.state_dict(), "zero.safetensors")
    words = ("discover", "--model", "nets_for_cli:build", "--data", "x.npy", "--action", "linear:2x2", "-q")
    assert run(*words)[1] == "0\n"
    assert run(*words, "--weights", "zero.safetensors")[1] == "0\n"  # a constant says nothing


def test_exported_program(folder: Path) -> None:
    network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).eval()
    batch = torch.export.Dim("batch")
    program = torch.export.export(network, (torch.zeros(2, 4),), dynamic_shapes=({0: batch},))
    torch.export.save(program, "model.pt2")
    code, out, _ = run("discover", "--model", "model.pt2", "--data", "x.npy", "--action", "affine:2x2", "--json")
    assert code == 0
    direct = liegg.discover(network, np.load("x.npy"), liegg.Affine(2, copies=2))
    assert json.loads(out)["spectrum"] == pytest.approx(direct.spectrum.values.tolist(), rel=1e-4)


def test_equivariance(folder: Path) -> None:
    words = shlex.split("discover --model nets_for_cli:build --data x.npy --action linear:2x2 --output-action linear:2")
    code, out, _ = run(*words)
    assert code == 0
    assert out.startswith("equivariance of Sequential")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"--action": "linear"}, "action 'linear': Expected linear:N, linear:NxCOPIES or affine:NxCOPIES, for example linear:5x2;"),
        ({"--action": "linear:3"}, "a sample has shape (4,); Linear(3, copies=1) expects (3,) or (1, 3)."),
        ({"--model": "nets_for_cli"}, "expected package.module:factory or a file model.pt2."),
        ({"--model": "no_such_package:f"}, "there is no module 'no_such_package'"),
        ({"--model": "nets_for_cli:absent"}, "module 'nets_for_cli' has no 'absent'."),
        ({"--model": "nets_for_cli:nothing"}, "is a int; expected a function without arguments"),
        ({"--model": "nets_for_cli:broken"}, "the factory failed with RuntimeError: no such file"),
        ({"--model": "syntax_for_cli:f"}, "importing 'syntax_for_cli' failed with SyntaxError"),
        ({"--model": "raising_for_cli:f"}, "importing 'raising_for_cli' failed with RuntimeError: at import"),
        ({"--model": "attribute_for_cli:f"}, "importing 'attribute_for_cli' failed with AttributeError: module 'os'"),
        ({"--data": "number.npy"}, "data 'number.npy' is a single number; expected samples along the first axis."),
        ({"--out": "file/sub"}, "cannot be made"),
        ({"--route": "sideways"}, "route='sideways': expected 'auto', 'jvp', 'vjp' or 'autograd'."),
        ({"--limit": "minimum_gap=0.5"}, "minimum_gap=0.5: expected a ratio of 1 or more"),
        ({"--limit": "resolution=-1"}, "resolution=-1.0: expected 0 or a small defect"),
        ({"--limit": "treshold=0.1"}, "there is no argument 'treshold'. The limits are threshold, minimum_gap"),
        ({"--limit": "threshold"}, "--limit 'threshold': expected a name and a number, for example --limit threshold=0.05."),
        ({"--control": "shuffled"}, "control='shuffled', control_draws=5: expected control='reinitialised' and at least 2 draws."),
        ({"--held-out": "missing.npy"}, "there is no file missing.npy"),
        ({"--seed": "-1"}, "seed=-1: expected a whole number from 0 to 2^63 - 1."),
        ({"--model": "absent.pt2"}, "model 'absent.pt2': there is no such file."),
        ({"--model": "x.npy.pt2"}, "there is no such file"),
        ({"--data": "absent.npy"}, "there is no file absent.npy."),
        ({"--data": "x.csv"}, "expected a .npy file, or an .npz file and a name as x.npz:name."),
        ({"--data": "x.npz"}, "choose one of its arrays, for example x.npz:one; it holds one, two."),
        ({"--outputs": "some"}, "outputs='some': expected 'each', 'sum' or a positive number of random combinations."),
        ({"--batch-size": "0"}, "batch_size=0: expected a positive number of samples"),
    ],
)
def test_mistakes_end_with_one_line_and_exit_code_two(
    folder: Path, changes: dict[str, str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # users run without the type checks that would answer first
    words = {"--model": "nets_for_cli:norm", "--data": "x.npy", "--action": "linear:4"} | changes
    code, out, err = run("discover", *[part for pair in words.items() for part in pair])
    assert code == 2
    assert out == ""
    assert text in err
    assert "Traceback" not in err


def test_pickled_arrays_and_other_files_are_refused(folder: Path) -> None:
    np.save("pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    Path("junk.npy").write_bytes(b"junk")
    Path("junk.npz").write_bytes(b"junk")
    Path("junk.pt2").write_bytes(b"junk")
    Path("junk.safetensors").write_bytes(b"junk")
    base = {"--model": "nets_for_cli:build", "--data": "x.npy", "--action": "linear:4"}
    for change in ({"--data": "pickled.npy"}, {"--data": "junk.npy"}, {"--data": "junk.npz"}):
        code, _, err = run("discover", *[part for pair in (base | change).items() for part in pair])
        assert code == 2
        assert "cannot be read" in err
    code, _, err = run("discover", *[part for pair in (base | {"--model": "junk.pt2"}).items() for part in pair])
    assert (code, "is no exported program" in err) == (2, True)
    code, _, err = run("discover", *[part for pair in (base | {"--weights": "junk.safetensors"}).items() for part in pair])
    assert (code, "cannot be read" in err) == (2, True)


def test_weights_that_do_not_fit_are_named(folder: Path) -> None:
    save_file({"0.weight": torch.zeros(3, 3)}, "other.safetensors")
    words = shlex.split("discover --model nets_for_cli:build --data x.npy --action linear:4 --weights other.safetensors")
    code, _, err = run(*words)
    assert code == 2
    assert "do not fit nets_for_cli:build" in err


def test_unknown_study_is_a_usage_error() -> None:
    code, _, err = run("reproduce", "o6")
    assert code == 2
    assert "'o5'" in err


def test_claims_from_stored_results(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "results", tmp_path / "results")
    for name in ("claims.json", "index.html"):
        (tmp_path / "results" / name).unlink()
    code, out, err = run("reproduce", "claims", "--out", str(tmp_path / "results"))
    assert (code, err) == (0, "")
    assert "configurations-depth-variance" in out
    assert "does not hold" in out
    assert out.splitlines()[-1] == f"Page: {tmp_path / 'results' / 'index.html'}"
    assert (tmp_path / "results" / "index.html").stat().st_size > 10_000
    code, out, _ = run("reproduce", "claims", "--out", str(tmp_path / "results"), "--json")
    assert json.loads(out) == json.loads((tmp_path / "results" / "claims.json").read_text())


def test_a_folder_without_results_or_with_those_of_another_version_is_a_mistake(tmp_path: Path) -> None:
    code, _, err = run("reproduce", "claims", "--out", str(tmp_path))
    assert code == 2
    told = f"{tmp_path} holds no results of any study. Type `liegg reproduce all --out {tmp_path}`, or name another folder."
    assert err == f"liegg: {told}\n"
    old = {"study": "o5", "provenance": {"versions": {"liegg": "0.0.9"}}}
    (tmp_path / "o5.json").write_text(json.dumps(old))
    code, _, err = run("reproduce", "claims", "--out", str(tmp_path))
    assert code == 2
    assert "o5.json was written by liegg 0.0.9 in format 1; this is liegg" in err
    assert f"Run `liegg reproduce o5 --out {tmp_path}` again, or remove the file." in err
    assert [path.name for path in tmp_path.iterdir()] == ["o5.json"]


def test_one_study_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegg.studies.o5.epochs", lambda samples: 5)
    code, out, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path))
    assert (code, err) == (0, "")
    assert "nullity of each network" in out
    assert out.splitlines()[-1] == f"Results: {tmp_path / 'o5.json'}"
    code, out, _ = run("reproduce", "o5", "--quick", "--out", str(tmp_path), "--json")
    assert json.loads(out)["study"] == "o5"


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_, **__) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("liegg.studies.o5.compute", interrupted)
    code, out, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path))
    assert (code, out, err) == (130, "", "liegg: interrupted. Type the same again to go on from there.\n")


def test_a_folder_that_cannot_be_written_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in ("file", "file/below"):
        code, _, err = run("reproduce", "o5", "--quick", "--out", str(tmp_path / place))
        assert code == 2
        assert "results cannot be written there" in err
    code, _, err = run("reproduce", "claims", "--quick", "--out", str(tmp_path))
    assert (code, "type it without --quick" in err) == (2, True)


def test_a_second_piece_of_work_begins_its_own_bar() -> None:
    from rich.progress import Progress

    from liegg.cli import _named_bars

    seen: list[tuple[float, float | None]] = []
    original = Progress.update

    def spy(self: Progress, task: Any, **words: Any) -> None:
        original(self, task, **words)
        seen.append((self.tasks[0].completed, self.tasks[0].total))

    with pytest.MonkeyPatch.context() as patch, _named_bars(hidden=True) as advance:
        patch.setattr(Progress, "update", spy)
        for label, done, total in (("a", 3, 5), ("a", 2, 5), ("b", 1, 5), ("c", 2, 9), ("c", 7, 9)):
            advance(label, done, total)
    assert seen == [(3, 5), (5, 5), (1, 5), (2, 9), (9, 9)]


def test_missing_data_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIEGG_DATA", str(tmp_path / "nowhere"))
    for study in ("configurations", "all"):
        code, out, err = run("reproduce", study, "--out", str(tmp_path / "out"))
        assert (code, out) == (2, "")
        assert "nowhere" in err
    assert not list((tmp_path / "out").iterdir())


def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegg.studies.o5.MAIN", 300)  # seconds less; still so(5), only rougher
    code, out, _ = run("demo", "--out", str(tmp_path / "demo"))
    assert code == 0
    assert "10 symmetries" in out
    assert "span so(5) to within" in out
    assert (tmp_path / "demo" / "o5-demo.png").stat().st_size > 10_000
    assert liegg.load(tmp_path / "demo").nullity == 10


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("linear:5x2", liegg.Linear(5, copies=2)),
        ("image", liegg.Image()),
        ("image:affine", liegg.Image("affine")),
        ("image:affine:28x28", liegg.Image("affine", shape=(28, 28))),
        ("image:3x32x32:central:periodic", liegg.Image(shape=(3, 32, 32), derivative="central", border="periodic")),
        ("volume", liegg.Volume()),
        ("image:frame=2", liegg.Image(frame=2)),
        ("image:gaussian:sigma=2.5", liegg.Image(derivative="gaussian", sigma=2.5)),
        ("sequence:linear:64", liegg.Sequence("linear", shape=(64,))),
        ("color", liegg.Color()),
        ("color:linear:4", liegg.Color("linear", channels=4)),
        ("color:3x32x32", liegg.Color(shape=(3, 32, 32))),
        ("image + color", liegg.Product(liegg.Image(), liegg.Color())),
    ],
)
def test_actions_by_text(text: str, action: liegg.Action) -> None:
    assert parse_action(text).settings() == action.settings()


@pytest.mark.parametrize("text", ["image:similarity", "color:tone:1", "image:euclidean+color:gains"])
def test_smaller_groups_by_text(text: str) -> None:
    assert parse_action(text).size == {"image:similarity": 4, "color:tone:1": 2, "image:euclidean+color:gains": 6}[text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("picture", "Expected linear:N, linear:NxCOPIES or affine:NxCOPIES"),
        ("image:warped", "group='warped': Image knows 'linear', 'affine', 'similarity', 'euclidean'"),
        ("color:hue", "group='hue': Color knows 'affine', 'linear', 'gains' and 'tone'"),
        ("image+", "action 'image+'"),
        ("image:central:paper", "action 'image:central:paper': a second derivative, 'paper'. Expected linear:N"),
        ("image:", "action 'image:': nothing after a colon"),
        ("image:28", "group='28'"),
    ],
)
def test_actions_that_do_not_exist(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match=re.escape(message)):
        parse_action(text)


def test_images_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pictures.py").write_text("def build():\n    return lambda x: x.mean((1, 2)).square()\n")
    np.save("x.npy", np.random.default_rng(0).random((200, 8, 9)))
    code, out, err = run("discover", "--model", "pictures:build", "--data", "x.npy", "--action", "image:affine:periodic", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (
        found["nullity"] == 4
    )  # of a mean over a periodic picture: two translations and two shears, row by row and column by column
    assert found["action"]["kind"] == "grid"


def test_a_device_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    code, _, err = run("reproduce", "rotmnist", "--quick", "--device", "xpu:7", "--out", str(tmp_path))
    assert code == 2
    assert "device 'xpu:7' cannot be used here" in err
    assert "--device cpu" in err
    code, _, err = run("reproduce", "rotmnist", "--quick", "--device", "meta", "--out", str(tmp_path))
    assert (code, "device 'meta' cannot be used here" in err) == (2, True)
    assert not list(tmp_path.iterdir())
