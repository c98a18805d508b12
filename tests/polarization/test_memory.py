"""Memory said in advance against what is taken; refusals that say what to do."""

import pytest
import torch

import liegg
from cases import normal
from liegg._utils.errors import ArgumentError
from liegg.polarization import memory
from liegg.polarization.memory import Memory, check, estimate, expected, free_bytes, readable


def test_growth_is_with_the_square():
    for solver in ("full", "bottom"):
        small, large = estimate(2_000, solver=solver), estimate(20_000, solver=solver)
        assert large.peak / small.peak == pytest.approx(100, rel=0.05)


def test_the_bottom_and_the_gram_matrix_take_less():
    assert estimate(5000, solver="bottom").solver < estimate(5000).solver
    assert estimate(5000, accumulator="gram").peak < estimate(5000).peak


def test_blocks_keep_a_factor_and_a_moment_each():
    assert estimate(100, blocks=12, side=10).factor == 12 * (2 * 100**2 + 10**2) * 8
    assert estimate(100).factor == 2 * 100**2 * 8


def test_peak_is_the_larger_of_folding_and_solving():
    assert Memory(1, factor=10, rows=5, folding=7, solver=30).peak == 40
    assert Memory(1, factor=10, rows=25, folding=7, solver=30).peak == 42


def test_what_does_not_fit_is_refused_with_what_to_do():
    needed = estimate(10_000)
    check(needed, free=2 * needed.peak)
    text = r"10000 candidates: .* at most .*cpu has 1 GB free, enough for about \d+ candidates.*action.restrict.*bottom=20"
    with pytest.raises(ArgumentError, match=text):
        check(needed, free=10**9)


def test_the_room_that_is_named_is_room():
    needed = estimate(10_000)
    with pytest.raises(ArgumentError) as told:
        check(needed, free=10**9)
    fits = int(str(told.value).split("enough for about ")[1].split()[0])
    check(estimate(fits), free=int(1.01 * 10**9))
    assert estimate(fits).peak > 0.8 * 10**9


def test_a_little_fits_here():
    check(estimate(100))
    assert 2**20 < (free_bytes() or 0) < 2**50


def test_what_the_device_holds_the_cpu_must_solve(monkeypatch):
    needed = estimate(10_000)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (10 * needed.peak, 0))
    monkeypatch.setattr(memory, "_available", lambda: needed.solving // 2)
    with pytest.raises(ArgumentError, match=r"but cpu has .* free"):
        check(needed, device="cuda")
    monkeypatch.setattr(memory, "_available", lambda: 2 * needed.solving)
    monkeypatch.setattr(memory, "_allowed", lambda: None)
    check(needed, device="cuda")


def test_what_is_expected_of_an_action():
    linear, rotations = liegg.Linear(30), liegg.Linear(30).restrict(liegg.so(30))
    assert (
        expected(linear).columns == expected(rotations).columns == 900
    )  # whose rows are taken and projected
    assert expected(liegg.Linear(40).restrict(liegg.so(40))).columns == 780  # one field at a time
    assert expected(linear, output_action=liegg.Linear(2)).columns == 904
    assert expected(linear, rows=2) == expected(linear, dtype=torch.float64) == estimate(900)
    assert expected(linear) == estimate(900, accumulator="gram")
    assert expected(liegg.Linear(5)).factor == 32 * 2 * 25**2 * 8
    assert expected(liegg.Linear(5), controls=False).factor == 2 * 25**2 * 8
    assert expected(linear, bottom=7, dtype=torch.float64) == estimate(
        900, solver="bottom", count=7
    )


@pytest.mark.parametrize("bottom", [None, 5])
def test_discover_refuses_before_it_reads(monkeypatch, bottom):
    monkeypatch.setattr(memory, "free_bytes", lambda device: 10**8)
    read = []
    with pytest.raises(
        ArgumentError,
        match=r"2500 candidates: .* at most .* but cpu has 100 MB free, enough for about \d+ candidates",
    ):
        liegg.discover(
            lambda x: x.sum(1),
            normal(100, 50),
            liegg.Linear(50),
            run=liegg.Run(progress=read.append, bottom=bottom),
        )
    assert read == []
    liegg.discover(
        lambda x: x.sum(1), normal(100, 5), liegg.Linear(5), run=liegg.Run(bottom=bottom)
    )


def test_candidates_that_never_fit_are_refused_before_the_model_is_called():
    """10¹⁰ candidates need 10²⁰ numbers; the model is not to blame."""

    def model(x):
        raise AssertionError("called")

    with pytest.raises(ArgumentError, match="10000000000 candidates: "):
        liegg.discover(model, torch.ones(3, 100_000), liegg.Linear(100_000))


@pytest.mark.parametrize("bottom", [None, 20])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows", [1, 10])
def test_no_model_needs_less_than_the_least(bottom, dtype, rows):
    action = liegg.Linear(30)
    for controls in (True, False):
        need = expected(action, dtype=dtype, rows=rows, controls=controls, bottom=bottom)
        assert memory.least(action, bottom).peak <= need.peak


def test_a_device_that_does_not_say_is_not_asked():
    assert free_bytes(torch.device("meta")) is None
    check(estimate(100), device="meta")


def test_cuda_is_asked_for_its_own(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (12345, 99999))
    assert free_bytes("cuda") == 12345


def test_the_limit_of_a_container_counts(tmp_path):
    assert memory._allowed(tmp_path) is None
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("300\n")
    assert memory._allowed(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    assert memory._allowed(tmp_path) == 700
    (tmp_path / "memory.stat").write_text("anon 100\ninactive_file 50\n")
    assert memory._allowed(tmp_path) == 750


def test_bytes_in_words():
    words = [readable(size) for size in (0, 999, 1500, 7.2e9, 3e12)]
    assert words == ["0 B", "999 B", "1.5 kB", "7.2 GB", "3 TB"]
