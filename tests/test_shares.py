"""Several processes: the same answer as one, and a clear end where they disagree or one is lost."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg.shares import difference, fingerprint, joined

CASES = {
    "each": {},
    "combinations": {"outputs": 2},
    "without blocks": {"controls": False},
    "groups": {"groups": [i // 3 for i in range(1001)]},
    "equivariance": {"output_action": liegg.Linear(3)},
}


def turning(x):
    return x * x.norm(dim=1, keepdim=True)


def answers() -> dict:
    """Every case, with the number of samples that this process read."""
    found = {}
    for dtype in (torch.float64, torch.float32):
        x = normal(1001, 3).to(dtype)
        for name, options in CASES.items():
            seen = []
            net = turning if name == "equivariance" else mlp(3, 16, 3, dtype=dtype)
            sym = liegg.discover(net, x, liegg.Linear(3), batch_size=64, progress=seen.append, **options)
            found[f"{name} {dtype}"] = {
                "defects": sym.defects.tolist(), "intervals": sym.intervals.nan_to_num(-1.0).tolist(), "rows": sym.rows,
                "spectrum": sym.spectrum.values.tolist(), "nullity": sym.nullity, "samples": sym.samples, "read": sum(seen),
            }  # fmt: skip
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=100)
        seen = []
        sym = liegg.discover(mlp(3, 16, 3, dtype=dtype), loader, liegg.Linear(3), progress=seen.append)
        found[f"loader {dtype}"] = {"defects": sym.defects.tolist(), "samples": sym.samples, "read": sum(seen)}
    few = liegg.discover(lambda x: x.square().sum(1), normal(2, 3), liegg.Linear(3))  # fewer samples than processes
    found["few"] = {"defects": few.defects.tolist(), "samples": few.samples, "undecided": few.decision.undecided}
    return found


def work(folder: Path) -> None:
    """What a process of the tests below does; its environment says which part it plays."""
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, part = dist.get_rank(), os.environ["PART"]
    x, net = normal(400, 3), mlp(3, 8, 2)
    try:
        if part == "same":
            (folder / f"{rank}.json").write_text(json.dumps(answers()))
        elif part == "alone":
            sym = liegg.discover(net, x, liegg.Linear(3), processes="alone") if rank == 1 else None
            (folder / f"{rank}.json").write_text(json.dumps(None if sym is None else sym.samples))
        elif part == "other data":
            liegg.discover(net, x + rank, liegg.Linear(3))
        elif part == "other model":
            liegg.discover(mlp(3, 8, 2, seed=3 + rank), x, liegg.Linear(3))
        elif part == "other options":
            liegg.discover(net, x, liegg.Linear(3), seed=rank)
        elif part == "bad sample":
            x[350, 0] = torch.nan
            liegg.discover(net, x, liegg.Linear(3), batch_size=50)
        elif part == "dies":

            def slow(x):
                if rank == 1:
                    os.kill(os.getpid(), 9)
                return net(x)

            calls = []

            def model(x):
                calls.append(len(x))
                return slow(x) if len(calls) > 12 else net(x)

            liegg.discover(model, x, liegg.Linear(3), batch_size=4)
    except liegg.LieggError as error:
        (folder / f"{rank}.txt").write_text(f"{type(error).__name__}: {error}")
        sys.stdout.flush()
        os._exit(3)
    os._exit(0)


def started(folder: Path, part: str, count: int = 2) -> list[int]:
    """Exit codes of some processes, found by the environment that torchrun or a scheduler sets."""
    port = 20000 + (os.getpid() * 7 + hash(part) % 1000) % 30000
    common = os.environ | {
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count), "OMP_NUM_THREADS": "1", "PART": part,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }  # fmt: skip
    processes = [
        subprocess.Popen([sys.executable, __file__, str(folder)], env=common | {"RANK": str(rank)}, stderr=subprocess.DEVNULL)
        for rank in range(count)
    ]
    return [process.wait(timeout=120) for process in processes]


if __name__ == "__main__":
    work(Path(sys.argv[1]))


@pytest.mark.parametrize("count", [2, 3])
def test_many_processes_give_the_answer_of_one(tmp_path, count):
    assert started(tmp_path, "same", count) == [0] * count
    found = [json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(count)]
    alone = answers()
    for name, expected in alone.items():
        reads = [other[name].pop("read", None) for other in found]
        whole = expected.pop("read", None)
        if whole is not None:
            assert sum(reads) == whole == 1001  # every sample once
            assert max(reads) - min(reads) <= (1 if "loader" not in name else 100)
        assert all(other[name] == found[0][name] for other in found)  # bit for bit the same in every process
        rounding = 1e-12 if "float32" not in name else 1e-5
        for key, value in expected.items():
            torch.testing.assert_close(
                torch.tensor(found[0][name][key], dtype=torch.float64), torch.tensor(value, dtype=torch.float64), rtol=rounding,
                atol=rounding * float(torch.tensor(value, dtype=torch.float64).abs().max()), msg=f"{name}: {key}",
            )  # fmt: skip


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("other data", "ProcessError: process 1 of 2 was started with something else than process 0 (data: "),
        ("other model", "(the model: its outputs for the first samples are not the same)"),
        ("other options", "(seed: 0 and 1). Start them all alike, and give each the whole data: liegg shares it out."),
    ],
)
def test_processes_that_were_started_differently_all_say_so(tmp_path, part, text):
    assert started(tmp_path, part) == [3, 3]
    assert all(text in (tmp_path / f"{rank}.txt").read_text() for rank in range(2))


def test_an_error_in_one_is_told_by_all(tmp_path):
    assert started(tmp_path, "bad sample") == [3, 3]
    first, second = ((tmp_path / f"{rank}.txt").read_text() for rank in range(2))
    assert second.startswith("NonFiniteError: sample 350 holds NaN")  # numbered as in the whole data
    assert first.startswith("ProcessError: process 1 of 2 failed: NonFiniteError: sample 350 holds NaN")


def test_the_others_stop_when_one_dies(tmp_path):
    start = time.monotonic()
    assert started(tmp_path, "dies") == [3, -9]
    assert time.monotonic() - start < 60
    text = (tmp_path / "0.txt").read_text()
    assert text.startswith("ProcessError: process 0 of 2 lost the others: one of them died, or does not run the same analysis (")
    assert text.endswith("Call it in all processes, or pass processes='alone' to use this one only.")


def test_one_process_may_go_alone(tmp_path):
    assert started(tmp_path, "alone") == [0, 0]
    assert json.loads((tmp_path / "1.json").read_text()) == 400


def test_outside_a_group_there_is_no_group():
    assert joined() is None


def test_fingerprints_tell_what_differs():
    x, y = normal(5, 3), normal(5, 2)
    mine = fingerprint(x, y, {"seed": 1})
    assert difference(mine, fingerprint(x.clone(), y * (1 + 1e-6), {"seed": 1})) == ""
    assert difference(mine, fingerprint(x, y, {"seed": 2})) == "seed: 1 and 2"
    assert difference(mine, fingerprint(x + 1e-12, y, {"seed": 1})).startswith("data: (5, 3) torch.float64 ")
    assert difference(mine, fingerprint(x, y + 1, {"seed": 1})).startswith("the model: ")
    assert difference(mine, fingerprint(x, y[:, :1], {"seed": 1})).startswith("the model: ")


def test_processes_are_asked_for_by_one_of_two_words(monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match="processes='some': expected 'all' or 'alone'"):
        liegg.discover(mlp(3, 8, 2), normal(50, 3), liegg.Linear(3), processes="some")  # pyright: ignore[reportArgumentType]
