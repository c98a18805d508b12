"""The paper's formula as plainly as it can be written: all rows stored, float32, one full SVD. The yardstick, not the product."""

import torch
from torch import Tensor, nn


def dense_rows(model: nn.Module, x: Tensor, n: int) -> Tensor:
    """Rows of the summed outputs for gl(n) on the vectors of a sample, all at once."""
    leaf = x.detach().clone().requires_grad_()
    model(leaf).sum().backward()
    assert leaf.grad is not None
    slopes, vectors = leaf.grad.view(len(x), -1, n), leaf.detach().view(len(x), -1, n)
    return torch.einsum("bci,bcj->bij", slopes, vectors).flatten(1)


def dense_spectrum(rows: Tensor, *, full: bool = False) -> tuple[Tensor, Tensor]:
    """Squared singular values over the number of samples, descending, and the right singular vectors.

    `full` is the default of `torch.linalg.svd(rows)`: it also completes the left basis, which is not needed.
    """
    _, values, right = torch.linalg.svd(rows, full_matrices=full)
    return values.square() / len(rows), right
