"""What is checked during a pass on the GPU: samples against a checkpoint, and later batches."""

import pytest
import torch

import liegg
from cases import mlp, normal
from liegg._utils.errors import BatchMixingError, CheckpointError
from liegg.polarization.sample_digest import sample_digest


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_digest_is_that_of_the_cpu(dtype, cuda):
    x = normal(500, 7).to(dtype)
    assert int(sample_digest(x.to(cuda), 3)) == int(sample_digest(x, 3))


def test_a_changed_sample_is_seen(tmp_path, cuda):
    model, x = mlp(4, 16, 2, dtype=torch.float32).to(cuda), normal(1000, 4).float()
    run = liegg.Run(batch_size=50, checkpoint=tmp_path / "c")
    first = liegg.discover(model, x, liegg.Linear(4), run=run)
    again = liegg.discover(model, x, liegg.Linear(4), run=run)
    torch.testing.assert_close(again.defects, first.defects, rtol=1e-12, atol=0.0)
    x[334, 0] += 1e-3
    with pytest.raises(CheckpointError, match="was written for other data"):
        liegg.discover(model, x, liegg.Linear(4), run=run)


def test_a_model_that_mixes_later_samples_is_found(cuda):
    x = torch.cat([normal(50, 3), normal(950, 3, seed=1) + 20]).float().to(cuda)

    def mixing(x):
        later = (x.sum(1, keepdim=True) > 20).to(x)
        return torch.tanh(x / 10).sum(1, keepdim=True) + later * x.mean()

    with pytest.raises(BatchMixingError, match="it mixes samples"):
        liegg.discover(mixing, x, liegg.Linear(3), run=liegg.Run(batch_size=50))
