"""`liegg discover` in this process: what it prints, writes and refuses."""

import json
import signal
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
from liegg.cli._shared import INFINITESIMAL
from liegg.inputs.batches import Batches
from liegg.polarization.rows import polarize

NORM = {"--model": "nets_for_cli:norm", "--data": "x.npy", "--action": "linear:4"}
NETWORK = NORM | {"--model": "nets_for_cli:build"}


def discover(options: dict[str, str], *more: str) -> tuple[int, str, str]:
    return run("discover", *[word for pair in options.items() for word in pair if word], *more)


def test_the_result_is_printed_and_saved(folder: Path) -> None:
    code, out, err = discover(NORM, "--out", "run")
    stored = liegg.load("run")
    assert (code, err) == (0, "")
    assert out.startswith(str(stored))
    assert stored.nullity == 6
    assert float(stored.angles(liegg.so(4)).max()) < 1e-12


@pytest.mark.parametrize("words", [("--task", "values"), ("--task=values",)])
def test_an_option_of_earlier_versions_is_answered_with_the_new_one(words) -> None:
    code, out, err = discover(NORM, *words)
    assert (code, out) == (2, "")
    assert "--target values" in err


@pytest.mark.parametrize("held_out", [(), ("--held-out", "0.2"), ("--held-out", "x.npy")])
def test_the_report_has_the_labels_of_the_samples_that_it_shows(folder: Path, held_out) -> None:
    names = ("--about", "rotation", "--classes", "yes,no")
    assert discover(NETWORK, *names, *held_out, "--out", "run", "-q")[0] == 0
    assert run("report", "run", "-q")[0] == 0  # the names of the classes are stored
    (motion, *_) = page_data(Path("run", "report.html"))["motions"]["list"]
    assert motion["label"] == "rotation"
    finite = liegg.load("run").answers[0].finite
    assert finite is not None
    assert finite.predictions is not None
    assert [row[:2] for row in motion["predictions"]] == [
        [("yes", "no")[i] for i in row[:2]] for row in finite.predictions.tolist()
    ]


