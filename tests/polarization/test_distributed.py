"""Several processes: the same answer as one, and a clear end where they disagree or one is lost."""

import json
import os
import socket
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.diagnoses import Diagnosis

CASES = {
    "each": {},
    "combinations": {"outputs": 2},
    "without blocks": {"controls": "none"},
    "groups": {"run": {"groups": [i // 3 for i in range(1001)]}},
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
            sym = liegg.discover(
                net,
                x,
                liegg.Linear(3),
                **{
                    **options,
                    "run": liegg.Run(batch_size=64, progress=seen.append, **options.get("run", {})),
                },
            )
            found[f"{name} {dtype}"] = {
                "defects": sym.defects.tolist(),
                "intervals": sym.intervals.nan_to_num(-1.0).tolist(),
                "rows": sym.accumulated.rows.rows,
                "spectrum": sym.spectrum.values.tolist(),
                "nullity": sym.nullity,
                "samples": sym.samples,
                "read": sum(seen),
            }
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=100)
        seen = []
        sym = liegg.discover(
            mlp(3, 16, 3, dtype=dtype), loader, liegg.Linear(3), run=liegg.Run(progress=seen.append)
        )
        found[f"loader {dtype}"] = {
            "defects": sym.defects.tolist(),
            "samples": sym.samples,
            "read": sum(seen),
        }
    few = liegg.discover(
        lambda x: x.square().sum(1), normal(2, 3), liegg.Linear(3)
    )  # fewer samples than processes
    found["few"] = {
        "defects": few.defects.tolist(),
        "samples": few.samples,
        "undecided": few.decision.undecided,
    }
    return found


def loader(x, **options):
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=100, **options)


def different_options(rank: int) -> dict[str, dict]:
    """Options that are not the same in two processes, by what the message names."""
    x = normal(50, 3)
    return {
        "thresholds.threshold": {"thresholds": liegg.Thresholds(threshold=0.02 + 0.01 * rank)},
        "thresholds.level": {"thresholds": liegg.Thresholds(level=0.9 + 0.01 * rank)},
        "run.bottom": {"run": liegg.Run(bottom=2 + rank)},
        "run.route": {"run": liegg.Run(route=("vjp", "autograd")[rank])},
        "run.control_draws": {"run": liegg.Run(control_draws=2 + rank)},
        "controls": {"controls": ("none", "random")[rank]},
        "held_out": {"held_out": x + rank},
        "groups": {"run": liegg.Run(groups=[i // 2 for i in range(1001)] if rank else None)},
        "outputs": {"outputs": ("each", 1)[rank]},
        "output_action": {"output_action": (None, liegg.Linear(2))[rank]},
    }


def scenes(rank: int, folder: Path) -> dict:
    """One analysis after the other in which the processes differ; by name, what came out in this one."""
    x, action = normal(1001, 3), liegg.Linear(3)

    def said(work) -> str:
        try:
            return str(work().samples)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def nudged():
        net = mlp(3, 8, 2)
        with torch.no_grad():
            next(net.parameters()).add_(1e-9 * rank)
        return liegg.discover(net, x, action)

    def ending():
        other = x.clone()
        other[1000] += rank
        return liegg.discover(mlp(3, 8, 2), other, action, run=liegg.Run(batch_size=100))

    def rounding():
        return liegg.discover(lambda x: turning(x) * (1 + 2.3e-16 * rank), x, action)

    def parallel():
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
        ).double()
        return liegg.discover(
            torch.nn.parallel.DistributedDataParallel(net),
            x[:701],
            action,
            run=liegg.Run(batch_size=70),
        )

    def failing(where):
        def fails(*_, **__):
            raise ZeroDivisionError("so it is")

        def work():
            with pytest.MonkeyPatch.context() as patch:
                if rank == (0 if "merge" in where else 1):
                    patch.setattr(where, fails)
                return liegg.discover(
                    mlp(3, 8, 2),
                    x,
                    action,
                    controls="reinitialised",
                    held_out=x[:50],
                    run=liegg.Run(control_draws=2),
                )

        return work

    def unwritten():
        with pytest.MonkeyPatch.context() as patch:
            if rank == 1:

                def full(*_, **__):
                    raise OSError("no space")

                patch.setattr("liegg.polarization.checkpoint.save_file", full)
            return liegg.discover(
                mlp(3, 8, 2), x, action, run=liegg.Run(checkpoint=folder / "full")
            )

    shuffled = liegg.discover(mlp(3, 8, 2), loader(x, shuffle=True), action)
    alone = liegg.discover(
        mlp(3, 8, 2), loader(x, shuffle=True), action, run=liegg.Run(processes="alone")
    )
    path, holed = folder / "checkpoint", x.clone()
    holed[850, 0] = torch.nan
    changed = x.clone()
    changed[850, 0] += 1e-9
    found = {
        "alone": said(
            lambda: liegg.discover(mlp(3, 8, 2), x, action, run=liegg.Run(processes="alone"))
        )
        if rank == 1
        else None,
        "other data": said(lambda: liegg.discover(mlp(3, 8, 2), x + rank, action)),
        "other model": said(lambda: liegg.discover(mlp(3, 8, 2, seed=3 + rank), x, action)),
        "other function": said(
            lambda: liegg.discover(lambda x: turning(x) * (1 + rank), x, action)
        ),
        "other options": said(
            lambda: liegg.discover(mlp(3, 8, 2), x, action, run=liegg.Run(seed=rank))
        ),
        "bad sample": said(
            lambda: liegg.discover(mlp(3, 8, 2), holed, action, run=liegg.Run(batch_size=50))
        ),
        "first": said(
            lambda: liegg.discover(mlp(3, 8, 2), loader(x), action, run=liegg.Run(checkpoint=path))
        ),
        "again": said(
            lambda: liegg.discover(mlp(3, 8, 2), loader(x), action, run=liegg.Run(checkpoint=path))
        ),
        "changed": said(
            lambda: liegg.discover(
                mlp(3, 8, 2), loader(changed), action, run=liegg.Run(checkpoint=path)
            )
        ),
        "shuffled": float((shuffled.intervals - alone.intervals).abs().nan_to_num().max()),
        "nudged": said(nudged),
        "ending": said(ending),
        "length": said(
            lambda: liegg.discover(mlp(3, 8, 2), loader(x[: 1001 - 300 * rank]), action)
        ),
        "labels": said(
            lambda: liegg.discover(
                mlp(3, 8, 2),
                x,
                action,
                run=liegg.Run(groups=[i // (3 + rank) for i in range(1001)]),
            )
        ),
        "rounding": said(rounding),
        "parallel": said(parallel),
        "argument": said(
            lambda: liegg.discover(mlp(3, 8, 2), x, action, target="most" if rank else None)
        ),
        "unwritten": [
            str(note)
            for note in unwritten().notes
            if note.diagnosis is Diagnosis.LAST_CHECKPOINT_FAILED
        ],
    }
    for name, options in different_options(rank).items():
        found[name] = said(
            lambda options=options: liegg.discover(mlp(3, 8, 2), x, action, **options)
        )
    for where in ("reinitialised.calibrate", "discover.verify", "analyse.probed"):
        found[where.split(".")[1]] = said(failing(f"liegg.discovery.{where}"))
    found["merge"] = said(failing("liegg.polarization.distributed.merge"))
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
        elif part == "many":
            (folder / f"{rank}.json").write_text(json.dumps(scenes(rank, folder)))
        elif part == "own failure":
            calls = []

            def dying(x):
                calls.append(len(x))
                if rank == 1 and len(calls) > 14:
                    os.kill(os.getpid(), 9)
                return net(x)

            x[100, 0] = torch.nan
            try:
                liegg.discover(dying, x, liegg.Linear(3), run=liegg.Run(batch_size=20))
            except liegg.LieggError as error:
                text = f"{type(error).__name__} from {type(error.__cause__).__name__}: {error}"
                (folder / f"{rank}.txt").write_text(text)
    except liegg.LieggError as error:
        (folder / f"{rank}.txt").write_text(f"{type(error).__name__}: {error}")
        sys.stdout.flush()
        os._exit(3)
    os._exit(0)


def started(folder: Path, part: str, count: int = 2, *, script: str = __file__) -> list[int]:
    """Exit codes of some processes, found by the environment that torchrun or a scheduler sets."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = os.environ | {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(count),
        "OMP_NUM_THREADS": "1",
        "PART": part,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    processes = [
        subprocess.Popen(
            [sys.executable, script, str(folder)],
            env=common | {"RANK": str(rank)},
            stderr=subprocess.DEVNULL,
        )
        for rank in range(count)
    ]
    try:
        return [process.wait(timeout=120) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    work(Path(sys.argv[1]))


@pytest.mark.slow
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
        rounding = 1e-12 if "float32" not in name else 1e-5
        for other, (key, value) in product(found, expected.items()):
            torch.testing.assert_close(
                torch.tensor(other[name][key], dtype=torch.float64),
                torch.tensor(value, dtype=torch.float64),
                rtol=rounding,
                atol=rounding * float(torch.tensor(value, dtype=torch.float64).abs().max()),
                msg=f"{name}: {key}",
            )


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> list[dict]:
    folder = tmp_path_factory.mktemp("many")
    assert started(folder, "many") == [0, 0]
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


@pytest.mark.parametrize(
    ("scene", "text"),
    [
        ("other data", "ProcessError: process 1 of 2 differs from process 0 (data: "),
        ("other model", "(the model: its weights are not the same)"),
        ("other function", "(the model: its outputs for the first samples are not the same)"),
        ("other options", "(seed: 0 and 1)"),
    ],
)
def test_processes_that_were_started_differently_all_say_so(many, scene, text):
    assert all(text in found[scene] for found in many)


def test_options_that_differ_are_named_by_all(many):
    for option in different_options(0):
        text = f"ProcessError: process 1 of 2 differs from process 0 ({option}: "
        assert all(found[option].startswith(text) for found in many)


def test_a_sample_that_changed_after_the_checkpoint_is_seen_by_the_process_that_read_it(many):
    one, other = sorted(found["changed"] for found in many)
    assert one.startswith("CheckpointError: ")
    assert "was written for other data" in one
    assert "failed: CheckpointError: " in other


def test_an_error_in_one_is_told_by_all(many):
    assert many[1]["bad sample"].startswith(
        "NonFiniteError: sample 850 holds NaN"
    )  # numbered as in the whole data
    assert many[0]["bad sample"].startswith(
        "ProcessError: process 1 of 2 failed: NonFiniteError: sample 850 holds NaN"
    )


def test_a_share_of_a_loader_that_was_finished_is_not_counted_again(many):
    assert [found["first"] for found in many] == ["1001", "1001"]
    assert [found["again"] for found in many] == ["1001", "1001"]


def test_a_shuffling_loader_assigns_the_samples_as_for_one_process(many):
    assert max(found["shuffled"] for found in many) < 1e-12


@pytest.mark.parametrize(
    ("scene", "text"),
    [
        ("nudged", "differs from process 0 (the model: its weights are not the same)."),
        ("ending", "differs from process 0 (data: samples after the first are not the same)."),
        ("labels", "differs from process 0 (groups: the labels are not the same)."),
        ("length", "different lengths (1001 in process 0, 701 in process 1)"),
    ],
)
def test_what_the_first_samples_do_not_show_is_seen(many, scene, text):
    assert all(found[scene].startswith("ProcessError: ") and text in found[scene] for found in many)


def test_sums_begin_with_the_numbers_of_one_process(many):
    """Each process's own would differ in the last bit, and could not be merged."""
    assert [found["rounding"] for found in many] == ["1001", "1001"]


def test_a_model_wrapped_for_parallel_training_is_read_without_its_wrapper(many):
    assert [found["parallel"] for found in many] == [
        "701",
        "701",
    ]  # uneven shares: the wrapper would wait for the other


@pytest.mark.parametrize("scene", ["argument", "probed", "calibrate", "verify"])
def test_an_error_anywhere_is_told_to_the_others(many, scene):
    own = (
        "ArgumentError: target='most': expected"
        if scene == "argument"
        else "ZeroDivisionError: so it is"
    )
    assert many[1][scene].startswith(own)
    assert many[0][scene].startswith(f"ProcessError: process 1 of 2 failed: {own}")


def test_an_error_while_merging_is_no_lost_process(many):
    assert many[0]["merge"] == "ZeroDivisionError: so it is"
    assert many[1]["merge"] == "ProcessError: process 0 of 2 failed: ZeroDivisionError: so it is"


def test_a_last_checkpoint_that_fails_is_noted_in_all(many):
    assert many[0]["unwritten"] == many[1]["unwritten"]
    assert "full.1-of-2 cannot be written: no space" in many[0]["unwritten"][0]


@pytest.mark.slow
def test_its_own_failure_is_not_lost_with_the_others(tmp_path):
    assert started(tmp_path, "own failure") == [0, -9]
    assert (
        (tmp_path / "0.txt")
        .read_text()
        .startswith("NonFiniteError from ProcessError: sample 100 holds NaN")
    )


def test_one_process_may_go_alone(many):
    assert [found["alone"] for found in many] == [None, "1001"]
