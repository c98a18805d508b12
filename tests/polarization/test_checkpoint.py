"""Passes that are killed and taken up again end with the same numbers; damaged and foreign files are refused."""

import json
import signal
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

import liegg
from cases import mlp, normal
from liegg._utils.diagnoses import Diagnosis
from liegg._utils.errors import CheckpointError
from liegg.polarization.checkpoint import Checkpoint, rank_path
from reliability import kill_trials
from reliability.outcomes import Outcome

X = normal(1000, 3)


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_numbers(tmp_path):
    """Killed twice at moments drawn from a fixed seed; `tests/reliability` kills 25 times."""
    assert kill_trials.run_chain(tmp_path, "random", 2) == ""
    outcomes = [kill_trials.outcome_of_kill(tmp_path, number) for number in (1, 2)]
    assert outcomes == [(Outcome.ANSWERED, "")] * 2


def test_wrong_numbers_after_a_kill_are_seen(tmp_path):
    numbers = {"sums": [[1.0]], "defects": [1.0], "intervals": [[0.5, 2.0]], "samples": [300]}
    (tmp_path / "whole.json").write_text(json.dumps(numbers))
    for name, value in (("sums", [[1.1]]), ("defects", [1 + 1e-6]), ("samples", [299])):
        (tmp_path / "1.json").write_text(json.dumps(numbers | {name: value}))
        assert kill_trials.outcome_of_kill(tmp_path, 1)[0] is Outcome.WRONG
    assert kill_trials.outcome_of_kill(tmp_path, 2, "failed") == (Outcome.RAW, "failed")


def numbers(sym: liegg.Symmetries) -> dict:
    factor = sym.accumulated.factor
    return {
        "sums": (factor.mT @ factor).tolist(),
        "defects": sym.defects.tolist(),
        "intervals": sym.intervals.nan_to_num(-1.0).tolist(),
    }


