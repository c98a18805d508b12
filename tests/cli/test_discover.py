"""`liegg discover` as a user meets it."""

import json
import os
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import jaxtyping
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import liegg
from command import run
from liegg.inputs.batches import Batches


def test_discover_prints_and_saves(folder: Path) -> None:
    code, out, _ = run(
        "discover",
        "--model",
        "nets_for_cli:norm",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "--out",
        "run",
    )
    assert code == 0
    assert "6 symmetries" in out
    stored = liegg.load("run")
    assert stored.nullity == 6
    assert float(stored.angles(liegg.so(4)).max()) < 1e-12


def test_discover_json_is_only_json(folder: Path) -> None:
    words = (
        "discover",
        "--model",
        "nets_for_cli:norm",
        "--data",
        "x.npz:two",
        "--action",
        "linear:4",
        "--json",
    )
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert json.loads(out)["nullity"] == 6


def test_quiet_prints_the_number_alone(folder: Path) -> None:
    assert (
        run(
            "discover",
            "--model",
            "nets_for_cli:norm",
            "--data",
            "x.npy",
            "--action",
            "linear:4",
            "-q",
        )[1]
        == "6\n"
    )


def test_the_smallest_defects_alone(folder: Path) -> None:
    words = (
        "discover",
        "--model",
        "nets_for_cli:norm",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "--json",
        "--bottom",
    )
    record = json.loads(run(*words, "8")[1])
    assert (record["nullity"], len(record["defects"]), record["bottom"]["moving"]) == (6, 8, 16)
    assert len(record["bottom"]["residuals"]) == 8
    code, _, err = run(*words, "0")
    assert code != 0
    assert (
        "bottom=0: expected how many of the smallest defects are wanted, for example bottom=20."
        in err
    )


def test_weights_are_loaded(folder: Path) -> None:
    linear = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    with torch.no_grad():
        for weight in linear.parameters():
            weight.zero_()
    save_file(linear.state_dict(), "zero.safetensors")
    words = (
        "discover",
        "--model",
        "nets_for_cli:build",
        "--data",
        "x.npy",
        "--action",
        "linear:2x2",
        "-q",
    )
    assert run(*words)[1] == "0\n"
    assert run(*words, "--weights", "zero.safetensors")[1] == "0\n"  # a constant says nothing


def test_exported_program(folder: Path) -> None:
    network = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    ).eval()
    batch = torch.export.Dim("batch")
    program = torch.export.export(network, (torch.zeros(2, 4),), dynamic_shapes=({0: batch},))
    torch.export.save(program, "model.pt2")
    code, out, _ = run(
        "discover", "--model", "model.pt2", "--data", "x.npy", "--action", "affine:2x2", "--json"
    )
    assert code == 0
    direct = liegg.discover(network, np.load("x.npy"), liegg.Affine(2, copies=2))
    assert json.loads(out)["spectrum"] == pytest.approx(direct.spectrum.values.tolist(), rel=1e-4)


