"""The pass over a data set, against dense sums in float64."""

import torch

import liegg
from liegg.polarization import row_means
from liegg.polarization.displacement import Workspace
from liegg.polarization.test_functions import fourier_features


def test_means_and_covariance_are_those_of_the_dense_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(60, 2, generator=generator, dtype=torch.float64)
    action, block = liegg.Linear(2), torch.arange(60) % 4
    functions = fourier_features(x, 5, seed=1)
    state, workspace = row_means.init(functions, action, x, 4), Workspace(action)
    for part in (slice(0, 25), slice(25, 60)):
        state = row_means.update(
            state, functions, workspace, x[part], block=block[part], covers=torch.ones(60)[part] > 0
        )
    sums = row_means.finalise(state, action, x)
    # By hand: cos(w x + b) along x_j d_i, row-major or not as the action says.
    fields = action.fields(x)
    slopes = -(x @ functions.frequencies.mT + functions.phases).sin()
    rows = slopes[:, :, None] * torch.einsum("bgn,kn->bkg", fields, functions.frequencies)
    torch.testing.assert_close(sums.mean, rows.mean(0))
    torch.testing.assert_close(sums.covariance.reshape(20, 20), torch.cov(rows.flatten(1).mT))
    torch.testing.assert_close(sums.values, torch.cov(functions.values(x).mT, correction=0))
    for index in range(4):
        torch.testing.assert_close(sums.blocks[index], rows[block == index].mean(0))
    assert sums.samples == sums.covered == 60
    torch.testing.assert_close(
        torch.tensor(sums.spread), (x - x.mean(0)).square().sum(1).mean().float()
    )


def test_sums_of_processes_merge_to_those_of_one() -> None:
    generator = torch.Generator().manual_seed(0)
    count = 3 * row_means.WINDOW
    x = torch.randn(count, 2, generator=generator, dtype=torch.float64)
    action, block, label = liegg.Linear(2), torch.arange(count) % 4, torch.arange(count) % 3
    functions, covers = fourier_features(x, 5, seed=1), torch.ones(count) > 0
    empty = row_means.init(functions, action, x, 4, classes=3)

    def summed(part: slice) -> row_means.RowSums:
        return row_means.update(
            empty,
            functions,
            Workspace(action),
            x[part],
            block=block[part],
            covers=covers[part],
            label=label[part],
            first=part.start,
        )

    ends = range(0, count, row_means.WINDOW)
    parts = [summed(slice(start, start + row_means.WINDOW)) for start in ends]
    merged = row_means.merge(parts[2], row_means.merge(parts[0], parts[1]))
    one = row_means.finalise(summed(slice(0, count)), action, x)
    two = row_means.finalise(merged, action, x)
    for first, second in zip(one[:-1], two[:-1], strict=True):
        torch.testing.assert_close(first, second)
    assert one.extremes.places.tolist() == two.extremes.places.tolist()
