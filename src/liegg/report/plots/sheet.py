"""The main figures of a result on one page."""

from typing import TYPE_CHECKING

from jaxtyping import Float
from torch import Tensor

from liegg.report.plots.defects import defects
from liegg.report.plots.matrices import generators
from liegg.report.plots.spectra import bias, spectrum
from liegg.report.plots.style import figure
from liegg.results.symmetries import Symmetries

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def overview(
    sym: Symmetries, reference: Float[Tensor, "e ..."] | None = None, name: str = ""
) -> "Figure":
    """Draw spectrum, bias (defects without a reference) and generators on one page.

    Args:
        sym: the result of `discover`.
        reference: generators of a known algebra to compare with.
        name: of the reference.
    """
    fig = figure(9.5, 6.4)
    top, bottom = fig.subfigures(2, 1, squeeze=False, height_ratios=(1.15, 1)).flatten()
    left, right = top.subplots(1, 2)
    spectrum(sym, left)
    if reference is None:
        defects(sym, right)
    else:
        bias(sym, reference, name, right)
    generators(sym, bottom)
    return fig