def page_data(path: Path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def test_json_is_only_json_and_quiet_only_the_number(folder: Path) -> None:
    code, out, err = discover(NORM | {"--data": "x.npz:two"}, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["nullity"] == 6
    assert discover(NORM, "-q")[1] == "6\n"


def test_only_the_smallest_defects(folder: Path) -> None:
    record = json.loads(discover(NORM, "--json", "--bottom", "8")[1])
    assert (record["nullity"], len(record["defects"]), record["bottom"]["moving"]) == (6, 8, 16)
    assert len(record["bottom"]["residuals"]) == 8


def test_weights_are_loaded(folder: Path) -> None:
    torch.manual_seed(1)
    first = torch.nn.Linear(4, 8)
    with torch.no_grad():
        first.weight[:, 2:] = 0  # blind to the last two coordinates
    network = torch.nn.Sequential(first, torch.nn.Tanh(), torch.nn.Linear(8, 2))
    save_file(network.state_dict(), "blind.safetensors")
    assert discover(NETWORK, "-q")[1] == "0\n"
    code, out, err = discover(NETWORK, "-q", "--weights", "blind.safetensors")
    nullity = liegg.discover(network, np.load("x.npy"), liegg.Linear(4)).nullity
    assert (code, out, err) == (0, f"{nullity}\n", "")
    assert nullity >= 8  # whatever moves only these two: two rows of gl(4)


def test_weights_of_the_factory_are_reported_and_reproducible(folder: Path) -> None:
    options = NORM | {"--model": "nets_for_cli:random"}
    (_, first, err), (_, second, _) = discover(options, "--json"), discover(options, "--json")
    assert first == second
    assert err.startswith("liegg: no --weights")
    assert err.count("\n") == 1


def test_an_exported_program(folder: Path) -> None:
    network = torch.nn.Sequential(
        torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
    ).eval()
    batch = torch.export.Dim("batch")
    program = torch.export.export(network, (torch.zeros(2, 4),), dynamic_shapes=({0: batch},))
    torch.export.save(program, "model.pt2")
    options = NORM | {"--model": "model.pt2", "--action": "affine:2x2"}
    code, _, err = discover(options, "--json")
    assert (code, "--trust-model" in err) == (2, True)
    code, out, _ = discover(options, "--json", "--trust-model")
    assert code == 0
    direct = liegg.discover(network, np.load("x.npy"), liegg.Affine(2, copies=2))
    assert json.loads(out)["spectrum"] == pytest.approx(direct.spectrum.values.tolist(), rel=1e-4)


def test_equivariance(folder: Path) -> None:
    options = NETWORK | {"--action": "linear:2x2", "--output-action": "linear:2"}
    assert json.loads(discover(options, "--json")[1])["question"] == "equivariance"


def test_images(folder: Path) -> None:
    np.save("images.npy", np.random.default_rng(0).random((200, 8, 9)))
    options = {"--model": "nets_for_cli:images", "--data": "images.npy"}
    record = json.loads(discover(options, "--action", "image:affine:periodic", "--json")[1])
    # Of a mean over a torus: two translations. Shears do not change it either, but their bracket, which stretches, does.
    assert (record["nullity"], record["decision"]["undecided"]) == (2, 2)
    assert record["action"]["kind"] == "grid"


def test_layers_get_the_same_outputs_and_thresholds(folder: Path) -> None:
    limits = ["threshold=0.9", "minimum_gap=1.01", "effect=3.0"]
    words = [word for limit in limits for word in ("--limit", limit)]
    record = json.loads(discover(NETWORK, "--layers", "--json", "--outputs", "sum", *words)[1])
    last = record["layers"]["layers"][-1]["invariance"]
    assert (last["settings"]["outputs"], last["settings"]["threshold"]) == ("sum", 0.9)
    assert last["defects"] == pytest.approx(record["defects"], rel=1e-4)
    assert last["nullity"] == record["nullity"]


def test_layers_have_a_column_for_the_motion_in_question(folder: Path) -> None:
    out = discover(NETWORK, "--layers", "--about", "rotation", "--out", "asked")[1]
    table = out.partition("layers under ")[2].partition("\n\nRun folder")[0]
    assert "δ² of rotation" in table
    assert table in run("show", "asked")[1]
    assert table in run("show", "asked", "--log")[1]
    defect = liegg.results.load_layers("asked").about("rotation")[0].values[-1]
    assert f"{float(defect):.3g}" in table.splitlines()[-1]


def test_labels_of_another_length_are_refused(folder: Path) -> None:
    np.save("more.npy", np.arange(500) // 3)
    for held_out in ({"--held-out": "0.2"}, {"--held-out": "x.npy"}, {}):
        code, _, err = discover(NORM | held_out, "--groups", "more.npy")
        assert (code, "500" in err) == (2, True)


def test_foreign_byte_order(folder: Path) -> None:
    np.save("big.npy", np.load("x.npy").astype(">f8"))
    assert discover(NORM | {"--data": "big.npy"}, "-q", "--out", "run")[:2] == (0, "6\n")
    assert liegg.load("run").nullity == 6


# Mistakes


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"--action": "linear"}, "action 'linear': Expected linear:N"),
        ({"--action": "linear:3"}, "pass linear:4"),
        ({"--model": "nets_for_cli"}, "expected package.module:factory"),
        ({"--model": "no_such_package:f"}, "there is no module 'no_such_package'"),
        ({"--model": "nets_for_cli:absent"}, "module 'nets_for_cli' has no 'absent'"),
        ({"--model": "nets_for_cli:nothing"}, "expected a function without arguments"),
        ({"--model": "nets_for_cli:broken"}, "failed with RuntimeError: no such file"),
        ({"--model": "syntax_for_cli:f"}, "failed with SyntaxError"),
        ({"--model": "raising_for_cli:f"}, "failed with RuntimeError: at import"),
        ({"--model": "attribute_for_cli:f"}, "failed with AttributeError: module 'os'"),
        ({"--model": "absent.pt2", "--trust-model": ""}, "'absent.pt2': file not found"),
        ({"--model": "junk.pt2", "--trust-model": ""}, "torch.export.save"),
        ({"--model": "junk.pt2"}, "--trust-model"),
        ({"--weights": "junk.safetensors"}, "cannot be read"),
        ({"--weights": "other.safetensors"}, "do not fit nets_for_cli:build"),
        ({"--data": "number.npy"}, "expected samples along the first axis"),
        ({"--data": "absent.npy"}, "file absent.npy not found"),
        ({"--data": "x.txt"}, "expected a file .npy"),
        ({"--data": "x.npz"}, "for example x.npz:one; it holds one, two"),
        ({"--data": "x.npz:three"}, "it has no 'three'"),
        ({"--data": "none.npz"}, "contains no arrays"),
        ({"--data": "pickled.npy"}, "cannot be read"),
        ({"--data": "junk.npy"}, "cannot be read"),
        ({"--data": "junk.npz"}, "cannot be read"),
        ({"--held-out": "missing.npy"}, "file missing.npy not found"),
        ({"--out": "file/sub"}, "is a file; expected a folder"),
        ({"--limit": "minimum_gap=0.5"}, "minimum_gap=0.5"),
        ({"--limit": "treshold=0.1"}, "treshold"),
        ({"--limit": "threshold"}, "--limit threshold=0.05"),
        ({"--route": "sideways"}, "--route 'sideways'"),
        ({"--control": "shuffled"}, "shuffled"),
        ({"--seed": "-1"}, "--seed -1"),
        ({"--outputs": "some"}, "--outputs 'some'"),
        ({"--batch-size": "0"}, "--batch-size 0"),
        ({"--bottom": "0"}, "--bottom 0"),
        ({"--timeout": "0"}, "--timeout 0.0"),
        ({"--checkpoint-every": "-1", "--checkpoint": "c"}, "--checkpoint-every -1.0"),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else "",
)
def test_a_mistake_ends_with_one_message_and_exit_code_two(
    folder: Path, changes: dict[str, str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as users run it
    np.save("pickled.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.savez("none.npz")
    for name in ("junk.npy", "junk.npz", "junk.pt2", "junk.safetensors"):
        Path(name).write_bytes(b"junk")
    save_file({"0.weight": torch.zeros(3, 3)}, "other.safetensors")
    options = NETWORK if "--weights" in changes else NORM
    code, out, err = discover({"--out": "run"} | options | changes)
    assert (code, out) == (2, "")
    assert text in err
    assert "Traceback" not in err
    assert not Path("run").exists()


# Checkpoints and several processes


def test_an_interrupted_run_resumes_from_its_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, starts, computed = Batches.numbered, [], []

    def interrupted(self, on_end=None):
        for entry in read(self, on_end):
            if len(entry[1]) == 20:  # not where single samples are tried
                starts.append(entry[0])
            if starts == [0, 0, 20, 40, 60]:  # the first batch is also probed
                signal.raise_signal(signal.SIGINT)
            yield entry

    def polarized(*arguments, first, **options):
        computed.append(first)
        return polarize(*arguments, first=first, **options)

    monkeypatch.setattr(Batches, "numbered", interrupted)
    words = ("-q", "--batch-size", "20", "--checkpoint", "c")
    code, out, err = discover(NETWORK, *words)
    assert (code, out) == (130, "")
    assert "resume" in err
    assert Path("c").exists()
    monkeypatch.setattr(Batches, "numbered", read)
    monkeypatch.setattr("liegg.polarization.streaming.polarize", polarized)
    assert discover(NETWORK, *words, "--checkpoint-every", "0")[0] == 0
    assert computed == [*range(80, 300, 20)]  # earlier batches are only read again


def test_the_bar_counts_the_samples_of_the_first_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals = []

    @contextmanager
    def progress_bars(hidden, _unit):
        yield lambda label, _done, total: totals.append((label, total, hidden))

    module = sys.modules["liegg.cli.discover"]  # the package has the command under that name
    monkeypatch.setattr(module, "progress_bars", progress_bars)
    patches = {"world_size": lambda: 4, "join": lambda _: None, "end": lambda: None}
    for name, value in patches.items():
        monkeypatch.setattr(f"liegg.polarization.launcher.{name}", value)
    assert discover(NETWORK)[0] == 0
    assert {*totals} == {("reading the data through the model", 75, False)}


def test_the_bar_counts_the_evaluations_of_a_verification(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = []

    @contextmanager
    def progress_bars(_hidden, _unit):
        yield lambda label, done, total: steps.append((label, done, total))

    module = sys.modules["liegg.cli.discover"]
    monkeypatch.setattr(module, "progress_bars", progress_bars)
    assert discover(NETWORK, "--held-out", "0.2")[0] == 0
    verified = [(done, total) for label, done, total in steps if "verifying" in label]
    assert sum(done for done, _ in verified) == verified[-1][1]
    assert min(done for done, _ in verified) > 0


def test_named_motions_are_answered_first(folder: Path) -> None:
    code, out, _ = discover(NETWORK, "--about", "rotation", "--about", "scaling")
    assert code == 0
    assert out.startswith("Rotation")
    assert "scaling" in out
    assert discover(NETWORK, "--about", "rotaton")[0] == 2
    assert "Rotation" not in discover(NETWORK, "--about", "none")[1]


def test_finite_symmetries_are_searched_stored_shown_and_compared(folder: Path) -> None:
    code, out, err = discover(NORM, "--group", "--out", "run")
    assert (code, err) == (0, "")
    assert out.startswith("O(4): 2 components hold up to rounding (exact).")
    assert out.index("O(4)") < out.index(INFINITESIMAL) < out.index("does not change")
    assert {"group.json", "group.html"} <= {path.name for path in Path("run").iterdir()}
    assert run("show", "run", "-q")[1] == "6 O(4)\n"
    assert json.loads(run("show", "run", "--json")[1])["group"]["name"] == "O(4)"
    assert "have the same group, O(4)." in run("compare", "run", "run", "--group", "-q")[1]
    code, _, err = run("compare", "run", "run", "--group", "--out", "page.html")
    assert code == 2
    assert "Leave --out out" in err
