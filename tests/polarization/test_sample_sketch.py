"""Sketches of the samples: independent of order and batches, and right about copies and clusters."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import liegg
from cases import mlp, normal
from liegg._utils.diagnoses import Diagnosis, as_remark
from liegg.polarization import sample_sketch
from liegg.polarization.sample_digest import sample_hashes
from liegg.polarization.sample_sketch import SKETCH_SIZE, clusters, distinct


def sketch_of(x, size=None):
    sketch = sample_sketch.init()
    for batch in x.split(size or len(x)):
        sketch = sample_sketch.update(sketch, sample_hashes(batch), batch)
    return sketch


def equal(one, other):
    return torch.equal(one.hashes, other.hashes) and torch.equal(one.places, other.places)


@given(seed=st.integers(0, 99), count=st.integers(1, 400), size=st.integers(1, 50))
@settings(max_examples=30, deadline=None)
def test_it_depends_neither_on_the_order_nor_on_the_batches_nor_on_who_reads(seed, count, size):
    x = normal(count, 3, seed=seed)
    x = torch.cat([x, x[: count // 3]])
    whole = sketch_of(x)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    assert equal(sketch_of(x[order], size), whole)
    halves = [sketch_of(part) for part in (x[: count // 2], x[count // 2 :]) if len(part)]
    merged = sample_sketch.init()
    for half in halves:
        merged = sample_sketch.merge(half, merged)
    assert equal(merged, whole)
    kept = whole.hashes.tolist()
    assert kept == sorted({*sample_hashes(x).tolist()})[:SKETCH_SIZE]


def test_places_are_those_of_the_samples():
    x = normal(300, 3)
    sketch, hashes = sketch_of(x, 70), sample_hashes(x).tolist()
    own = torch.stack([x[hashes.index(one)] for one in sketch.hashes.tolist()])
    assert torch.equal(sketch.places, own)


def test_many_numbers_are_projected_with_their_distances():
    x = normal(60, 500)
    sketch, hashes = sketch_of(x), sample_hashes(x).tolist()
    assert sketch.places.shape == (60, 8)
    own = torch.stack([x[hashes.index(one)] for one in sketch.hashes.tolist()])
    ratio = torch.pdist(sketch.places).square().mean() / torch.pdist(own).square().mean()
    assert float(ratio) == pytest.approx(8 / 500, rel=0.2)


@pytest.mark.parametrize("copies", [1, 2, 8])
def test_different_samples_are_counted(copies):
    for count in (50, 1000, 20_000):
        x = normal(count, 2).repeat(copies, 1)
        error = 1e-12 if count < SKETCH_SIZE or copies == 1 else 0.25
        assert distinct(sketch_of(x, 5000), len(x)) == pytest.approx(count, rel=error)


SMOOTH = {
    "a line": lambda n, seed: normal(n, 1, seed=seed),
    "a plane": lambda n, seed: normal(n, 2, seed=seed),
    "space": lambda n, seed: normal(n, 3, seed=seed),
    "40 dimensions": lambda n, seed: normal(n, 40, seed=seed),
    "heavy tails": lambda n, seed: normal(n, 3, seed=seed) / normal(n, 1, seed=seed + 1),
    "a circle": lambda n, seed: torch.stack(
        [(7 * normal(n, seed=seed)).cos(), (7 * normal(n, seed=seed)).sin()], 1
    ),
    "two classes": lambda n, seed: normal(n, 3, seed=seed) + 20.0 * (torch.arange(n) % 2)[:, None],
    "whole numbers": lambda n, seed: normal(n, 4, seed=seed).mul(3).round(),
    "a constant feature": lambda n, seed: torch.cat([normal(n, 2, seed=seed), torch.ones(n, 1)], 1),
}


@pytest.mark.parametrize("count", [150, 1000])
def test_smooth_data_has_no_clusters(count):
    cases = [(kind, seed) for kind in SMOOTH for seed in range(10)]
    assert [
        (kind, seed) for kind, seed in cases if clusters(sketch_of(SMOOTH[kind](count, seed)))
    ] == []


@pytest.mark.parametrize(("count", "width"), [(200, 0.01), (200, 0.05), (3000, 0.05)])
def test_tight_clusters_are_found(count, width):
    for number in (8, 20, 40):
        for seed in range(5):
            centres = normal(number, 3, seed=seed)
            x = centres[torch.arange(count) % number] + width * normal(count, 3, seed=50 + seed)
            assert 0.6 * number <= clusters(sketch_of(x)) <= 1.4 * number


def test_constant_and_few_samples_have_no_clusters():
    assert clusters(sketch_of(torch.ones(100, 3))) == 0
    assert clusters(sketch_of(normal(5, 3).repeat(20, 1))) == 0
    assert clusters(sample_sketch.init()) == 0


def test_clusters_take_the_intervals_away_until_they_are_groups():
    centres, labels = normal(30, 3), torch.arange(600) % 30
    x = centres[labels] + 0.02 * normal(600, 3, seed=1)
    alone = liegg.discover(mlp(3, 8, 2), x, liegg.Linear(3))
    assert bool(alone.intervals.isnan().all())
    assert alone.decision.nullity_interval is None
    (note,) = [note for note in alone.notes if as_remark(note).diagnosis is Diagnosis.CLUSTERED]
    assert 20 <= as_remark(note).values["clusters"] <= 40
    grouped = liegg.discover(mlp(3, 8, 2), x, liegg.Linear(3), run=liegg.Run(groups=labels))
    assert bool(grouped.intervals.isfinite().all())
    assert not grouped.notes
