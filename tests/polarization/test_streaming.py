"""The pass over the data: too little memory, numbers that are not finite, and the same record whatever the batches."""

import pkgutil

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.errors import DeviceMemoryError, NonFiniteError
from liegg.polarization import displacement, sample_sketch, streaming

X = normal(500, 3)


def cramped(most: int, seen: list[int] | None = None):
    """A model on a device that has memory for so many samples."""
    net = mlp(3, 8, 2)

    def model(x):
        if seen is not None:
            seen.append(len(x))
        if len(x) > most:
            raise torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 20.00 MiB.\nMore words."
            )
        return net(x)

    return model


@pytest.mark.parametrize("route", ["jvp", "vjp", "autograd"])
@pytest.mark.parametrize("controls", ["random", "none"])
def test_batches_that_do_not_fit_are_halved_and_it_is_said(route, controls):
    whole = liegg.discover(
        mlp(3, 8, 2), X, liegg.Linear(3), controls=controls, run=liegg.Run(route=route)
    )
    found = liegg.discover(
        cramped(70),
        X,
        liegg.Linear(3),
        controls=controls,
        run=liegg.Run(route=route, batch_size=250),
    )
    assert any("halved" in note and "63 samples" in note for note in found.notes)
    assert found.samples == 500
    torch.testing.assert_close(found.defects, whole.defects, rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(
        found.intervals, whole.intervals, rtol=1e-7, atol=1e-12, equal_nan=True
    )
    assert not any("halved" in note for note in whole.notes)


def test_what_did_not_fit_is_not_tried_again():
    seen: list[int] = []
    liegg.discover(
        cramped(70, seen),
        X,
        liegg.Linear(3),
        controls="none",
        run=liegg.Run(route="vjp", batch_size=250),
    )
    assert seen.count(125) == 1  # by the pass alone
    # Once by the pass, once for the nonlinearity, which takes as many midpoints as samples.
    assert seen.count(250) == 2


def test_the_note_is_stored(tmp_path):
    liegg.discover(cramped(70), X, liegg.Linear(3), run=liegg.Run(batch_size=250)).save(
        tmp_path / "run"
    )
    assert any("down to 63 samples" in note for note in liegg.load(tmp_path / "run").notes)


def test_a_pass_that_was_halved_is_taken_up_again(tmp_path):
    """What call_within_memory is part of what is kept, so the note is not lost with the process."""
    liegg.discover(
        cramped(70), X, liegg.Linear(3), run=liegg.Run(batch_size=250, checkpoint=tmp_path / "c")
    )
    again = liegg.discover(
        cramped(70), X, liegg.Linear(3), run=liegg.Run(batch_size=250, checkpoint=tmp_path / "c")
    )
    assert any("down to 63 samples" in note for note in again.notes)


def test_not_even_one_sample():
    calls = 0
    net = mlp(3, 8, 2)

    def model(x):
        nonlocal calls
        calls += 1
        if calls > 40:  # after it was probed
            raise torch.OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 20.00 MiB.\nMore words."
            )
        return net(x)

    with pytest.raises(
        DeviceMemoryError,
        match=r"not even one sample fits into the memory of cpu \(CUDA out of memory",
    ):
        liegg.discover(model, X, liegg.Linear(3), controls="none", run=liegg.Run(batch_size=4))


def test_a_derivative_that_is_not_finite_names_its_sample():
    x = X.clone()
    x[431] = 0.0
    with pytest.raises(NonFiniteError, match="at sample 431 is NaN or infinite"):
        liegg.discover(
            lambda x: x.square().sum(1).sqrt(), x, liegg.Linear(3), run=liegg.Run(batch_size=100)
        )


def test_a_large_sum_is_not_taken_for_infinity():
    """Numbers whose sum overflows although each is finite are looked at more closely, and found well."""
    x = X.float() * 1e15
    sym = liegg.discover(
        lambda x: (x.square().sum(1, keepdim=True) * 1e3).expand(-1, 2000),
        x,
        liegg.Linear(3),
        run=liegg.Run(batch_size=500),
    )
    assert sym.nullity == 3


@pytest.mark.parametrize(
    ("where", "controls"),
    [
        ("sample_blocks.arrange", "random"),
        ("update_sums", "random"),
        ("update_sums", "none"),
        ("displacement.update", "random"),
        ("displacement.update", "none"),
    ],
)
def test_memory_that_runs_out_while_the_sums_are_made_changes_nothing(monkeypatch, where, controls):
    """The half that is tried next is not added to what the whole has left behind."""
    whole = liegg.discover(
        mlp(3, 8, 2), X, liegg.Linear(3), controls=controls, run=liegg.Run(batch_size=100)
    )
    failing_once(monkeypatch, f"liegg.polarization.streaming.{where}", call=3)
    found = liegg.discover(
        mlp(3, 8, 2), X, liegg.Linear(3), controls=controls, run=liegg.Run(batch_size=100)
    )
    assert any("they were halved, down to 50 samples" in note for note in found.notes)
    assert (found.samples, found.accumulated.rows.rows) == (500, whole.accumulated.rows.rows)
    torch.testing.assert_close(found.defects, whole.defects, rtol=1e-10, atol=1e-14)
    torch.testing.assert_close(
        found.intervals, whole.intervals, rtol=1e-7, atol=1e-12, equal_nan=True
    )


@pytest.mark.parametrize(
    "where",
    [
        "liegg.polarization.streaming.sample_blocks.update",
        "liegg.polarization.state.append",
        "liegg.discovery.analyse.plan",
    ],
)
def test_memory_that_runs_out_elsewhere_is_said_with_advice(monkeypatch, where):
    failing_once(monkeypatch, where, call=1)
    with pytest.raises(
        DeviceMemoryError, match=r"is full \(CUDA out of memory\.\)\. Pass a smaller batch_size="
    ):
        liegg.discover(
            mlp(3, 8, 2),
            X,
            liegg.Linear(3),
            controls="none" if "append" in where else "random",
            run=liegg.Run(batch_size=100),
        )


def failing_once(monkeypatch, where: str, call: int) -> list[int]:
    """Have a function run out of memory at one of its calls; how often it was called."""
    home, _, name = where.rpartition(".")
    owner = pkgutil.resolve_name(home)
    plain, calls = getattr(owner, name), []

    def cramped_once(*given, **more):
        calls.append(1)
        if len(calls) == call:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return plain(*given, **more)

    monkeypatch.setattr(owner, name, cramped_once)
    return calls


def test_whatever_waits_for_a_gpu_comes_before_the_rows(monkeypatch):
    """Hashes and the sketch are read on the host. Behind the rows, a GPU would idle while all that follows is launched."""
    order: list[str] = []
    steps = {
        "hashes": (streaming, "sample_hashes"),
        "sketch": (sample_sketch, "update"),
        "rows": (streaming, "polarize"),
        "moments": (displacement, "update"),
    }
    for name, (module, attribute) in steps.items():
        plain = getattr(module, attribute)

        def noted(*given, name=name, plain=plain, **named):
            order.append(name)
            return plain(*given, **named)

        monkeypatch.setattr(module, attribute, noted)
    liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), run=liegg.Run(batch_size=250))
    assert order == ["hashes", "sketch", "rows", "moments"] * 2