def test_equivariance(folder: Path) -> None:
    words = shlex.split(
        "discover --model nets_for_cli:build --data x.npy --action linear:2x2 --output-action linear:2"
    )
    code, out, _ = run(*words)
    assert code == 0
    assert out.startswith("equivariance of Sequential")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"--action": "linear"},
            "action 'linear': Expected linear:N, linear:NxCOPIES or affine:NxCOPIES, for example linear:5x2;",
        ),
        (
            {"--action": "linear:3"},
            "a sample has shape (4,); Linear(3, copies=1) expects (3,) or (1, 3).",
        ),
        ({"--model": "nets_for_cli"}, "expected package.module:factory or a file model.pt2."),
        ({"--model": "no_such_package:f"}, "there is no module 'no_such_package'"),
        ({"--model": "nets_for_cli:absent"}, "module 'nets_for_cli' has no 'absent'."),
        ({"--model": "nets_for_cli:nothing"}, "is a int; expected a function without arguments"),
        ({"--model": "nets_for_cli:broken"}, "the factory failed with RuntimeError: no such file"),
        ({"--model": "syntax_for_cli:f"}, "importing 'syntax_for_cli' failed with SyntaxError"),
        (
            {"--model": "raising_for_cli:f"},
            "importing 'raising_for_cli' failed with RuntimeError: at import",
        ),
        (
            {"--model": "attribute_for_cli:f"},
            "importing 'attribute_for_cli' failed with AttributeError: module 'os'",
        ),
        (
            {"--data": "number.npy"},
            "data 'number.npy' is a single number; expected samples along the first axis.",
        ),
        ({"--out": "file/sub"}, "results cannot be written there"),
        ({"--route": "sideways"}, "route='sideways': expected 'auto', 'jvp', 'vjp' or 'autograd'."),
        ({"--limit": "minimum_gap=0.5"}, "minimum_gap=0.5: expected a ratio of 1 or more"),
        ({"--limit": "resolution=-1"}, "resolution=-1.0: expected 0 or a small defect"),
        (
            {"--limit": "treshold=0.1"},
            "there is no argument 'treshold'. The limits are threshold, minimum_gap",
        ),
        (
            {"--limit": "threshold"},
            "--limit 'threshold': expected a name and a number, for example --limit threshold=0.05.",
        ),
        (
            {"--control": "shuffled"},
            "control='shuffled', control_draws=5: expected control='reinitialised' and at least 2 draws.",
        ),
        ({"--held-out": "missing.npy"}, "there is no file missing.npy"),
        ({"--seed": "-1"}, "seed=-1: expected a whole number from 0 to 2^63 - 1."),
        ({"--model": "absent.pt2"}, "model 'absent.pt2': there is no such file."),
        ({"--model": "x.npy.pt2"}, "there is no such file"),
        ({"--data": "absent.npy"}, "there is no file absent.npy."),
        ({"--data": "x.csv"}, "expected a .npy file, or an .npz file and a name as x.npz:name."),
        (
            {"--data": "x.npz"},
            "choose one of its arrays, for example x.npz:one; it holds one, two.",
        ),
        (
            {"--outputs": "some"},
            "outputs='some': expected 'each', 'sum' or a positive number of random combinations.",
        ),
        ({"--batch-size": "0"}, "batch_size=0: expected a positive number of samples"),
    ],
)
def test_mistakes_end_with_one_line_and_exit_code_two(
    folder: Path, changes: dict[str, str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        jaxtyping.config, "jaxtyping_disable", True
    )  # users run without the type checks that would answer first
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
    code, _, err = run(
        "discover", *[part for pair in (base | {"--model": "junk.pt2"}).items() for part in pair]
    )
    assert (code, "is no exported program" in err) == (2, True)
    code, _, err = run(
        "discover",
        *[part for pair in (base | {"--weights": "junk.safetensors"}).items() for part in pair],
    )
    assert (code, "cannot be read" in err) == (2, True)


def test_weights_that_do_not_fit_are_named(folder: Path) -> None:
    save_file({"0.weight": torch.zeros(3, 3)}, "other.safetensors")
    words = shlex.split(
        "discover --model nets_for_cli:build --data x.npy --action linear:4 --weights other.safetensors"
    )
    code, _, err = run(*words)
    assert code == 2
    assert "do not fit nets_for_cli:build" in err


def test_images_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pictures.py").write_text("def build():\n    return lambda x: x.mean((1, 2)).square()\n")
    np.save("x.npy", np.random.default_rng(0).random((200, 8, 9)))
    code, out, err = run(
        "discover",
        "--model",
        "pictures:build",
        "--data",
        "x.npy",
        "--action",
        "image:affine:periodic",
        "--json",
    )
    assert code == 0, err
    found = json.loads(out)
    assert (
        found["nullity"] == 4
    )  # of a mean over a periodic picture: two translations and two shears, row by row and column by column
    assert found["action"]["kind"] == "grid"


def test_layers_are_asked_the_same(folder: Path) -> None:
    words = [
        "discover",
        "--model",
        "nets_for_cli:build",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "--layers",
        "--json",
    ]
    code, out, err = run(
        *words,
        "--outputs",
        "sum",
        "--limit",
        "threshold=0.9",
        "--limit",
        "minimum_gap=1.01",
        "--limit",
        "clear=0.01",
    )
    found = json.loads(out)
    last = found["layers"]["layers"][-1]["invariance"]
    assert code == 0, err
    assert last["settings"]["outputs"] == "sum"
    assert last["settings"]["threshold"] == 0.9
    assert last["defects"] == pytest.approx(found["defects"], rel=1e-4)
    assert last["nullity"] == found["nullity"]


def test_labels_of_another_length_are_refused_whatever_is_held_out(folder: Path) -> None:
    words = [
        "discover",
        "--model",
        "nets_for_cli:norm",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "-q",
    ]
    np.save("all.npy", np.arange(300) // 3)
    np.save("part.npy", np.arange(240) // 3)
    np.save("more.npy", np.arange(500) // 3)
    assert run(*words, "--groups", "all.npy", "--held-out", "0.2")[0] == 0  # cut as the data are
    assert run(*words, "--groups", "part.npy", "--held-out", "0.2")[0] == 0
    for held_out in (["--held-out", "0.2"], ["--held-out", "x.npy"], []):
        code, _, err = run(*words, "--groups", "more.npy", *held_out)
        assert code == 2
        assert "groups has 500 labels for" in err


def test_weights_that_were_not_given_are_said_and_the_same_every_time(folder: Path) -> None:
    Path("drawn_for_cli.py").write_text(
        "import torch\n\ndef build():\n    return torch.nn.Linear(4, 2)\n"
    )
    words = [
        "discover",
        "--model",
        "drawn_for_cli:build",
        "--data",
        "x.npy",
        "--action",
        "linear:4",
        "--json",
    ]
    (_, one, err), (_, two, _) = run(*words), run(*words)
    assert one == two
    assert (
        err
        == "liegg: no --weights were given: the weights that the factory makes itself (under seed 0) are analysed.\n"
    )


def test_foreign_byte_order_and_a_folder_of_a_failed_run(folder: Path) -> None:
    np.save("big.npy", np.load("x.npy").astype(">f8"))
    words = [
        "discover",
        "--model",
        "nets_for_cli:norm",
        "--action",
        "linear:4",
        "-q",
        "--out",
        "run",
    ]
    assert run(*words, "--data", "big.npy")[0] == 0
    assert liegg.load("run").nullity == 6
    code, _, _ = run(*words[:-1], "other", "--data", "x.npz:one", "--limit", "nonsense=3")
    assert code == 2
    assert not Path("other").exists()


def test_an_empty_archive_and_a_name_that_it_lacks(folder: Path) -> None:
    np.savez("none.npz")
    words = ["discover", "--model", "nets_for_cli:norm", "--action", "linear:4"]
    assert (
        "data 'none.npz' holds no array. Save one with numpy.savez(path, x=x)."
        in run(*words, "--data", "none.npz")[2]
    )
    assert (
        "data 'x.npz': it has no 'three'; choose one of its arrays"
        in run(*words, "--data", "x.npz:three")[2]
    )


WORDS = [
    "discover",
    "--model",
    "nets_for_cli:build",
    "--data",
    "x.npy",
    "--action",
    "linear:4",
    "-q",
]


def test_interrupted_with_a_checkpoint_it_says_how_to_go_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, calls = Batches.numbered, []

    def pressed(self, passed=None):
        for entry in read(self, passed):
            if len(entry[1]) == 20:  # not where single samples are looked at
                calls.append(entry[0])
            if calls == [0, 0, 20, 40, 60]:  # the first is tried out before
                signal.raise_signal(signal.SIGINT)
            yield entry

    monkeypatch.setattr(Batches, "numbered", pressed)
    words = [*WORDS, "--batch-size", "20", "--checkpoint", "c"]
    code, out, err = run(*words)
    assert (code, out) == (130, "")
    assert "liegg: interrupted. Type the same again to go on from there." in err
    assert Path("c").exists()
    calls.clear()
    assert run(*words, "--checkpoint-every", "0")[0] == 0
    assert calls == [0, *range(80, 300, 20)]  # what was read before is not read again


def test_the_bar_counts_the_share_of_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals = []

    @contextmanager
    def bar(_label, total, _unit, *, hidden):
        totals.append((total, hidden))
        yield lambda done: None

    monkeypatch.setattr(
        sys.modules["liegg.cli.discover"], "bar", bar
    )  # the package has the command under that name
    for name, value in {"count": lambda: 4, "joined": lambda _: None, "end": lambda: None}.items():
        monkeypatch.setattr(f"liegg.studies.ensemble.processes.{name}", value)
    assert run(*WORDS[:-1])[0] == 0
    assert totals == [(75, False)]


def test_seconds_that_are_none(folder: Path) -> None:
    for name, text in {
        "--timeout": "timeout=0.0: expected a number",
        "--checkpoint-every": "checkpoint_every=-1.0: expected",
    }.items():
        code, _, err = run(*WORDS, name, text.partition("=")[2].partition(":")[0])
        assert (code, text in err) == (2, True)


def started(folders: list[Path], words: list[str]) -> list[tuple[int, str, str]]:
    """What the tasks of a SLURM step say, each in a folder."""
    port = 20000 + (os.getpid() * 11) % 30000
    common = {
        name: value for name, value in os.environ.items() if not name.startswith("SLURM_")
    } | {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "SLURM_STEP_ID": "0",
        "SLURM_NTASKS": str(len(folders)),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    numbers = [
        {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank)} for rank in range(len(folders))
    ]
    command, pipe = [sys.executable, "-m", "liegg", *words], subprocess.PIPE
    tasks = [
        subprocess.Popen(command, cwd=folder, env=common | own, stdout=pipe, stderr=pipe, text=True)
        for folder, own in zip(folders, numbers, strict=True)
    ]
    try:
        said = [task.communicate(timeout=120) for task in tasks]
    finally:
        for task in tasks:
            task.kill()
    return [(task.returncode, *texts) for task, texts in zip(tasks, said, strict=True)]


def test_the_tasks_of_a_step_share_the_data(folder: Path) -> None:
    (folder / "run").mkdir()
    one, other = started([folder, folder], [*WORDS, "--checkpoint", "run/c", "--timeout", "60"])
    assert (one[:2], other[:2]) == ((0, "0\n"), (0, ""))
    assert sorted(path.name for path in (folder / "run").iterdir()) == ["c.0-of-2", "c.1-of-2"]


def test_what_one_cannot_load_is_told_by_all(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (one, _, err), (other, _, own) = started([folder, elsewhere], [*WORDS, "--out", "run"])
    assert not (folder / "run").exists()
    assert (one != 0, other != 0) == (True, True)
    assert "liegg: process 1 of 2 failed: DataError: data 'x.npy': there is no file x.npy." in err
    assert "liegg: data 'x.npy': there is no file x.npy." in own
