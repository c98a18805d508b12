"""A pass is resumed only if the samples that it has read are still the same."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

import liegg
from cases import mlp, normal
from liegg._utils.errors import CheckpointError

X = normal(1000, 3)

READ = 600
"""Samples that an interrupted pass has read: before the position in the checkpoint."""

UNSEEN = [51, 334, 598, 998]
"""Samples that are neither in the first batch nor among the evenly spaced ones."""


class Own(Dataset):
    """A Dataset of the user's own."""

    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], 0


KINDS = {
    "tensor": lambda x: x,
    "array": lambda x: x.numpy(),
    "dataset": Own,
    "loader": lambda x: DataLoader(TensorDataset(x), batch_size=50),
    "shuffling": lambda x: DataLoader(TensorDataset(x), batch_size=50, shuffle=True),
    "batches": lambda x: list(x.split(50)),
}


class StopError(Exception):
    """Stands for whatever ends a pass half way."""


def analyse(path, data, *, stop=False) -> liegg.Symmetries:
    """Analyse data with a checkpoint; if asked, stop after `READ` samples."""
    seen = 0

    def count(samples: int) -> None:
        nonlocal seen
        seen += samples
        if stop and seen > READ:
            raise StopError

    run = liegg.Run(batch_size=50, checkpoint=path, checkpoint_every=0.0, progress=count)
    return liegg.discover(mlp(3, 8, 2), data, liegg.Linear(3), controls="none", run=run)


def begin(path, data, *, finished: bool) -> None:
    """Leave a checkpoint of a finished or a half-finished pass."""
    if finished:
        analyse(path, data)
        return
    with pytest.raises(StopError):
        analyse(path, data, stop=True)


def with_change(place: int) -> torch.Tensor:
    other = X.clone()
    other[place, 1] *= 1 + 1e-15
    assert not torch.equal(other, X)
    return other


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_data_resumes(tmp_path, kind):
    plain = liegg.discover(mlp(3, 8, 2), KINDS[kind](X), liegg.Linear(3), controls="none")
    for finished in (False, True):
        path = tmp_path / str(finished)
        begin(path, KINDS[kind](X), finished=finished)
        again = analyse(path, KINDS[kind](X.clone()))
        assert again.samples == 1000
        torch.testing.assert_close(again.defects, plain.defects, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("kind", ["tensor", "dataset", "loader", "batches"])
def test_a_changed_sample_before_the_position_is_seen(tmp_path, kind):
    begin(tmp_path / "c", KINDS[kind](X), finished=False)
    stored = (tmp_path / "c").read_bytes()
    for place in (place for place in UNSEEN if place < READ):
        with pytest.raises(CheckpointError, match="samples before sample 600 changed since then"):
            analyse(tmp_path / "c", KINDS[kind](with_change(place)))
        assert (tmp_path / "c").read_bytes() == stored


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_sample_is_seen_after_the_end(tmp_path, kind):
    begin(tmp_path / "c", KINDS[kind](X), finished=True)
    for place in (UNSEEN[1], UNSEEN[-1]):
        # A shuffling loader may have it in the first batch.
        with pytest.raises(
            CheckpointError, match=r"was written for other data|to another analysis"
        ):
            analyse(tmp_path / "c", KINDS[kind](with_change(place)))


@pytest.mark.parametrize("place", [0, 49, 999])
def test_the_first_and_the_last_sample_are_seen_too(tmp_path, place):
    begin(tmp_path / "c", X, finished=True)
    with pytest.raises(CheckpointError, match="belongs to another analysis"):
        analyse(tmp_path / "c", with_change(place))


@pytest.mark.parametrize("kind", ["tensor", "loader"])
def test_a_sample_that_was_not_read_yet_may_change(tmp_path, kind):
    """What is read later is read as it then is."""
    begin(tmp_path / "c", KINDS[kind](X), finished=False)
    other = X.clone()
    other[777] *= 5
    again = analyse(tmp_path / "c", KINDS[kind](other))
    expected = liegg.discover(mlp(3, 8, 2), other, liegg.Linear(3), controls="none")
    torch.testing.assert_close(again.defects, expected.defects, rtol=1e-10, atol=1e-13)
    before = liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), controls="none")
    assert not torch.allclose(again.defects, before.defects, rtol=1e-6)


def test_two_swapped_samples_are_seen(tmp_path):
    begin(tmp_path / "c", X, finished=False)
    order = torch.arange(1000)
    order[[334, 335]] = order[[335, 334]]
    with pytest.raises(CheckpointError, match="samples before sample 600 changed since then"):
        analyse(tmp_path / "c", X[order])


def test_a_loader_that_ends_earlier_or_later_is_seen(tmp_path):
    begin(tmp_path / "c", KINDS["loader"](X), finished=True)
    for other in (X[:950], torch.cat([X, X[:50]])):
        with pytest.raises(CheckpointError, match="was written for other data"):
            analyse(tmp_path / "c", KINDS["loader"](other))


def test_batches_of_other_sizes_resume_inside_a_batch(tmp_path):
    """The position then lies inside a batch, of which only the rest is new."""
    begin(tmp_path / "c", KINDS["batches"](X), finished=False)
    others = [X[:50], *X[50:].split(70)]
    again = analyse(tmp_path / "c", others)
    plain = liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3), controls="none")
    assert again.samples == 1000
    torch.testing.assert_close(again.defects, plain.defects, rtol=1e-10, atol=1e-13)


class Noisy(Own):
    """Adds noise to every sample, from a given source."""

    def __init__(self, x, draw):
        super().__init__(x)
        self.draw = draw

    def __getitem__(self, index):
        return self.x[index] + 0.1 * self.draw(3)


def test_random_augmentation_of_a_dataset_is_the_same_after_resuming(tmp_path):
    data = Noisy(X, lambda n: torch.randn(n, dtype=torch.float64))
    begin(tmp_path / "c", data, finished=False)
    torch.rand(7)  # which is the caller's own affair
    again = analyse(tmp_path / "c", data)
    whole = analyse(tmp_path / "whole", data)
    torch.testing.assert_close(again.defects, whole.defects, rtol=1e-10, atol=1e-13)


def test_random_numbers_that_no_seed_fixes_are_refused(tmp_path):
    own = torch.Generator()
    data = DataLoader(
        Noisy(X, lambda n: torch.randn(n, generator=own, dtype=torch.float64)), batch_size=50
    )
    batches = iter(data)
    first = next(batches)

    class FirstFixed:
        def __iter__(self):
            yield first
            yield from list(data)[1:]

    begin(tmp_path / "c", FirstFixed(), finished=False)
    with pytest.raises(CheckpointError, match="it must draw them from the generators of torch"):
        analyse(tmp_path / "c", FirstFixed())


def test_without_a_checkpoint_nothing_is_digested(monkeypatch):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr("liegg.polarization.checkpoint.sample_digest", never)
    assert liegg.discover(mlp(3, 8, 2), X, liegg.Linear(3)).samples == 1000
