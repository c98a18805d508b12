"""Models that are random or mix samples beyond the samples on which they are probed are found."""

import re
from dataclasses import replace

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.errors import BatchMixingError, RandomModelError
from liegg.inputs.batches import Data
from liegg.inputs.model import Model, with_finite_differences
from liegg.inputs.spot_check import MOST_THOROUGH, brief, check_samples, of_piece, thorough

X = torch.cat([normal(50, 3), normal(950, 3, seed=1) + 20])
"""The first batch of 50 lies around 0, the others around 20: the models below tell them by that."""


def later(x):
    """Whether a sample is not of the first batch."""
    return (x.sum(1, keepdim=True) > 20).to(x)


def smooth(x):
    return torch.tanh(x / 10).sum(1, keepdim=True)


def mixing(x):
    return smooth(x) + later(x) * 0.01 * x.mean()


def drawing(x):
    return smooth(x) + later(x) * 0.01 * torch.randn(len(x), 1, dtype=x.dtype)


def analyse(model, data: Data = X, **run):
    run = liegg.Run(**{"batch_size": 50, **run})
    return liegg.discover(model, data, liegg.Linear(3), controls="none", run=run)


def sample_in(error) -> int:
    found = re.search(r"sample (\d+)", str(error.value))
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize("route", ["vjp", "jvp", "autograd"])
@pytest.mark.parametrize(
    ("model", "kind", "text"),
    [
        (
            mixing,
            BatchMixingError,
            "though not for the samples that were tried first: it mixes samples",
        ),
        (drawing, RandomModelError, "the model draws random numbers"),
    ],
)
def test_it_is_found_in_the_second_batch(model, kind, text, route):
    with pytest.raises(kind, match=text) as error:
        analyse(model, route=route)
    assert 50 <= sample_in(error) < 100


def test_a_batch_in_the_middle_is_reached():
    """Only batches from 300 on are mixed."""
    x = torch.cat([normal(300, 3), X[300:]])
    with pytest.raises(BatchMixingError) as error:
        analyse(mixing, x)
    assert 300 <= sample_in(error) < 350


def test_a_loader_and_a_checkpoint_are_checked_too(tmp_path):
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X), batch_size=50)
    with pytest.raises(BatchMixingError):
        analyse(mixing, loader, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_pure_model_passes(dtype):
    assert analyse(mlp(3, 64, 2, dtype=dtype), X.to(dtype)).samples == 1000


def random_above(x):
    """|x|², with noise for the few samples whose first number is large."""
    return x.square().sum(1, keepdim=True) + torch.randn((), dtype=x.dtype) * 0.01 * (
        x[:, :1] > 2.2
    )


def mixing_above(x):
    """|x|², and the mean of the batch where it holds such a sample."""
    y = x.square().sum(1, keepdim=True)
    return y + x.mean(0).sum() if bool((x[:, 0] > 2.2).any()) else y


def mixing_alone_above(x):
    """|x|², and the mean of the batch for such samples alone."""
    return x.square().sum(1, keepdim=True) + (x[:, :1] > 2.2) * x.mean()


def centring(x):
    """|x|², of samples that are centred in large batches."""
    return (x - x.mean(0) if len(x) > 64 else x).square().sum(1, keepdim=True)


RARELY = [
    (random_above, RandomModelError),
    (mixing_above, BatchMixingError),
    (mixing_alone_above, BatchMixingError),
    (centring, BatchMixingError),
]
"""Models that the three samples of a probe do not show to be wrong; their data is a single batch."""


@pytest.mark.parametrize(("model", "kind"), RARELY)
def test_it_is_found_in_the_first_batch(model, kind):
    x = normal(500, 5)
    assert 1 <= int((x[:, 0] > 2.2).sum()) <= 20
    with pytest.raises(kind):
        liegg.discover(model, x, liegg.Linear(5), controls="none")


@pytest.mark.parametrize(("model", "kind"), RARELY)
def test_it_is_found_by_the_verbs_without_a_pass(model, kind):
    x = normal(500, 5)
    exact = liegg.discover(lambda x: x.square().sum(1), x, liegg.Linear(5), controls="none")
    for ask in (
        lambda: liegg.verify(model, x, exact),
        lambda: liegg.testing.equivariance_error(model, x, "so(5)"),
        lambda: liegg.discover_group(model, x, liegg.Linear(5), continuous=exact),
        lambda: exact.about({"rotation": liegg.so(5)[:1]}, model=model, data=x),
    ):
        with pytest.raises(kind):
            ask()


def test_all_samples_of_a_small_piece_are_called_again_once():
    check = thorough(Model(smooth, "smooth"), X[:500])
    assert [len(group) for group in check.groups] == [1, 250, 249]
    assert torch.equal(torch.cat(check.groups).sort().values, torch.arange(500))
    assert [len(group) for group in thorough(Model(smooth, "smooth"), X[:1]).groups] == [1]


def test_the_cost_of_large_pieces_is_bounded():
    def called(check):
        return sum(len(group) for group in check.groups)

    model, images = Model(smooth, "smooth"), torch.zeros(1).expand(128, 3, 224, 224)
    assert called(thorough(model, torch.zeros(10_000, 2))) == MOST_THOROUGH
    assert called(thorough(model, images)) == 27
    assert called(thorough(replace(model, output_shape=(2**16,)), X)) == 64
    assert [called(brief(model, X[:n])) for n in (1, 100, 640)] == [1, 1, 10]
    assert called(brief(model, torch.zeros(2048, 2))) == 16


def test_few_pieces_are_checked_thoroughly_and_none_is_left_out():
    model = Model(smooth, "smooth")
    groups = [len(of_piece(model, X[:100], 100 * n, n).groups) for n in range(40)]
    assert [n for n, count in enumerate(groups) if count == 3] == [0, 1, 2, 4, 8, 16, 32]
    assert set(groups) == {1, 3}


def test_a_batch_between_is_reached():
    """Only batch 7 is mixed, which is not checked thoroughly."""
    x = normal(1000, 3)
    x[350:400] = X[350:400]
    with pytest.raises(BatchMixingError) as error:
        analyse(mixing, x)
    assert 350 <= sample_in(error) < 400


def test_rounding_is_no_error():
    """A difference that a second look does not confirm is passed over."""
    x = normal(20, 3)
    check, y = thorough(Model(smooth, "smooth"), x, 50), smooth(x)
    assert bool(check.agrees(x, y * (1 + 1e-14)))
    assert not bool(check.agrees(x, y + 1e-3))
    check.confirm(x, 50)


@pytest.mark.parametrize(("change", "passes"), [(1e-7, True), (1e-3, False)])
def test_a_model_without_derivatives_may_round_as_much_as_in_its_probe(change, passes):
    """Sums of large terms that cancel, as of kernel methods, differ by the batch."""
    x, noise = normal(20, 3), change * normal(20, 1, seed=3)
    plain = Model(lambda x: smooth(x) + (len(x) > 15) * noise[: len(x)], "kernel")
    check = thorough(with_finite_differences(plain), x)
    assert bool(check.agrees(x, plain(x))) is passes


def test_samples_that_are_drawn_have_no_number():
    with pytest.raises(BatchMixingError, match="for a sample changes"):
        check_samples(Model(centring, "centring"), normal(500, 3), first=None)