def assert_same_numbers(found: dict, expected: dict) -> None:
    """Equal but for the rounding of float64 sums, which bootstrap quantiles magnify a little."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        one, other = (torch.tensor(v, dtype=torch.float64) for v in (found[name], value))
        rounding = 1e-7 if name == "intervals" else 1e-11
        atol = rounding * float(other.abs().max())
        torch.testing.assert_close(
            one, other, rtol=0.0, atol=atol, msg=f"{name}: {one} and {other}"
        )


def assert_same(found: liegg.Symmetries, expected: liegg.Symmetries) -> None:
    assert_same_numbers(numbers(found), numbers(expected))
    assert found.samples == expected.samples


class StopError(Exception):
    """Stands for whatever ends a pass half way."""


def halfway(path: Path, model=None, **run):
    """Begin an analysis that ends after 600 samples."""
    seen = 0

    def stop(samples: int) -> None:
        nonlocal seen
        seen += samples
        if seen > 600:
            raise StopError

    with pytest.raises(StopError):
        liegg.discover(
            model or mlp(3, 8, 2),
            X,
            liegg.Linear(3),
            run=liegg.Run(
                batch_size=50, checkpoint=path, checkpoint_every=0.0, progress=stop, **run
            ),
        )


@pytest.mark.parametrize("data", ["tensor", "array", "dataset", "loader", "batches"])
def test_every_kind_of_data_goes_on_where_it_was(tmp_path, data):
    made = {
        "tensor": lambda: X,
        "array": X.numpy,
        "dataset": lambda: torch.utils.data.TensorDataset(X),
        "loader": lambda: torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(X), batch_size=64
        ),
        "batches": lambda: list(X.split(70)),
    }[data]
    net, seen = mlp(3, 8, 2), 0

    def stop(samples: int) -> None:
        nonlocal seen
        seen += samples
        if seen > 500:
            raise StopError

    plain = liegg.discover(net, made(), liegg.Linear(3))
    with pytest.raises(StopError):
        liegg.discover(
            net,
            made(),
            liegg.Linear(3),
            run=liegg.Run(
                checkpoint=tmp_path / "c",
                checkpoint_every=0.0,
                progress=stop,
                route="vjp",
                batch_size=50,
            ),
        )
    again = liegg.discover(
        net,
        made(),
        liegg.Linear(3),
        run=liegg.Run(checkpoint=tmp_path / "c", route="vjp", batch_size=50),
    )
    assert again.samples == 1000
    torch.testing.assert_close(again.defects, plain.defects, rtol=1e-10, atol=1e-12)


def test_a_finished_pass_is_not_read_again(tmp_path):
    first = liegg.discover(
        mlp(3, 8, 2), X, liegg.Linear(3), run=liegg.Run(checkpoint=tmp_path / "c")
    )
    told = []
    again = liegg.discover(
        mlp(3, 8, 2),
        X,
        liegg.Linear(3),
        run=liegg.Run(checkpoint=tmp_path / "c", progress=told.append),
    )
    assert told == [1000]  # all of it, at once
    assert_same(again, first)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"outputs": 1}, "outputs: "),
        ({"run": {"seed": 3}}, "seed: "),
        ({"target": 1}, "target: "),
        ({"output": torch.sin}, "output: "),
        ({"controls": "none"}, "blocks: "),
        ({"run": {"batch_size": 49}}, "batch_size: "),
    ],
)
def test_a_checkpoint_of_another_analysis_is_refused(tmp_path, change, text):
    halfway(tmp_path / "c")
    content = (tmp_path / "c").read_bytes()
    options = {
        **change,
        "run": liegg.Run(**{"batch_size": 50, **change.get("run", {})}, checkpoint=tmp_path / "c"),
    }
    with pytest.raises(CheckpointError, match=rf"belongs to another analysis \({text}"):
        liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), **options)
    assert (tmp_path / "c").read_bytes() == content


def test_another_model_or_other_data_is_refused(tmp_path):
    halfway(tmp_path / "c")
    with pytest.raises(CheckpointError, match="the model: its weights are not the same"):
        liegg.discover(
            mlp(3, 8, 2, seed=9),
            X,
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "c", batch_size=50),
        )
    with pytest.raises(CheckpointError, match="data: "):
        liegg.discover(
            mlp(3, 8, 2),
            X + 1,
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "c", batch_size=50),
        )
    with pytest.raises(CheckpointError, match="samples: 1000 and 900"):
        liegg.discover(
            mlp(3, 8, 2),
            X[:900],
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "c", batch_size=50),
        )


@pytest.mark.parametrize("how", ["cut", "flipped", "empty", "text"])
def test_a_damaged_checkpoint_is_refused_and_kept(tmp_path, how):
    halfway(tmp_path / "c")
    content = (tmp_path / "c").read_bytes()
    middle = len(content) - 100
    damaged = {
        "cut": content[:-10],
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "empty": b"",
        "text": b"no checkpoint",
    }[how]
    (tmp_path / "c").write_bytes(damaged)
    with pytest.raises(CheckpointError, match=r"is damaged \("):
        liegg.discover(
            mlp(3, 8, 2),
            X,
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "c", batch_size=50),
        )
    assert (tmp_path / "c").read_bytes() == damaged


@pytest.mark.parametrize("name", ["position", "mark", "format"])
def test_what_is_said_about_the_numbers_is_checked_too(tmp_path, name):
    halfway(tmp_path / "c")
    content = (tmp_path / "c").read_bytes()
    word = {"position": b'"position":"', "mark": b"seed", "format": b'"format":"'}[name]
    at = content.index(word) + len(word) - (name == "mark")
    (tmp_path / "c").write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    with pytest.raises(CheckpointError, match=r"is damaged \(|of format"):
        liegg.discover(
            mlp(3, 8, 2),
            X,
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "c", batch_size=50),
        )


def nudged():
    net = mlp(3, 8, 2)
    with torch.no_grad():
        next(net.parameters()).add_(1e-9)
    return net


@pytest.mark.parametrize(
    ("model", "data", "more", "text"),
    [
        (nudged, X, {}, "the model: its weights are not the same"),
        (
            lambda: mlp(3, 8, 2),
            torch.cat([X[:-1], X[-1:] + 1e-9]),
            {},
            "data: samples after the first are not the same",
        ),
        (
            lambda: mlp(3, 8, 2),
            X,
            {"groups": [i // 3 for i in range(1000)]},
            "groups: the labels are not the same",
        ),
    ],
)
def test_what_the_first_samples_do_not_show_is_seen(tmp_path, model, data, more, text):
    halfway(tmp_path / "c", groups=[i // 2 for i in range(1000)])
    more = {"groups": [i // 2 for i in range(1000)]} | more
    with pytest.raises(CheckpointError, match=text):
        liegg.discover(
            model(),
            data,
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "c", batch_size=50, **more),
        )


def test_killed_before_the_last_rows_are_folded_it_ends_with_the_same_numbers(
    tmp_path, monkeypatch
):
    """In float32 the last rows are squared only if enough samples came before, which must not be forgotten."""
    net, x, save = mlp(3, 8, 2, dtype=torch.float32), X.float(), Checkpoint.save
    plain = liegg.Run(batch_size=50, checkpoint_every=0.0)
    kept = replace(plain, checkpoint=tmp_path / "c")
    whole = liegg.discover(net, x, liegg.Linear(3), controls="none", run=plain)

    def last(self, kept, position):
        save(self, kept, position)
        if position == 1000:
            raise StopError

    monkeypatch.setattr(Checkpoint, "save", last)
    with pytest.raises(StopError):
        liegg.discover(net, x, liegg.Linear(3), controls="none", run=kept)
    monkeypatch.setattr(Checkpoint, "save", save)
    again = liegg.discover(net, x, liegg.Linear(3), controls="none", run=kept)
    assert_same(again, whole)
    assert again.settings["accumulator"] == whole.settings["accumulator"]


def test_a_shuffling_loader_is_read_in_the_same_order(tmp_path):
    def loader():
        return torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(X), batch_size=50, shuffle=True
        )

    plain = liegg.discover(mlp(3, 8, 2), loader(), liegg.Linear(3))
    torch.manual_seed(5)  # which is the caller's own affair
    kept = liegg.discover(
        mlp(3, 8, 2), loader(), liegg.Linear(3), run=liegg.Run(checkpoint=tmp_path / "c")
    )
    assert_same(kept, plain)


@pytest.mark.parametrize("trouble", [OSError("no space"), SafetensorError("no space")])
def test_only_the_last_writing_failed(tmp_path, monkeypatch, trouble):
    def full(*_, **__):
        raise trouble

    monkeypatch.setattr("liegg.polarization.checkpoint.save_file", full)
    sym = liegg.discover(
        mlp(3, 8, 2), X, liegg.Linear(3), run=liegg.Run(batch_size=50, checkpoint=tmp_path / "c")
    )
    assert [note.diagnosis for note in sym.notes] == [Diagnosis.LAST_CHECKPOINT_FAILED]
    with pytest.raises(CheckpointError, match=r"cannot be written: no space\. Choose another path"):
        liegg.discover(
            mlp(3, 8, 2),
            X,
            liegg.Linear(3),
            run=liegg.Run(batch_size=50, checkpoint=tmp_path / "c", checkpoint_every=0.0),
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("", "checkpoint='': expected a path"),
        ("folder", "checkpoint='folder' is a folder; expected"),
    ],
)
def test_a_path_that_is_no_file(tmp_path, monkeypatch, path, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(liegg.LieggError, match=message):
        liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), run=liegg.Run(checkpoint=path))


def test_the_files_of_another_number_of_processes_are_refused(tmp_path):
    (tmp_path / "c.1-of-2").write_text("")
    (tmp_path / "c.control-0.1-of-3").write_text("")  # of something else
    assert rank_path(tmp_path / "c", 1, 2) == tmp_path / "c.1-of-2"
    for size in (1, 3):
        with pytest.raises(CheckpointError, match=rf"now there are {size} \(c.1-of-2 in "):
            rank_path(tmp_path / "c", 0, size)
    (tmp_path / "c.1-of-2").rename(tmp_path / "c")
    assert rank_path(tmp_path / "c", 0, 1) == tmp_path / "c"
    with pytest.raises(CheckpointError, match=r"now there are 2 \(c in "):
        rank_path(tmp_path / "c", 0, 2)


def test_fresh_weights_are_kept_too(tmp_path):
    calls = [0]

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = mlp(3, 8, 2)

        def forward(self, x):
            calls[0] += len(x)
            return self.net(x)

    def analyse() -> liegg.Symmetries:
        run = liegg.Run(control_draws=2, batch_size=50, checkpoint=tmp_path / "c")
        return liegg.discover(Counting(), X, liegg.Linear(3), controls="reinitialised", run=run)

    first = analyse()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "c.control-0", "c.control-1"]
    whole, calls[0] = calls[0], 0
    again = analyse()
    assert calls[0] < whole / 2  # what remains is the trying out
    assert_same(again, first)
    one, other = again.controls.reinitialised, first.controls.reinitialised
    assert one is not None
    assert other is not None
    torch.testing.assert_close(one.along, other.along, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(one.own, other.own, rtol=1e-9, atol=1e-12)
    assert one.learned == other.learned


def test_what_a_killed_writing_left_is_removed(tmp_path):
    left, other = tmp_path / ".c.abcd_123.part", tmp_path / ".c.1-of-2.abcd_123.part"
    for path in (left, other):
        path.write_text("")
    liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), run=liegg.Run(checkpoint=tmp_path / "c"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [other.name, "c"]


def test_interrupted_it_saves_at_the_end_of_the_batch(tmp_path):
    net, seen = mlp(3, 8, 2), []

    def press(samples: int) -> None:
        seen.append(samples)
        if len(seen) == 7:
            signal.raise_signal(signal.SIGINT)

    plain = liegg.discover(net, X, liegg.Linear(3), run=liegg.Run(batch_size=50))
    with pytest.raises(KeyboardInterrupt):
        liegg.discover(
            net,
            X,
            liegg.Linear(3),
            run=liegg.Run(batch_size=50, checkpoint=tmp_path / "c", progress=press),
        )
    assert len(seen) == 7
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    again: list[int] = []
    sym = liegg.discover(
        net,
        X,
        liegg.Linear(3),
        run=liegg.Run(batch_size=50, checkpoint=tmp_path / "c", progress=again.append),
    )
    assert again[0] == 350
    assert_same(sym, plain)


def test_a_second_interruption_does_not_wait(tmp_path):
    stored = Checkpoint(tmp_path / "c", {})
    with pytest.raises(KeyboardInterrupt), stored.defer_interrupt():  # noqa: PT012 - the second is the test
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_a_place_that_cannot_be_written_is_said_before_anything_is_read(tmp_path):
    (tmp_path / "file").write_text("")
    read: list[int] = []
    with pytest.raises(CheckpointError, match=r"cannot be written: .* Choose another path"):
        liegg.discover(
            mlp(3, 8, 2),
            X,
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "file" / "c", progress=read.append),
        )
    assert read == []


def test_numbers_that_make_no_sense_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("jaxtyping.config.jaxtyping_disable", True)
    with pytest.raises(liegg.LieggError, match="checkpoint_every=-1"):
        liegg.discover(
            mlp(3, 8, 2),
            X,
            liegg.Linear(3),
            run=liegg.Run(checkpoint=tmp_path / "c", checkpoint_every=-1),
        )


def test_it_writes_no_oftener_than_asked(tmp_path, monkeypatch):
    saved = []
    monkeypatch.setattr(Checkpoint, "save", lambda self, kept, position: saved.append(position))
    liegg.discover(
        mlp(3, 8, 2),
        X,
        liegg.Linear(3),
        run=liegg.Run(batch_size=50, checkpoint=tmp_path / "c", checkpoint_every=1e9),
    )
    assert saved == [1000]  # the end alone
